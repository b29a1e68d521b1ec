#!/usr/bin/env python3
"""Checks the PTX of the all-gathers: the memory and synchronisation instructions that
kernels/lamport/protocol.h and overlapped.h name, in their order, and no others; no clock, which
is for traced kernels (traced_ptx_test.py); the abort word's load in the slow path of a poll only;
nothing but the publish at the multicast address; no spills.
Every kernel is held to its namesake of kernels/machine/gpu/*_by_hand.cu: those instructions at the
same places, and hardly more of the others.

usage: as kernels/machine/gpu/ptx_checks.py says
"""

import itertools
import re
import sys

from ptx_checks import check, multicast_failures, slow_path_failures

PUBLISH = {
    "unicast": "st.relaxed.sys.global.v4.u32",
    "multicast": "multimem.st.relaxed.sys.global.v4.f32",
    "multicast, alias fence": "multimem.st.relaxed.sys.global.v4.f32",
}
ALIAS_FENCE = "fence.proxy.alias"
COUNT = {"acq_rel": "atom.add.acq_rel.gpu.global.u32", "relaxed": "atom.add.relaxed.gpu.global.u32"}
WAIT = "griddepcontrol.wait"
TRIGGER = "griddepcontrol.launch_dependents"
BARRIER = "barrier.cta.sync"
WORD_LOAD = "ld.volatile.global.u32"  # of the generation; in a poll's slow path, of the abort word
INPUT_LOAD = "ld.global.v4.u32"
POLL = "ld.volatile.global.v4.u32"
PACK_STORE = "st.global.v4.u32"
ADVANCE = ["st.global.u32", "st.global.u32"]  # the generation advanced and the count cleared
BATCHES = (1, 2, 4, 8)
MULTICAST = (0, 640)  # args.mailbox.multicast: AllGatherArgs, MailboxView


def collect(batch):
    return [POLL] * batch + [PACK_STORE, PACK_STORE] * batch  # the output, the sentinel


def publish_stores(publish):
    return [PUBLISH[publish], ALIAS_FENCE] if "fence" in publish else [PUBLISH[publish]]


def lamport(publish, batch):
    enter = [WAIT, WORD_LOAD, COUNT["acq_rel"], *ADVANCE, BARRIER]
    return [*enter, INPUT_LOAD, *publish_stores(publish), TRIGGER, *collect(batch)]


def overlapped(publish, batch, arrival, trigger):
    publishing = [WORD_LOAD, INPUT_LOAD, *publish_stores(publish)]
    publishing.insert(0 if trigger == "after wait" else len(publishing), TRIGGER)
    return [WAIT, *publishing, BARRIER, COUNT[arrival], *collect(batch), *ADVANCE]


def expected_kernels():
    """Returns {name: instructions} of all kernels; a name is a tuple of template arguments."""
    kernels = {}
    for publish, batch in itertools.product(PUBLISH, BATCHES):
        kernels["lamport", publish, batch] = lamport(publish, batch)
        for arrival, trigger in itertools.product(COUNT, ("after wait", "after publish")):
            name = ("overlapped", publish, batch, arrival, trigger)
            kernels[name] = overlapped(*name[1:])
    return kernels


def name_of(entry):
    # ...LamportKernelILNS_7PublishE<0|1|2>ELi<batch>EEE...
    # ...OverlappedKernelILNS_7PublishE<0|1|2>ELi<batch>ELNS_7ArrivalE<0|1>ELNS_7TriggerE<0|1>EEE...
    # Written by hand: ...LamportByHandI..., ...OverlappedByHandI..., the rest as above.
    kind, publish, batch = re.search(
        r"(Lamport|Overlapped)(?:Kernel|ByHand).*?PublishE(\d)ELi(\d+)E", entry
    ).groups()
    name = (kind.lower(), tuple(PUBLISH)[int(publish)], int(batch))
    if kind == "Lamport":
        return name
    arrival, trigger = re.search(r"ArrivalE(\d)E.*?TriggerE(\d)E", entry).groups()
    return (
        *name,
        ("relaxed", "acq_rel")[int(arrival)],
        ("after wait", "after publish")[int(trigger)],
    )


def ordered_instructions(code, abort_load):
    found = [instruction for i, instruction in code.instructions.items() if i != abort_load]
    store = PUBLISH["unicast"]
    if store in found:  # in a loop over the ranks, however often that was unrolled
        rest = itertools.dropwhile(store.__eq__, found[found.index(store) :])
        found = [*found[: found.index(store) + 1], *rest]
    return found


def abort_word_failures(code):
    """The abort word is loaded between two polls of a batch and nowhere else."""
    loads = code.at(WORD_LOAD)
    if len(loads) != 2:
        return [f"{len(loads)} loads of words, expected the generation's and the abort word's"]
    first_poll, *other_polls = code.at(POLL)
    return slow_path_failures(code, loads[1], first_poll, other_polls + code.at(PACK_STORE))


def poll_failures(code):
    """All loads of a batch are in flight together: none is looked at before all are issued, and
    what is looked at first is the one issued last, or ptxas would put a look before that load."""
    polls = code.at(POLL)
    looks = [i for i, line in enumerate(code.lines) if i > polls[0] and line.startswith("setp")]
    first_look = code.lines[looks[0]]
    failures = []
    if looks[0] < polls[-1]:
        failures.append(f"'{first_look}' stands between the loads of a batch")
    if not set(re.findall(r"%r\d+", first_look)) & set(re.findall(r"%r\d+", code.lines[polls[-1]])):
        failures.append(f"'{first_look}', the first look, is not at the last load")
    return failures


def kernel_failures(code, expected):
    failures = abort_word_failures(code) + poll_failures(code)
    if any("globaltimer" in line for line in code.lines):
        failures.append("it reads the clock: only traced kernels do")
    if PUBLISH["multicast"] in expected:
        failures += multicast_failures(code, MULTICAST)
    found = ordered_instructions(code, code.at(WORD_LOAD)[-1])
    if found != expected:
        failures.append(f"\n  expected {expected}\n  found    {found}")
    return failures


def kind_and_batch(name):
    return name[0], name[2]


if __name__ == "__main__":
    sys.exit(check(expected_kernels(), name_of, kernel_failures, kind_and_batch))
