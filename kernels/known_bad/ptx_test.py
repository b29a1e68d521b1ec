#!/usr/bin/env python3
"""Checks the PTX of the known-bad kernels: the memory and synchronisation instructions that the
steps of kernels/known_bad/mnnvl.h name, what they touch, in their order, and no others; no spills.
What is known to be bad is bad for the reason that its description gives, not for another.

usage: as kernels/machine/gpu/ptx_checks.py says
"""

import itertools
import re
import sys

from ptx_checks import check, slow_path_failures

# What an address is (Code.place), by the layouts of MnnvlArgs, MailboxView and MnnvlState.
PLACES = {
    (0, 0, None): "input",
    (0, 8, None): "output",
    (0, 24, 0): "epoch",
    (0, 24, 4): "count",
    (0, 24, None): "size of a stage",
    (0, 56, None): "own mailbox",
    (0, None, None): "a peer's mailbox",
    (0, 640, None): "all mailboxes",
    (1, 0, 0): "abort word",
}

WAIT = "griddepcontrol.wait"
TRIGGER = "griddepcontrol.launch_dependents"
BARRIER = "barrier.cta.sync"
PUBLISH = {
    ("relaxed", "unicast"): "st.relaxed.sys.global.v4.u32, a peer's mailbox",
    ("relaxed", "multicast"): "multimem.st.relaxed.sys.global.v4.f32, all mailboxes",
    ("weak", "unicast"): "st.global.v4.u32, a peer's mailbox",
    ("weak", "multicast"): "multimem.st.weak.global.v4.f32, all mailboxes",
}
INPUT_LOAD = "ld.global.v4.u32, input"
CLEAN = "st.global.v4.u32, own mailbox"
POLL = "ld.volatile.global.v4.u32, own mailbox"
OUTPUT_STORE = "st.global.v4.u32, output"
COUNT_POLL = "ld.volatile.global.u32, count"
ABORT_LOAD = "ld.volatile.global.u32, abort word"
SENTINEL = "-2147483648"  # the bits of -0.0f, as nvcc writes them

VARIANTS = {  # the store that publishes, the own pack's origin
    "MnnvlNewer": ("relaxed", "register"),
    "MnnvlOlder": ("weak", "register"),
    "MnnvlRegisterCapacity": ("relaxed", "register"),
    "MnnvlPolledCallStride": ("relaxed", "polled"),
    "MnnvlPolledCapacity": ("relaxed", "polled"),
}


def steps(publish, store, own):
    """Returns a kernel's instructions, a list a step."""
    return [
        [WAIT],
        ["ld.volatile.global.u32, epoch"],
        ["ld.volatile.global.u32, size of a stage"],
        [INPUT_LOAD],
        [PUBLISH[store, publish]],
        [TRIGGER],
        [BARRIER],
        ["red.release.gpu.global.add.u32, count"],
        [CLEAN],
        [POLL, ABORT_LOAD, OUTPUT_STORE],
        *([[OUTPUT_STORE]] if own == "register" else []),
        [COUNT_POLL, ABORT_LOAD],
        ["st.global.u32, size of a stage"],
        ["st.global.u32, epoch"],
        ["st.global.u32, count"],
    ]


def expected_kernels():
    return {
        (variant, publish): steps(publish, *rules)
        for variant, rules in VARIANTS.items()
        for publish in ("unicast", "multicast")
    }


def name_of(entry):
    # ...MnnvlKernelINS_<length><variant>ELNS_7PublishE<0|1>EEE...
    variant, publish = re.search(r"KernelINS_\d+(\w+?)ELNS_7PublishE(\d)E", entry).groups()
    return variant, ("unicast", "multicast")[int(publish)]


def described(code):
    """Returns {line number: instruction, and what it touches}."""
    return {
        i: instruction
        if instruction in (WAIT, TRIGGER, BARRIER)
        else f"{instruction}, {PLACES.get(code.place(i))}"
        for i, instruction in code.instructions.items()
    }


def rolled_up(found):
    """Leaves the first of the stores that a loop was unrolled to."""
    looped = (CLEAN, *PUBLISH.values())
    pairs = itertools.pairwise([(None, None), *found.items()])
    return {i: text for (_, before), (i, text) in pairs if text != before or text not in looped}


def order_failures(code, found, expected):
    """What the order of the text says is also true of every path through the kernel."""
    failures = []
    step_of = dict(zip(found, (n for n, step in enumerate(expected) for _ in step), strict=True))
    for i, text in found.items():
        after = code.reachable(i)
        back = [found[j] for j in found if step_of[j] < step_of[i] and j in after]
        failures += [f"'{text}' can be followed by '{other}'" for other in back]
        if text in (WAIT, TRIGGER, BARRIER):
            past = code.reachable(0, barred=i)
            around = [found[j] for j in found if j > i and j in past]
            failures += [f"'{other}' can be reached without '{text}'" for other in around]
    return failures


def data_failures(code, found):
    """What is stored is what the step says: the pack sanitised, the sentinel, what was polled, and
    the own pack as it was read."""

    def data(*texts):
        return [code.data(i) for i, text in found.items() if text in texts]

    failures = []
    [own] = data(INPUT_LOAD)
    for words in data(*PUBLISH.values()):
        if not set(words).isdisjoint(own):
            failures.append(f"{words} is published, with words of {own}, which is not sanitised")
    for register in itertools.chain(*data(CLEAN)):
        if [operands for _, operands in code.definitions[register]] != [[SENTINEL]]:
            failures.append(f"{register}, with which a stage is cleaned, is not the sentinel")
    for words, origin in zip(data(OUTPUT_STORE), [*data(POLL), own], strict=False):
        if words != origin:
            failures.append(f"{words} is stored to the output, expected {origin}")
    return failures


def kernel_failures(code, expected):
    every = described(code)
    found = rolled_up(every)
    flat = list(itertools.chain(*expected))
    if list(found.values()) != flat:
        return [f"\n  expected {flat}\n  found    {list(found.values())}"]
    failures = order_failures(code, found, expected) + data_failures(code, every)
    lines = list(found)
    for poll, load, store in zip(lines, lines[1:], lines[2:], strict=False):
        if found[load] == ABORT_LOAD:
            failures += slow_path_failures(code, load, poll, awaiting=[store])
    return failures


def publish_of(name):
    return name[1]


if __name__ == "__main__":
    sys.exit(check(expected_kernels(), name_of, kernel_failures, publish_of))
