#!/usr/bin/env python3
"""Checks the PTX of the traced all-gathers: what they store of the clock stands beside the
instructions of the kernels that are timed (ptx_test.py), and changes neither these nor their order.

usage: as kernels/machine/gpu/ptx_checks.py says
"""

import sys

from ptx_checks import check
from ptx_test import WORD_LOAD, expected_kernels, kind_and_batch, name_of, ordered_instructions

TIME_STORE = "st.global.u64"
LEAST_MARKS = 4  # start, published, a source, done


def kernel_failures(code, expected):
    failures = []
    stores = code.at(TIME_STORE)
    reads = [line for line in code.lines if "globaltimer" in line]
    if len(stores) < LEAST_MARKS or len(reads) < LEAST_MARKS:
        failures.append(f"{len(reads)} looks at the clock, {len(stores)} times stored")
    for i in stores:
        del code.instructions[i]
    found = ordered_instructions(code, code.at(WORD_LOAD)[-1])
    if found != expected:
        failures.append(f"\n  expected {expected}\n  found    {found}")
    return failures


if __name__ == "__main__":
    sys.exit(check(expected_kernels(), name_of, kernel_failures, kind_and_batch))
