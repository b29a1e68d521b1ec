#!/usr/bin/env python3
"""Checks the PTX of the all-gathers: the memory and synchronisation instructions that
kernels/lamport/protocol.h and overlapped.h name, in their order, and no others; the abort word's
load in the slow path of a poll only; no spills.

usage: ptx_test.py PTX_FILE PTXAS
"""

import itertools
import re
import subprocess
import sys

# What orders or touches memory, or waits. Parameters and the CTA's shared memory are left out:
# no other thread's writes are read through the former, and barriers order the latter.
INSTRUCTION = re.compile(
    r"^\s*(?:@!?%p\d+\s+)?"
    r"((?:ld|st|atom|red|multimem|fence|membar|bar|barrier|griddepcontrol)\.[\w.:]+)"
)
IGNORED = re.compile(r"^(ld\.param|(ld|st)\.(volatile\.)?shared)")

PUBLISH = {
    "unicast": "st.relaxed.sys.global.v4.u32",
    "multicast": "multimem.st.relaxed.sys.global.v4.f32",
}
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


def collect(batch):
    return [POLL] * batch + [PACK_STORE, PACK_STORE] * batch  # the output, the sentinel


def lamport(publish, batch):
    enter = [WAIT, WORD_LOAD, COUNT["acq_rel"], *ADVANCE, BARRIER]
    return [*enter, INPUT_LOAD, PUBLISH[publish], TRIGGER, *collect(batch)]


def overlapped(publish, batch, arrival, trigger):
    publishing = [WORD_LOAD, INPUT_LOAD, PUBLISH[publish]]
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
    # ...LamportKernelILNS_7PublishE<0|1>ELi<batch>EEE...
    # ...OverlappedKernelILNS_7PublishE<0|1>ELi<batch>ELNS_7ArrivalE<0|1>ELNS_7TriggerE<0|1>EEE...
    kind, publish, batch = re.search(
        r"(Lamport|Overlapped)Kernel.*?PublishE(\d)ELi(\d+)E", entry
    ).groups()
    name = (kind.lower(), ("unicast", "multicast")[int(publish)], int(batch))
    if kind == "Lamport":
        return name
    arrival, trigger = re.search(r"ArrivalE(\d)E.*?TriggerE(\d)E", entry).groups()
    return (
        *name,
        ("relaxed", "acq_rel")[int(arrival)],
        ("after wait", "after publish")[int(trigger)],
    )


class Code:
    """A kernel's lines as a graph: which of them can be executed after which."""

    def __init__(self, text):
        self.lines = [line.strip() for line in text.splitlines()]
        self.labels = {line[:-1]: i for i, line in enumerate(self.lines) if line.endswith(":")}
        found = {i: INSTRUCTION.match(line) for i, line in enumerate(self.lines)}
        # {line number: instruction}, in the order of the text
        self.instructions = {
            i: m.group(1) for i, m in found.items() if m and not IGNORED.match(m.group(1))
        }

    def at(self, instruction):
        return [i for i, found in self.instructions.items() if found == instruction]

    def successors(self, i):
        jump = re.match(r"(@!?%p\d+\s+)?(bra(?:\.uni)?\s+(?P<label>[^;]+)|ret);", self.lines[i])
        after = [] if jump and not jump.group(1) else [i + 1]
        if jump and jump.group("label"):
            after.append(self.labels[jump.group("label")])
        return [j for j in after if j < len(self.lines)]

    def reachable(self, start, barred):
        """Lines that can be executed after `start`, without passing the line `barred`."""
        seen, waiting = set(), [start]
        while waiting:
            new = [j for j in self.successors(waiting.pop()) if j not in seen and j != barred]
            seen.update(new)
            waiting += new
        return seen


def ordered_instructions(code, abort_load):
    found = [instruction for i, instruction in code.instructions.items() if i != abort_load]
    store = PUBLISH["unicast"]
    if store in found:  # in a loop over the ranks, however often that was unrolled
        rest = itertools.dropwhile(store.__eq__, found[found.index(store) :])
        found = [*found[: found.index(store) + 1], *rest]
    return found


def abort_word_failures(code):
    """The abort word is loaded between two polls of a batch and nowhere else: a thread whose first
    poll finds everything never executes the load."""
    loads = code.at(WORD_LOAD)
    if len(loads) != 2:
        return [f"{len(loads)} loads of words, expected the generation's and the abort word's"]
    abort_load = loads[1]
    first_poll, *other_polls = code.at(POLL)
    failures = []
    if abort_load in code.reachable(0, barred=first_poll):
        failures.append("the abort word can be loaded before a poll")
    if not code.reachable(abort_load, barred=first_poll).isdisjoint(
        other_polls + code.at(PACK_STORE)
    ):
        failures.append("something else than the batch's first poll can follow the abort word's")
    if not set(code.instructions) - {abort_load} <= code.reachable(0, barred=abort_load):
        failures.append("there is an instruction that only the abort word's load leads to")
    return failures


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


def kernel_failures(text):
    expected = expected_kernels()
    failures = []
    seen = set()
    for entry in re.finditer(r"\.entry\s+(\w+)\(.*?\n\}", text, re.S):
        name = name_of(entry.group(1))
        seen.add(name)
        code = Code(entry.group(0)[entry.group(0).index("\n{") + 2 :])
        failures += [
            f"{name}: {failure}" for failure in abort_word_failures(code) + poll_failures(code)
        ]
        found = ordered_instructions(code, code.at(WORD_LOAD)[-1])
        if found != expected[name]:
            failures.append(f"{name}:\n  expected {expected[name]}\n  found    {found}")
    if seen != set(expected):
        failures.append(f"kernels found: {sorted(seen)}, expected: {sorted(expected)}")
    return failures


def assembly_failures(path, ptxas):
    """Also prints the registers: they decide how many CTAs a multiprocessor holds."""
    failures = []
    for arch in ("sm_90", "sm_100", "sm_103"):
        # PTX for an older architecture assembles for a newer one.
        log = subprocess.run(
            [ptxas, "-v", f"-arch={arch}", path, "-o", "/dev/null"],
            check=True,
            capture_output=True,
            text=True,
        ).stderr
        found = re.findall(
            r"entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, "
            r"(\d+) bytes spill loads.*?Used (\d+) registers",
            log,
            re.S,
        )
        if len(found) != len(expected_kernels()):
            failures.append(f"{arch}: {len(found)} kernels in the log of ptxas")
        registers = {}
        for entry, *frame, used in found:
            name = name_of(entry)
            if frame != ["0", "0", "0"]:
                failures.append(f"{arch}, {name}: stack frame, spill stores and loads: {frame}")
            key = (name[0], name[2])
            registers[key] = max(registers.get(key, 0), int(used))
        print(f"{arch}: most registers by kind and poll batch: {dict(sorted(registers.items()))}")
    return failures


def main():
    path, ptxas = sys.argv[1:]
    with open(path, encoding="ascii") as file:
        failures = kernel_failures(file.read())
    failures += assembly_failures(path, ptxas)
    print("\n".join(failures) or f"{len(expected_kernels())} kernels hold what protocols name")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
