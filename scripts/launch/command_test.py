#!/usr/bin/env python3
"""Checks the command that scripts/run composes, with an nvidia-smi that is a fake."""

import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMMON = Path(__file__).resolve().parent.parent / "common.sh"
MPS = str(COMMON.parent / "launch" / "mps")
COMPOSE = f"""
source {shlex.quote(str(COMMON))}
launch_command "$1" "$(visible_gpus)" binary "${{@:2}}"
printf '%s\\n' "${{command[@]}}"
"""


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bin = Path(folder.name)
        self.environment = dict(os.environ, PATH=f"{self.bin}:{os.environ['PATH']}")
        self.environment.pop("CUDA_VISIBLE_DEVICES", None)
        self.program("nvidia-cuda-mps-control", "exit 0")

    def program(self, name, script):
        file = self.bin / name
        file.write_text(f"#!/usr/bin/env bash\n{script}\n")
        file.chmod(0o755)

    def compose(self, gpus, ranks, *arguments, **environment):
        """The words of the command, and what was said besides. gpus: None for no nvidia-smi."""
        lines = [f"echo 'GPU {gpu}: NVIDIA H200 (UUID: GPU-{gpu})'" for gpu in range(gpus or 0)]
        if gpus is None:
            lines = ["exit 127"]
        self.program("nvidia-smi", "\n".join(lines))
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", COMPOSE, "bash", str(ranks), *arguments],
            env=self.environment | environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines(), done.stderr

    def check(self, composed, shared, arguments, said=""):
        words, err = composed
        self.assertEqual(words[0] == MPS, shared, words)
        self.assertEqual(words[words.index("binary") + 1 :], arguments)
        self.assertIn(said, err)
        self.assertTrue(said or not err, err)

    def test_a_gpu_for_each_rank(self):
        for gpus, ranks in ((8, 8), (8, 4), (1, 1)):
            self.check(self.compose(gpus, ranks, "-n", "2"), False, ["-n", "2"])

    def test_ranks_share_gpus(self):
        for gpus, ranks, each in ((1, 4, 4), (2, 8, 4), (4, 5, 2), (8, 72, 9)):
            self.check(
                self.compose(gpus, ranks, "-n", "2"),
                True,
                ["-n", "2", "--ranks-per-gpu", str(each)],
            )

    def test_without_gpus(self):
        for gpus in (None, 0):
            self.check(self.compose(gpus, 4), False, [])

    def test_the_host_transport_needs_none(self):
        for given in (["--transport", "host"], ["--transport=host"]):
            self.check(self.compose(1, 4, *given), False, given)
        given = ["--transport", "unicast"]
        self.check(self.compose(1, 2, *given), True, [*given, "--ranks-per-gpu", "2"])

    def test_the_users_share_stays(self):
        for given in (["--ranks-per-gpu", "8"], ["--ranks-per-gpu=8"]):
            self.check(self.compose(1, 4, *given), True, given)

    def test_without_mps_the_ranks_take_turns(self):
        (self.bin / "nvidia-cuda-mps-control").unlink()
        self.check(self.compose(1, 2), False, ["--ranks-per-gpu", "2"], said="take turns")
        self.check(self.compose(2, 2), False, [])

    def test_only_visible_gpus_count(self):
        seen = self.compose(8, 4, CUDA_VISIBLE_DEVICES="0,3")
        self.check(seen, True, ["--ranks-per-gpu", "2"])
        self.check(self.compose(8, 4, CUDA_VISIBLE_DEVICES=""), False, [])


if __name__ == "__main__":
    sys.exit(unittest.main())
