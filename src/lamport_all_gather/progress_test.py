"""Progress on a terminal and in a log, and --dry-run, from outside."""

import os
import pty
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from mpi_run import BIN, DEADLINE_S, FAULTS, MPIEXEC, ROOT, mpirun

ERASE = "\r\x1b[K"
QUICK = ("--transport", "host", "--bytes", "16,32", "-n", "3", "-w", "1", "--calls-per-graph", "2")
HEAD = re.compile(r"\[(\d+)/(\d+)\] [\d.]+ s, about \d.*? left: ([^\r\x1b]*)")


def on_terminal(*arguments, binary=None, term="xterm", stdout_too=True, columns=100):
    """What a terminal gets of a run under mpirun; where not stdout_too, the rows go elsewhere."""
    screen, terminal = pty.openpty()
    subprocess.run(["stty", "cols", str(columns), "rows", "24"], stdin=terminal, check=True)
    command = [MPIEXEC, "-np", "2", binary or BIN, *map(str, arguments)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=terminal if stdout_too else subprocess.PIPE,
        stderr=terminal, start_new_session=True, env={**os.environ, "TERM": term},
    ) as process:  # fmt: skip
        os.close(terminal)
        seen = b""
        while True:
            try:
                text = os.read(screen, 65536)
            except OSError:  # nobody has the terminal open any more
                break
            if not text:
                break
            seen += text
        rows = "" if stdout_too else process.stdout.read().decode()
        code = process.wait(timeout=DEADLINE_S)
    os.close(screen)
    return code, seen.decode(), rows


def as_shown(text):
    """The lines that stay on the terminal."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        lines.append(line.rpartition(ERASE)[2])
    return "\n".join(lines)


class OnATerminal(unittest.TestCase):
    def test_one_line_is_redrawn_and_gone_before_each_row(self):
        code, text, _ = on_terminal(*QUICK)
        self.assertEqual(code, 0, text)
        steps = HEAD.findall(text)
        self.assertEqual({int(total) for _, total, _ in steps}, {12})
        self.assertEqual({int(done) for done, _, _ in steps}, set(range(12)))
        self.assertIn("lamport graph bytes=16, 0 %", steps[0][2])
        shown = as_shown(text)
        self.assertNotIn("left:", shown)
        self.assertEqual(len(re.findall(r"(?m)^ +\d+ +\d+ +(lamport|overlapped|mpi) ", shown)), 12)

    def test_a_stress_shows_its_calls(self):
        code, text, _ = on_terminal(
            "--transport", "host", "-e", "64", "--stress", "2000", "--algorithm", "lamport"
        )
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"left: stress of lamport, \d+ of 2000 calls, 0 wrong")
        self.assertNotIn("left:", as_shown(text))

    def test_the_line_is_as_wide_as_the_terminal(self):
        code, text, _ = on_terminal(*QUICK, columns=30)
        self.assertEqual(code, 0, text)
        lines = re.findall(r"\x1b\[K(\[[^\r\x1b]+)", text)
        self.assertGreaterEqual(len(lines), 12)
        self.assertEqual({len(line) for line in lines}, {29})

    def test_rows_in_a_log_are_rows_alone(self):
        code, text, rows = on_terminal(*QUICK, stdout_too=False)
        self.assertEqual(code, 0, text)
        self.assertGreaterEqual(len(HEAD.findall(text)), 12)
        self.assertNotIn("\x1b", rows)
        self.assertNotIn("left:", rows)

    def test_a_terminal_that_cannot_erase_gets_lines_only(self):
        code, text, _ = on_terminal(*QUICK, term="dumb")
        self.assertEqual(code, 0, text)
        self.assertNotIn("\x1b", text)
        self.assertNotIn("left:", text)

    def test_the_line_is_gone_when_the_reason_why_a_run_ends_is_printed(self):
        code, text, _ = on_terminal("1", "mid-sweep", "stop", *QUICK, "-T", "2", binary=FAULTS)
        self.assertNotEqual(code, 0, text)
        self.assertIn("left: ", text)
        # Launchers pass on the streams of two ranks in any order: somewhere behind the last line.
        self.assertIn(ERASE, text.rpartition("left: ")[2])
        self.assertRegex(text, r"mailbench: hung: .*rank 1")


class InALog(unittest.TestCase):
    def test_there_is_nothing_but_lines(self):
        result = mpirun(2, *QUICK, environment={"TERM": "xterm"})
        self.assertEqual(result.code, 0, result.stderr)
        for text in (result.stdout, result.stderr):
            self.assertNotIn("\x1b", text)
            self.assertNotIn("\r", text.replace("\r\n", "\n"))
            self.assertNotIn("left:", text)


def without_durations(text):
    """Rough times depend on the number of processors."""
    amount = r"< 0\.1 s|\d+ h \d\d min|\d+ min \d\d s|[\d.]+ s"
    text = re.sub(rf"(?m) +({amount})$", " TIME", text)
    return re.sub(rf"about ({amount})", "about TIME", text)


class DryRun(unittest.TestCase):
    def test_prints_what_the_readme_shows(self):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        (command, block) = re.search(
            r"(?m)^    \$ mpirun -np 4 (\S+lamport_all_gather .*--dry-run.*)\n((?:    .*\n)+)",
            readme,
        ).groups()
        printed = mpirun(4, *command.split()[1:]).stdout
        expected = re.sub(r"(?m)^    ", "", block)
        self.assertEqual(without_durations(printed), without_durations(expected))

    def test_runs_nothing_and_writes_nothing(self):
        with tempfile.TemporaryDirectory() as directory:
            report = Path(directory) / "report.json"
            # More than any machine has: 3 generations x 2 ranks x 2 algorithms x 8 GiB a rank.
            result = mpirun(
                2, "--transport", "host", "--bytes", "16", "--capacity", "8G", "--json", report,
                "--dry-run",
            )  # fmt: skip
            self.assertEqual(result.code, 0, result.stderr)
            self.assertIn(
                "96.0 GiB symmetric (lamport 48.0 GiB, overlapped 48.0 GiB)", result.stdout
            )
            self.assertEqual(list(Path(directory).iterdir()), [])

    def test_says_what_is_skipped(self):
        listing = mpirun(2, *QUICK, "--l2", "hot,cold", "--dry-run").stdout
        head = mpirun(2, *QUICK, "--l2", "hot,cold").stdout
        in_head = re.findall(r"(?m)^#   skipped (.*)$", head)
        self.assertEqual(re.findall(r"(?m)^# Skipped (.*)$", listing), in_head)
        cold = "with L2 cold: the caches of the host are not controlled"
        self.assertIn(f"lamport, overlapped, mpi: {cold}", in_head)
        self.assertEqual(len(in_head), len({line.split(": ", 1)[1] for line in in_head}))
        self.assertGreater(len(in_head), 1)

    def test_points_of_an_earlier_run_take_no_time(self):
        with tempfile.TemporaryDirectory() as directory:
            report = Path(directory) / "report.json"
            arguments = (*QUICK, "--json", report)
            self.assertEqual(mpirun(2, *arguments).code, 0)
            listing = mpirun(2, *arguments, "--resume", "--dry-run").stdout
            self.assertEqual(len(re.findall(r"(?m)  done before$", listing)), 12)
            self.assertNotIn("done before", mpirun(2, *QUICK, "--dry-run").stdout)


if __name__ == "__main__":
    unittest.main()
