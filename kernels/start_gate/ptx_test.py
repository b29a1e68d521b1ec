#!/usr/bin/env python3
"""Checks the PTX of the start gate: the wait is one poll, whose slow path alone loads the abort
word, and never permits dependents to start; the release is nothing but strong stores. The clock is
read behind the poll, and behind the wait for what is timed.

usage: as kernels/machine/gpu/ptx_checks.py says
"""

import re
import sys

from ptx_checks import check, slow_path_failures

WORD_LOAD = "ld.volatile.global.u32"
PACK_STORE = "st.relaxed.sys.global.v4.u32"
TIME_STORE = "st.global.u64"
GRID_WAIT = "griddepcontrol.wait"

# The generation, the latch's word, the abort word.
AWAIT = [WORD_LOAD, WORD_LOAD, WORD_LOAD, TIME_STORE]
NOTE_END = [GRID_WAIT, TIME_STORE]
RELEASE = [PACK_STORE]
EXPECTED = {"AwaitRelease": AWAIT, "NoteEnd": NOTE_END, "Release": RELEASE}


def name_of(entry):
    return re.search(r"\d+(AwaitRelease|NoteEnd|Release)Kernel", entry).group(1)


def clock_failures(code, behind):
    """The clock is read once, and only after the line `behind`."""
    reads = [i for i, line in enumerate(code.lines) if "%globaltimer" in line]
    if len(reads) != 1:
        return [f"the clock is read {len(reads)} times"]
    return (
        ["the clock can be read too early"] if reads[0] in code.reachable(0, barred=behind) else []
    )


def kernel_failures(code, expected):
    found = list(code.instructions.values())
    if expected == RELEASE:
        found = sorted(set(found))  # in a loop over the ranks, however often that was unrolled
    if found != expected:
        return [f"\n  expected {expected}\n  found    {found}"]
    if expected == RELEASE:
        return []
    if expected == NOTE_END:
        return clock_failures(code, code.at(GRID_WAIT)[0])
    generation, poll, load = code.at(WORD_LOAD)
    places = [code.place(i) for i in (generation, poll, load)]
    if places != [(1, 0, 0), (0, 0, 0), (3, 0, 0)]:
        return [f"the generation, what is polled and the abort word: {places}"]
    failures = slow_path_failures(code, load, poll, awaiting=[])
    return failures + clock_failures(code, poll)


if __name__ == "__main__":
    sys.exit(check(EXPECTED, name_of, kernel_failures, str))
