"""For tests: one run of a binary under mpirun, and what it left behind.

Environment: MAILBENCH_BIN (the binary), MAILBENCH_FAULTS (its build with planted faults),
MAILBENCH_ROOT (the repository), MPIEXEC.
"""

import json
import os
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

    @property
    def messages(self):
        """What the ranks printed to stderr, without mpirun's own notices."""
        return [line for line in self.stderr.splitlines() if line.startswith("mailbench:")]


def mpirun(ranks, *arguments, binary=None, prefix=(), environment=None):
    """Runs `ranks` ranks; `prefix` is a command that runs mpirun itself."""
    command = [*prefix, MPIEXEC, "-np", str(ranks), binary or BIN, *map(str, arguments)]
    return run(command, environment)


def run(command, environment=None):
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=DEADLINE_S,
        env={**os.environ, **(environment or {})},
    )
    return Result(done.returncode, done.stdout, done.stderr)


def read_report(path):
    """The report at `path`, after it has been validated against the schema."""
    check = run([sys.executable, str(ROOT / "scripts/check_report"), str(path)])
    if check.code != 0:
        raise AssertionError(f"not a valid report: {check.stdout}{check.stderr}")
    return json.loads(Path(path).read_text())


def processes_of(binary):
    """Processes that still run `binary`, after a moment of grace for those that are leaving."""
    deadline = time.monotonic() + 5
    while True:
        found = []
        for exe in Path("/proc").glob("[0-9]*/exe"):
            try:
                if os.readlink(exe) == os.path.realpath(binary):
                    found.append(exe.parent.name)
            except OSError:
                continue  # it has left, or is not ours to look at
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.05)
