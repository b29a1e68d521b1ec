#!/usr/bin/env python3
"""Checks the PTX of the floor's kernels: the memory and synchronisation instructions that
kernels/fabric_floor/protocol.h names, in their order, and no others; the abort word's load in the
slow path of a poll only; nothing but the publish, which is one instruction, at the multicast
address; no spills.

usage: as kernels/machine/gpu/ptx_checks.py says
"""

import re
import sys

from ptx_checks import check, multicast_failures, slow_path_failures

WAIT = "griddepcontrol.wait"
TRIGGER = "griddepcontrol.launch_dependents"
BARRIER = "barrier.cta.sync"
WORD_LOAD = "ld.volatile.global.u32"  # of the rounds done; in a poll's slow path, of the abort word
POLL = "ld.volatile.global.v4.u32"
STORE = "st.relaxed.sys.global.v4.u32"
MULTICAST_STORE = "multimem.st.relaxed.sys.global.v4.f32"
ADVANCE = "st.global.u32"  # the rounds done
MULTICAST = (0, 608)  # args.multicast: FloorArgs


def publish(store):
    return [WAIT, TRIGGER, WORD_LOAD, store, POLL, WORD_LOAD, BARRIER, ADVANCE]


EXPECTED = {
    "empty": [WAIT, TRIGGER],
    # The store of the rank that begins, and that of its partner.
    "hop": [WAIT, TRIGGER, WORD_LOAD, STORE, POLL, WORD_LOAD, STORE, ADVANCE],
    "publish, multicast": publish(MULTICAST_STORE),
    "publish, unicast": publish(STORE),
}


def name_of(entry):
    # ...EmptyKernelE..., ...HopKernelE..., ...PublishKernelILb<0|1>EE...
    kind, multicast = re.search(r"(Empty|Hop|Publish)Kernel(?:ILb([01])E)?E", entry).groups()
    return kind.lower() + {None: "", "0": ", unicast", "1": ", multicast"}[multicast]


def kernel_failures(code, expected):
    found = list(code.instructions.values())
    if found != expected:
        return [f"\n  expected {expected}\n  found    {found}"]
    failures = []
    if MULTICAST_STORE in expected:
        failures += multicast_failures(code, MULTICAST)
    if POLL in expected:
        [poll] = code.at(POLL)
        failures += slow_path_failures(code, code.at(WORD_LOAD)[1], poll, awaiting=[])
    return failures


if __name__ == "__main__":
    sys.exit(check(EXPECTED, name_of, kernel_failures, lambda name: name))
