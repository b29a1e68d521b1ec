"""Runs watchdog_test_program under mpirun with one fault and checks how the run ends.

Usage: watchdog_test.py --program FILE --ranks N --case NAME [--mpiexec FILE] [--grace SECONDS]
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

# Set-up counts too, on a machine that may be busy with other tests.
SILENCE_S = 5.0  # --timeout where the fault shows only by it
TIMEOUT_S = 60.0  # --timeout elsewhere
HUNG, FAILED = "4", "1"


@dataclass
class Case:
    """What is done to the run, and how it has to end."""

    arguments: list[str] = field(default_factory=list)
    rank: int | None = None  # whom the fault strikes; -1: the last
    status: str | None = None  # None: the run passes
    code: str = HUNG
    reason: str = ""  # part of the reason; {rank} is the struck one
    step: str = ""  # part of the reason, too
    silence: bool = False  # the fault shows only by the timeout
    send: signal.Signals | None = None  # to mpirun, or to `rank` alone
    reports: int | None = 1  # runs of the callback; None: one a rank, or fewer
    pause: bool = False  # stop all ranks for longer than the timeout, then let them go on
    stderr: str = ""  # what stderr has to hold besides
    evidence: bool = True  # when the run hung, the reason holds it


def fault(what: str, at: str, rank: int, status: str, reason: str, **more) -> Case:
    return Case(["--fault", what, "--at", at], rank, status, reason=reason, **more)


LONG = ["--calls", "100000"]
DIED = "rank {rank} died (process "
EVIDENCE = "\nslot 3 is empty\nslot 5 is empty"
CASES = {
    "passes": Case(),
    "late": Case(["--fault", "late"], rank=-1),
    "paused": Case(["--calls", "300"], pause=True),
    "signal_after_the_end": Case(["--at", "finished"], rank=0),
    "kill_set_up": fault("kill", "setup", 0, "hung", DIED),
    "kill_first_call": fault("kill", "1", -1, "hung", DIED),
    "kill_mid_sweep": fault("kill", "17", 0, "hung", DIED),
    "kill_report": fault("kill", "report", 0, "hung", DIED),
    "abort": fault("abort", "17", -1, "hung", DIED),
    "never_first_call": fault(
        "never", "1", 0, "hung", "rank {rank} never entered call 1 (point 0, check)", silence=True
    ),
    "never_mid_sweep": fault(
        "never",
        "17",
        -1,
        "hung",
        "rank {rank} never entered call 17 (point 3, check)",
        silence=True,
    ),
    "never_report": fault(
        "never", "report", 0, "hung", "rank {rank} never came to the end of the run", silence=True
    ),
    "stop": fault("stop", "17", 0, "hung", "rank {rank} is stopped (process ", silence=True),
    "throw": fault("throw", "17", -1, "failed", "rank {rank}: the disk is full", code=FAILED),
    # Nobody can see yet who died: the launcher's signal is what the others see.
    "kill_before_board": fault("kill", "init", 0, "interrupted", "SIGTERM", reports=None),
    "never_before_board": fault(
        "never", "init", -1, "hung", "the ranks did not meet within", silence=True, reports=None
    ),
    "callback_throws": fault(
        "kill", "17", -1, "hung", DIED, reports=0, stderr="was not written: the disk is full"
    ),
    "callback_hangs": fault("kill", "17", -1, "hung", DIED, reports=0),
    "claimer_dies": fault(
        "throw", "17", -1, "hung", "died while it ended the run: rank {rank}: the"
    ),
    "sigterm_mpirun": Case(LONG, None, "interrupted", FAILED, "SIGTERM", send=signal.SIGTERM),
    # mpirun passes SIGINT on as SIGTERM.
    "sigint_mpirun": Case(LONG, None, "interrupted", FAILED, " received SIG", send=signal.SIGINT),
    "sigterm_rank_0": Case(
        LONG, 0, "interrupted", FAILED, "rank 0 received SIGTERM", send=signal.SIGTERM
    ),
    "sigint_last_rank": Case(
        LONG, -1, "interrupted", FAILED, "rank {rank} received SIGINT", send=signal.SIGINT
    ),
    "sighup_last_rank": Case(
        LONG, -1, "interrupted", FAILED, "rank {rank} received SIGHUP", send=signal.SIGHUP
    ),
}
IN_STEP = " ago in set-up, in cuMulticastBindMem"
NEVER = ["never", "17", -1, "hung"]
NEVER_ENTERED = "rank {rank} never entered call 17"
CASES |= {
    "kill_step": fault("kill", "step", 0, "hung", DIED, step=IN_STEP),
    "never_step": fault(
        "never", "step", -1, "hung", "rank {rank} never came to", silence=True, step=IN_STEP
    ),
    # The second to claim repeats what the first has said, its evidence too.
    "claimer_dies_late": fault(
        *NEVER, "died while it ended the run: " + NEVER_ENTERED, silence=True
    ),
    "evidence_hangs": fault(*NEVER, NEVER_ENTERED, silence=True, evidence=False),
    "evidence_throws": fault("kill", "17", 0, "hung", DIED, evidence=False),
    # The launcher kills the others once some have left.
    "stop_device_slow": fault("kill", "17", 0, "hung", DIED),
    "stop_device_hangs": fault("kill", "17", -1, "hung", DIED),
    "stop_device_throws": fault("throw", "17", 0, "failed", "the disk is full", code=FAILED),
}
for name, *arguments in (
    ("callback_throws", "--callback", "throw"),
    ("callback_hangs", "--callback", "hang"),
    ("claimer_dies", "--callback", "die-once"),
    ("claimer_dies_late", "--callback", "die-once"),
    ("evidence_hangs", "--evidence", "hang"),
    ("evidence_throws", "--evidence", "throw"),
    ("stop_device_slow", "--stop-device", "slow"),
    ("stop_device_hangs", "--stop-device", "hang"),
    ("stop_device_throws", "--stop-device", "throw"),
):
    CASES[name].arguments += arguments


class Failure(Exception):
    """What the run did that it should not have done."""


def expect(condition: bool, message: str) -> None:
    if not condition:
        raise Failure(message)


def read_lines(path: Path) -> list[list[str]]:
    return [line.split(" ") for line in path.read_text().splitlines()] if path.exists() else []


def wait_until_ready(process: subprocess.Popen, path: Path, count: int) -> dict[int, int]:
    """Waits until `count` ranks have made their first call; returns process by rank."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        pids = {int(mark[3]): int(mark[2]) for mark in read_lines(path) if mark[0] == "ready"}
        if len(pids) == count:
            return pids
        time.sleep(0.01)
    raise Failure("the run ended before all ranks made their first call, or did not in 60 s")


def lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except (OSError, IndexError):
        return False
    return state not in "ZX"


def check_nothing_left(pids: list[int]) -> None:
    deadline = time.monotonic() + 10
    while any(lives(pid) for pid in pids):
        expect(time.monotonic() < deadline, f"left behind: {[p for p in pids if lives(p)]}")
        time.sleep(0.05)


def check_ending(case: Case, struck: int, reports: list[list[str]], errors: str) -> None:
    reason = case.reason.replace("{rank}", str(struck))
    spoken = [
        line for line in errors.splitlines() if line.startswith(f"mailbench: {case.status}: ")
    ]
    expect(len(spoken) == 1, f"{len(spoken)} diagnoses on stderr, not 1")
    for part in (reason, case.step):
        expect(part in spoken[0], f"'{part}' is not in: {spoken[0]}")
    if case.reports is None:
        expect(bool(reports), "no report")
    else:
        expect(len(reports) == case.reports, f"{len(reports)} reports, not {case.reports}")
    expect(case.stderr in errors, f"stderr lacks '{case.stderr}'")
    for _, code, status, *text in reports:
        expect(
            (code, status) == (case.code if case.status != "interrupted" else FAILED, case.status),
            f"the report says {code} {status}",
        )
        expect(reason in " ".join(text), f"'{reason}' is not in the report: {' '.join(text)}")


