#!/usr/bin/env python3
"""Runs scripts/launch/mps with a nvidia-cuda-mps-control that is a fake; needs no GPU."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

MPS = Path(__file__).resolve().parent / "mps"

# Its daemon is a process that sleeps. FAKE counts the starts; FAKE_BUSY of them are refused.
CONTROL = r"""#!/usr/bin/env bash
pid_file=$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid
if [[ ${1:-} == -d ]]; then
  echo start >> "$FAKE/calls"
  stat -c %a "$(dirname "$CUDA_MPS_PIPE_DIRECTORY")" > "$FAKE/mode"
  echo "$CUDA_MPS_PIPE_DIRECTORY" > "$FAKE/pipe"
  if (($(grep -cx start "$FAKE/calls") <= ${FAKE_BUSY:-0})); then
    case ${FAKE_HOW:-code} in
      code) echo "cannot start" >&2; exit 1 ;;
      log) echo "device is busy or unavailable" > "$CUDA_MPS_LOG_DIRECTORY/server.log" ;;
    esac
  fi
  setsid sleep 600 > /dev/null 2>&1 < /dev/null &
  echo $! > "$pid_file"
  echo $! >> "$FAKE/daemons"
  exit
fi
read -r request
echo "$request" >> "$FAKE/calls"
[[ -f $pid_file ]] || { echo "Cannot find MPS control daemon process" >&2; exit 1; }
case $request in
  quit) [[ -n ${FAKE_DEAF:-} ]] || kill "$(cat "$pid_file")" ;;
  get_server_list) echo 1234 ;;
esac
"""


class MpsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.fake = Path(folder.name)
        self.bin = self.fake / "bin"
        self.bin.mkdir()
        control = self.bin / "nvidia-cuda-mps-control"
        control.write_text(CONTROL)
        control.chmod(0o755)
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("NCCL_")
        }
        self.environment.pop("CUDA_MPS_PIPE_DIRECTORY", None)
        self.environment |= {"FAKE": str(self.fake), "PATH": f"{self.bin}:{os.environ['PATH']}"}

    def start(self, *command, **environment):
        return subprocess.Popen(
            [MPS, *command],
            env=self.environment | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run_mps(self, *command, **environment):
        process = self.start(*command, **environment)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def lines(self, name):
        file = self.fake / name
        return file.read_text().splitlines() if file.exists() else []

    def check_nothing_left(self):
        for daemon in self.lines("daemons"):
            status = Path("/proc", daemon, "status")
            # A zombie is not left: process 1 may be slow to reap it.
            alive = status.exists() and "State:\tZ" not in status.read_text()
            self.assertFalse(alive, "a daemon is left")
        self.assertFalse(Path(self.lines("pipe")[0]).parent.exists(), "its directory is left")

    def test_runs_the_command_under_a_daemon_of_its_own(self):
        code, out, err = self.run_mps(
            "bash",
            "-c",
            "echo $CUDA_MPS_PIPE_DIRECTORY $NCCL_MULTI_RANK_GPU_ENABLE $NCCL_NVLS_ENABLE;"
            'test -d $CUDA_MPS_LOG_DIRECTORY && kill -0 "$(cat $CUDA_MPS_PIPE_DIRECTORY/*.pid)"',
        )
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out.split(), [*self.lines("pipe"), "1", "0"])
        self.assertEqual(self.lines("mode"), ["700"])
        self.assertEqual(self.lines("calls")[0], "start")
        self.assertEqual(self.lines("calls")[-1], "quit")
        self.check_nothing_left()

    def test_settings_of_the_user_stay(self):
        show = ("bash", "-c", "echo $NCCL_MULTI_RANK_GPU_ENABLE $NCCL_NVLS_ENABLE")
        out = self.run_mps(*show, NCCL_MULTI_RANK_GPU_ENABLE="0", NCCL_NVLS_ENABLE="2")[1]
        self.assertEqual(out, "0 2\n")

    def test_exits_with_the_code_of_the_command(self):
        self.assertEqual(self.run_mps("bash", "-c", "exit 5")[0], 5)
        self.check_nothing_left()
        self.assertEqual(self.run_mps("/nowhere/command")[0], 127)
        self.check_nothing_left()

    def test_tries_again_once(self):
        for how in ("code", "log"):
            (self.fake / "calls").unlink(missing_ok=True)
            code, out, err = self.run_mps("echo", "ran", FAKE_BUSY="1", FAKE_HOW=how)
            self.assertEqual((code, out), (0, "ran\n"), err)
            self.assertIn("trying once more", err)
            self.assertEqual(self.lines("calls").count("start"), 2)
            self.check_nothing_left()

    def test_gives_up_after_the_second_time(self):
        for how, log in (("code", "cannot start"), ("log", "device is busy or unavailable")):
            (self.fake / "calls").unlink(missing_ok=True)
            code, out, err = self.run_mps("echo", "ran", FAKE_BUSY="2", FAKE_HOW=how)
            self.assertEqual((code, out), (3, ""))
            self.assertIn(log, err)
            self.assertIn("the MPS daemon does not start", err.splitlines()[-1])
            self.assertEqual(self.lines("calls").count("start"), 2)
            self.check_nothing_left()

    def test_forwards_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            ready = self.fake / "ready"
            ready.unlink(missing_ok=True)
            # The command says how often it was told, and is slow to leave.
            script = (
                f"trap 'echo told; left=1' {number.name[3:]}; touch {ready};"
                "while ((!${left:-0})); do sleep 0.1; done; sleep 0.5; exit 9"
            )
            process = self.start("bash", "-c", script)
            while not ready.exists() and process.poll() is None:
                time.sleep(0.05)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (9, "told\n"), err)
            self.check_nothing_left()

    def test_a_daemon_that_does_not_quit_is_ended(self):
        self.assertEqual(self.run_mps("true", FAKE_DEAF="1")[0], 0)
        self.check_nothing_left()

    def test_uses_the_daemon_that_the_user_named(self):
        theirs = self.fake / "theirs"
        theirs.mkdir()
        (theirs / "nvidia-cuda-mps-control.pid").write_text("")
        show = ("bash", "-c", "echo $CUDA_MPS_PIPE_DIRECTORY $NCCL_MULTI_RANK_GPU_ENABLE; exit 6")
        code, out, err = self.run_mps(*show, CUDA_MPS_PIPE_DIRECTORY=str(theirs))
        self.assertEqual((code, out), (6, f"{theirs} 1\n"))
        self.assertIn(f"CUDA_MPS_PIPE_DIRECTORY={theirs}", err)
        self.assertEqual(self.lines("calls"), ["get_server_list"])
        # One that does not answer is passed over.
        (theirs / "nvidia-cuda-mps-control.pid").unlink()
        code, out, err = self.run_mps(*show, CUDA_MPS_PIPE_DIRECTORY=str(theirs))
        self.assertEqual((code, out.split()[0], err), (6, self.lines("pipe")[0], ""))
        self.check_nothing_left()

    def test_without_mps_or_command(self):
        (self.bin / "nvidia-cuda-mps-control").unlink()
        code, out, err = self.run_mps("echo", "ran")
        self.assertEqual((code, out), (3, ""))
        self.assertIn("nvidia-cuda-mps-control is not on PATH", err)
        self.assertEqual(self.run_mps()[0], 2)


if __name__ == "__main__":
    sys.exit(unittest.main())
