"""For tests of the generated code: the PTX of kernels as instructions, what can be executed after
what and where an address comes from; and what ptxas says of registers and spills.

A test is a script that is run as

  SCRIPT PTXAS PTX_FILE... [PTX_FILE_OF_KERNELS_WRITTEN_BY_HAND...]

with one file of the kernels for each of ARCHITECTURES, of which only the first one is compared with
what is written by hand (for that architecture), and with this folder in PYTHONPATH, and that calls
`check`. (Syntax: PTX ISA, "Instruction Statements".)
"""

import itertools
import re
import subprocess
import sys
from collections import defaultdict

# What orders or touches memory, or waits. Parameters and the CTA's shared memory are left out:
# no other thread's writes are read through the former, and barriers order the latter.
INSTRUCTION = re.compile(
    r"^\s*(?:@!?%p\d+\s+)?"
    r"((?:ld|st|atom|red|multimem|fence|membar|bar|barrier|griddepcontrol)\.[\w.:]+)"
)
IGNORED = re.compile(r"^(ld\.param|(ld|st)\.(volatile\.)?shared)")

# Any instruction: a line that is neither a directive, a label nor a comment.
STATEMENT = re.compile(r"^(?:@!?%p\d+\s+)?[a-z][^;]*;$")

# What writes registers: an operation, its result (or results in braces), its other operands.
DEFINITION = re.compile(r"^(?:@!?%p\d+\s+)?([\w.:]+)\s+(%\w+|\{[^}]*\}),\s*([^;]+);")

ARCHITECTURES = ("sm_90", "sm_100", "sm_103")

# Of instructions that are not compared one by one, beyond those of the kernel written by hand.
MOST_EXTRA = 0.02


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
        # {register: [(operation, operands)]}, one entry a line that writes it
        self.definitions = defaultdict(list)
        for m in filter(None, map(DEFINITION.match, self.lines)):
            for register in re.findall(r"%\w+", m.group(2)):
                self.definitions[register].append((m.group(1), re.split(r",\s*", m.group(3))))

    def others(self):
        """The number of the instructions that are not among self.instructions."""
        found = {i for i, line in enumerate(self.lines) if STATEMENT.match(line)}
        return len(found - set(self.instructions))

    def accesses(self):
        """Returns [(instruction, place)], in the order of the text."""
        return [(instruction, self.place(i)) for i, instruction in self.instructions.items()]

    def at(self, instruction):
        return [i for i, found in self.instructions.items() if found == instruction]

    def successors(self, i):
        jump = re.match(r"(@!?%p\d+\s+)?(bra(?:\.uni)?\s+(?P<label>[^;]+)|ret);", self.lines[i])
        after = [] if jump and not jump.group(1) else [i + 1]
        if jump and jump.group("label"):
            after.append(self.labels[jump.group("label")])
        return [j for j in after if j < len(self.lines)]

    def reachable(self, start, barred=None):
        """Lines that can be executed after `start`, without passing the line `barred`."""
        seen, waiting = set(), [start]
        while waiting:
            new = [j for j in self.successors(waiting.pop()) if j not in seen and j != barred]
            seen.update(new)
            waiting += new
        return seen

    def data(self, i):
        """The registers in braces: what a vector instruction loads or stores."""
        return re.findall(r"%r\d+", re.search(r"\{(.*?)\}", self.lines[i]).group(1))

    def place(self, i):
        """Returns (n, a, b): the instruction's address lies b bytes behind the pointer that stands
        a bytes into parameter n. A count of bytes that is only known at run time is None, so that
        element i of parameter 0 is (0, 0, None); all is None where the address comes from
        elsewhere."""
        address = re.search(r"\[(.*?)\]", self.lines[i])
        return address and self._place(address.group(1))

    def _place(self, operand):
        base, _, offset = operand.partition("+")
        place = self._register_place(base)
        if place is None or place[-1] is None or not offset:
            return place
        return (*place[:-1], place[-1] + int(offset))

    def _register_place(self, base):
        parameter = re.search(r"_param_(\d+)$", base)
        if parameter:
            return (int(parameter.group(1)), 0)
        written = self.definitions[base]
        begins = [(operation, operands) for operation, operands in written if base not in operands]
        if len(begins) != 1:
            return None
        place = self._result_place(*begins[0])
        stepped = len(begins) < len(written)  # a loop adds to it
        return (*place[:-1], None) if place and stepped else place

    def _result_place(self, operation, operands):
        if operation in ("mov.b64", "mov.u64", "cvta.to.global.u64"):
            return self._place(operands[0])
        if operation == "ld.param.u64":
            place = self._place(operands[0].strip("[]"))
            return place and (*place, 0)
        if operation == "add.s64":
            return self._sum(*operands)
        return None

    def _sum(self, left, right):
        if not right.startswith("%"):
            return self._place(f"{left}+{right}")
        places = list(filter(None, map(self._place, (left, right))))
        return (*places[0][:-1], None) if len(places) == 1 else None


