#!/usr/bin/env python3
"""Checks the PTX of the Lamport all-gather: the memory and synchronisation instructions that
kernels/lamport/protocol.h names, in its order, and no others.

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

ENTER = [
    "griddepcontrol.wait",
    "ld.volatile.global.u32",  # the generation
    "atom.add.acq_rel.gpu.global.u32",  # the arrival
    "st.global.u32",  # the last CTA: the generation advanced
    "st.global.u32",  # and the count cleared
    "barrier.cta.sync",
    "ld.global.v4.u32",  # the input
]
PUBLISH = {
    "unicast": "st.relaxed.sys.global.v4.u32",
    "multicast": "multimem.st.relaxed.sys.global.v4.f32",
}


def collect(batch):
    polls = ["ld.volatile.global.v4.u32"] * batch
    stores = ["st.global.v4.u32", "st.global.v4.u32"] * batch  # the output, the sentinel
    return polls + stores


def kernels(text):
    """Yields (publish, batch, instructions) for each gather kernel of a PTX file."""
    for entry in re.finditer(r"\.entry\s+(\w*AllGatherKernel\w*)\(.*?\n\}", text, re.S):
        # ...AllGatherKernelILNS_7PublishE<0|1>ELi<batch>EEE...
        name = re.search(r"PublishE(\d)ELi(\d+)E", entry.group(1))
        publish = ["unicast", "multicast"][int(name.group(1))]
        found = [m.group(1) for m in map(INSTRUCTION.match, entry.group(0).splitlines()) if m]
        found = [i for i in found if not IGNORED.match(i)]
        store = PUBLISH["unicast"]
        if store in found:  # in a loop over the ranks, however often that was unrolled
            rest = itertools.dropwhile(store.__eq__, found[found.index(store) :])
            found = [*found[: found.index(store) + 1], *rest]
        yield publish, int(name.group(2)), found


def main():
    path, ptxas = sys.argv[1:]
    with open(path, encoding="ascii") as file:
        text = file.read()
    failures = []
    seen = set()
    for publish, batch, found in kernels(text):
        seen.add((publish, batch))
        expected = ENTER + [PUBLISH[publish], "griddepcontrol.launch_dependents"] + collect(batch)
        if found != expected:
            failures.append(f"{publish}, batch {batch}:\n  expected {expected}\n  found    {found}")
    wanted = {(publish, batch) for publish in PUBLISH for batch in (1, 2, 4, 8)}
    if seen != wanted:
        failures.append(f"kernels found: {sorted(seen)}, expected: {sorted(wanted)}")

    for arch in ("sm_90", "sm_100", "sm_103"):
        # PTX for an older architecture assembles for a newer one.
        log = subprocess.run(
            [ptxas, "-v", f"-arch={arch}", path, "-o", "/dev/null"],
            check=True,
            capture_output=True,
            text=True,
        ).stderr
        frames = re.findall(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", log
        )
        if len(frames) != len(wanted) or any(frame != ("0", "0", "0") for frame in frames):
            failures.append(f"{arch}: stack frames and spills: {frames}")

    print("\n".join(failures) or f"{len(seen)} kernels hold what the protocol names")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
