#!/usr/bin/env python3
"""Checks the PTX of the start gate: the wait is one poll, whose slow path alone loads the abort
word, and never permits dependents to start; the release is nothing but strong stores.

usage: as kernels/machine/gpu/ptx_checks.py says
"""

import re
import sys

from ptx_checks import check, slow_path_failures

WORD_LOAD = "ld.volatile.global.u32"
STORE = "st.relaxed.sys.global.v4.u32"

# The latch's word, then the abort word.
EXPECTED = {"AwaitRelease": [WORD_LOAD, WORD_LOAD], "Release": [STORE]}


def name_of(entry):
    return re.search(r"\d+(AwaitRelease|Release)Kernel", entry).group(1)


def kernel_failures(code, expected):
    found = list(code.instructions.values())
    if expected == [STORE]:
        found = sorted(set(found))  # in a loop over the ranks, however often that was unrolled
    if found != expected:
        return [f"\n  expected {expected}\n  found    {found}"]
    if expected == [STORE]:
        return []
    poll, load = code.at(WORD_LOAD)
    if code.place(poll) != (0, 0, 0) or code.place(load) != (2, 0, 0):
        return [f"polled: {code.place(poll)}, the abort word: {code.place(load)}"]
    return slow_path_failures(code, load, poll, awaiting=[])


if __name__ == "__main__":
    sys.exit(check(EXPECTED, name_of, kernel_failures, str))