def check_evidence_and_device(
    case: Case, ranks: int, struck: int, marks: list[list[str]], spoken: list[str]
) -> None:
    """`spoken`: stderr and the report, each of which gives the reason."""
    stopped = sorted(int(mark[3]) for mark in marks if mark[0] == "stopped")
    taken = [int(mark[1]) for mark in marks if mark[0] == "evidence"]
    expect(len(stopped) == len(set(stopped)), f"not one stop a rank: {stopped}")
    if case.reports is None:  # before the ranks have met, each ends by itself
        return
    fault_kind = case.arguments[1] if "--fault" in case.arguments else ""
    if fault_kind == "stop":  # the launcher wakes it up before it kills it, in time or not
        stopped = sorted({*stopped, struck})
    died = {struck} if fault_kind in ("kill", "abort") else set()
    expect(stopped == sorted(set(range(ranks)) - died), f"ranks {stopped} stopped their devices")
    # A claimer that died had said "failed".
    hung = case.status == "hung" and fault_kind != "throw"
    expect(len(taken) == hung, f"evidence was taken {len(taken)} times")
    stops = [int(mark[1]) for mark in marks if mark[0] == "stopped"]
    expect(not taken or min(stops) > taken[0], "a device was stopped before the evidence was taken")
    for text in spoken:
        expect((EVIDENCE in text) == (hung and case.evidence), f"evidence or none in: {text}")


def run(case: Case, options: argparse.Namespace, folder: Path) -> None:
    report, marks = folder / "report", folder / "marks"
    struck = options.ranks - 1 if case.rank == -1 else case.rank or 0
    command = [options.mpiexec, "-np", str(options.ranks), options.program]
    timeout_s = SILENCE_S if case.silence or case.pause else TIMEOUT_S
    command += ["--timeout", str(timeout_s), "--report", str(report), "--marks", str(marks)]
    command += ["--rank", str(struck), *case.arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            began_ns = 0
            if case.send:
                pids = wait_until_ready(process, marks, options.ranks)
                began_ns = time.monotonic_ns()
                os.kill(process.pid if case.rank is None else pids[struck], case.send)
            if case.pause:
                pids = wait_until_ready(process, marks, options.ranks)
                for each in (signal.SIGSTOP, signal.SIGCONT):
                    for pid in pids.values():
                        os.kill(pid, each)
                    time.sleep(SILENCE_S + 1 if each == signal.SIGSTOP else 0)
            output, errors = process.communicate(timeout=90)
        except BaseException:
            process.terminate()  # mpirun takes its ranks along
            raise
    print(f"{output}\n{errors}\nexit code {process.returncode}")
    check_nothing_left([int(mark[2]) for mark in read_lines(marks)])
    reports = read_lines(report)
    if case.status is None:
        expect(process.returncode == 0, f"exit code {process.returncode}")
        expect(not reports and "mailbench:" not in errors, "a run that passes was ended")
        ended = [mark for mark in read_lines(marks) if mark[0] in ("evidence", "stopped")]
        expect(not ended, f"a run that passes: {ended}")
        return
    expect(process.returncode != 0, "exit code 0")
    if case.status == "failed":
        written = [path.read_text() for path in folder.glob("marks.stdout.*")]
        expect(written == ["not a whole line;"] * options.ranks, f"the ranks wrote {written}")
    check_ending(case, struck, reports, errors)
    told = [errors, *(" ".join(line).replace("|", "\n") for line in reports)]
    check_evidence_and_device(case, options.ranks, struck, read_lines(marks), told)
    for mark in read_lines(marks):
        began_ns = int(mark[1]) if mark[0] == "fault" else began_ns
    for line in reports:
        took = (int(line[0]) - began_ns) * 1e-9
        print(f"from the fault to the report: {took:.3f} s")
        limit = options.grace + (timeout_s if case.silence else 0)
        expect(took <= limit, f"the report came {took:.1f} s after the fault, not within {limit} s")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--mpiexec", default="mpirun")
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--case", choices=CASES, required=True)
    # Not a claim about speed: what tells "ends by the timeout" from "ends some day" on a machine
    # that is busy with other tests.
    parser.add_argument("--grace", type=float, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            run(CASES[options.case], options, Path(folder))
        except Failure as failure:
            print(f"FAILED: {failure}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
