"""For tests: one run of a binary under mpirun, and what it left behind.

Environment: MAILBENCH_BIN (the binary), MAILBENCH_FAULTS (its build with planted faults),
MAILBENCH_ROOT (the repository), MPIEXEC.
"""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

BIN = os.environ.get("MAILBENCH_BIN", "")
FAULTS = os.environ.get("MAILBENCH_FAULTS", "")
ROOT = Path(os.environ.get("MAILBENCH_ROOT", "."))
MPIEXEC = os.environ.get("MPIEXEC", "mpirun")
DEADLINE_S = 300  # of a test, far above any run's own time-out


@dataclass
class Result:
    code: int
    stdout: str
    stderr: str
    session: int

    @property
    def messages(self):
        """What the ranks printed to stderr, without mpirun's own notices."""
        return [line for line in self.stderr.splitlines() if line.startswith("mailbench:")]


def mpirun(ranks, *arguments, binary=None, prefix=(), environment=None):
    """Runs `ranks` ranks; `prefix` is a command that runs mpirun itself."""
    command = [*prefix, MPIEXEC, "-np", str(ranks), binary or BIN, *map(str, arguments)]
    return run(command, environment)


def start(command, environment=None):
    """Starts the command in a session of its own, by which its processes are known."""
    return subprocess.Popen(
        list(map(str, command)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **(environment or {})},
    )


def run(command, environment=None):
    with start(command, environment) as process:
        return finish(process)


def finish(process):
    try:
        stdout, stderr = process.communicate(timeout=DEADLINE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return Result(process.returncode, stdout, stderr, process.pid)


def read_report(path):
    """The report at `path`, after it has been validated against the schema."""
    check = run([sys.executable, str(ROOT / "scripts/check_report"), str(path)])
    if check.code != 0:
        raise AssertionError(f"not a valid report: {check.stdout}{check.stderr}")
    return json.loads(Path(path).read_text())


def processes(session, binary=None):
    """Living processes of the session, of all programs or of one."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, its_session = stat.read_text().rpartition(") ")[2].split()[:4]
            if int(its_session) != session or state in "ZX":
                continue
            if binary is None or os.readlink(stat.parent / "exe") == os.path.realpath(binary):
                found.append(int(stat.parent.name))
        except OSError:
            continue  # it has left
    return found


def left_behind(session):
    """Processes of a session that has ended, after a moment of grace for those that are leaving."""
    deadline = time.monotonic() + 5
    while processes(session) and time.monotonic() < deadline:
        time.sleep(0.05)
    return processes(session)