def slow_path_failures(code, load, poll, awaiting):
    """The abort word is loaded after a poll in vain and nowhere else: a thread whose first poll
    finds everything never executes the load. `awaiting`: lines for which the poll must succeed."""
    failures = []
    if load in code.reachable(0, barred=poll):
        failures.append("the abort word can be loaded before a poll")
    for i in sorted(code.reachable(load, barred=poll) & set(awaiting)):
        failures.append(f"'{code.lines[i]}' can follow the abort word's load without another poll")
    if not set(code.instructions) - {load} <= code.reachable(0, barred=load):
        failures.append("there is an instruction that only the abort word's load leads to")
    return failures


def multicast_failures(code, pointer):
    """Multicast stores go through the multicast address alone, and nothing else does. `pointer`:
    (n, a) as in Code.place. For kernels that store to no address out of a table."""
    failures = []
    for i, instruction in code.instructions.items():
        place = code.place(i)
        if instruction.startswith("multimem") != (place is not None and place[:2] == pointer):
            failures.append(f"'{code.lines[i]}' goes to {place}, multicast is at {pointer}")
        elif place is None and "[" in code.lines[i]:
            failures.append(f"'{code.lines[i]}': its address comes from nobody knows where")
    return failures


def _by_hand_failures(code, by_hand):
    """The same memory instructions in the same order at the same places, and hardly more others."""
    pairs = itertools.zip_longest(code.accesses(), by_hand.accesses())
    different = [(n, *pair) for n, pair in enumerate(pairs) if pair[0] != pair[1]]
    failures = [
        f"memory instruction {n}: {at}, by hand {wanted}" for n, at, wanted in different[:1]
    ]
    if code.others() > (1 + MOST_EXTRA) * by_hand.others():
        failures.append(f"{code.others()} other instructions, {by_hand.others()} by hand")
    return failures


def _kernels(name_of, *paths):
    """Returns {name: Code} of all kernels of PTX files."""
    kernels = {}
    for path in paths:
        with open(path, encoding="ascii") as file:
            text = file.read()
        for entry in re.finditer(r"\.entry\s+(\w+)\(.*?\n\}", text, re.S):
            body = entry.group(0)[entry.group(0).index("\n{") + 2 :]
            kernels[name_of(entry.group(1))] = Code(body)
    return kernels


def _assembled(path, ptxas, arch):
    """Returns [(mangled name, [bytes of stack frame, spill stores, spill loads], registers)]."""
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
    return [(entry, frame, int(used)) for entry, *frame, used in found]


def _assembly_failures(path, ptxas, arch, expected, name_of, group_of):
    """Also prints the registers: they decide how many CTAs a multiprocessor holds."""
    failures = []
    assembled = _assembled(path, ptxas, arch)
    if len(assembled) != len(expected):
        failures.append(f"{len(assembled)} kernels in the log of ptxas")
    registers = {}
    for entry, frame, used in assembled:
        name = name_of(entry)
        if frame != ["0", "0", "0"]:
            failures.append(f"{name}: stack frame, spill stores and loads: {frame}")
        registers[group_of(name)] = max(registers.get(group_of(name), 0), used)
    print(f"{arch}: most registers: {dict(sorted(registers.items()))}")
    return failures


def _compared_failures(kernels, by_hand, group_of):
    """Compares each kernel with its namesake written by hand; each must have one. Also prints what
    the worst of a group has of instructions that are not compared one by one."""
    failures = [f"{name}: not written by hand" for name in sorted(set(kernels) - set(by_hand))]
    failures += [f"{name}: only written by hand" for name in sorted(set(by_hand) - set(kernels))]
    most = defaultdict(float)
    for name in sorted(set(by_hand) & set(kernels)):
        code, wanted = kernels[name], by_hand[name]
        failures += [f"{name}: {f}" for f in _by_hand_failures(code, wanted)]
        group = group_of(name)
        most[group] = max(most[group], round(code.others() / wanted.others(), 3))
    print(f"most other instructions, by hand is 1: {dict(sorted(most.items()))}")
    return failures


def check(expected, name_of, failures_of, group_of):
    """Runs a test and returns its exit status.

    expected: {name: what `failures_of` compares with} of all kernels that there must be
    name_of(mangled name): a kernel's name
    failures_of(code, expected[name]): what is wrong with a kernel, as sentences
    group_of(name): what the printed figures are grouped by
    """
    ptxas, *paths = sys.argv[1:]
    paths, by_hand_paths = paths[: len(ARCHITECTURES)], paths[len(ARCHITECTURES) :]
    failures = []
    for arch, path in zip(ARCHITECTURES, paths, strict=True):
        kernels = _kernels(name_of, path)
        found = [
            f"{name}: {failure}"
            for name, code in kernels.items()
            if name in expected
            for failure in failures_of(code, expected[name])
        ]
        if set(kernels) != set(expected):
            found.append(f"kernels found: {sorted(kernels)}, expected: {sorted(expected)}")
        if by_hand_paths and arch == ARCHITECTURES[0]:
            found += _compared_failures(kernels, _kernels(name_of, *by_hand_paths), group_of)
        found += _assembly_failures(path, ptxas, arch, expected, name_of, group_of)
        failures += [f"{arch}: {failure}" for failure in found]
    print("\n".join(failures) or f"{len(expected)} kernels hold what protocols name")
    return bool(failures)
