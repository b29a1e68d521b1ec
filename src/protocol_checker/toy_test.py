"""The section "Adding a protocol" of kernels/PROTOCOLS.md does what it says: its files are those of
kernels/toy, and its commands print what it shows. Both builds of protocol_checker_toy are made with
the section's edit of models.cc; the one with the planted fault has the toy as it is first written,
the other has it after the section's edit of protocol.h."""

import difflib
import re
import shlex
import unittest

from mpi_run import BIN, FAULTS, ROOT, run
from toy_section import blocks

TOY = "kernels/toy/"


def commands(console):
    """The commands of a shell, each with what it is to print."""
    for part in console.split("$ ")[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def as_shown(shown):
    """A pattern: three dots stand for anything."""
    return re.compile(r"\A" + re.escape(shown).replace(re.escape("..."), ".*") + r"\Z", re.S)


class AddingAProtocol(unittest.TestCase):
    def test_its_files_are_those_of_the_tree(self):
        written = {b.name: b.text for b in blocks(ROOT) if b.kind not in ("diff", "console")}
        there = {str(path.relative_to(ROOT)) for path in (ROOT / TOY).iterdir()}
        self.assertEqual(set(written), there)
        for name, text in written.items():
            with self.subTest(name):
                file = (ROOT / name).read_bytes()
                difference = difflib.unified_diff(
                    text.splitlines(), file.decode().splitlines(), "PROTOCOLS.md", name, lineterm=""
                )
                self.assertEqual(text.encode(), file, "\n" + "\n".join(difference))

    def test_its_commands_print_what_it_shows(self):
        binary, code, ran = FAULTS, "", []
        for block in blocks(ROOT):
            if block.kind == "diff" and block.name.startswith(TOY):
                binary = BIN
            for command, shown in commands(block.text) if block.kind == "console" else ():
                program, *arguments = shlex.split(command)
                if program == "echo":
                    self.assertEqual((arguments, shown), (["$?"], f"{code}\n"), ran[-1])
                    continue
                self.assertEqual(program, "protocol_checker")
                result = run([binary, *arguments])
                code = result.code
                ran.append((binary, code))
                # A slow run's progress, a line a minute, is none of what is shown.
                told = re.sub(r"^# \[.*\n", "", result.stderr, flags=re.MULTILINE)
                printed = result.stdout + told
                if not as_shown(shown).search(printed):
                    self.fail(f"{command}\nis to print\n{shown}\nand prints\n{printed}")
        self.assertEqual(ran, [(FAULTS, 5), (BIN, 0)])


if __name__ == "__main__":
    unittest.main()
