"""Bad input: exit code 2, one line that names the flag and the value, nothing created."""

import tempfile
import unittest
from pathlib import Path

from mpi_run import BIN, run

USAGE = 2
QUICK = ("--protocol", "lamport", "--schedules", "1")
GATE = ("--protocol", "lamport,start-gate", "--schedules", "1")


class BadInput(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def assert_refused(self, arguments, *named):
        result = run([BIN, *arguments])
        self.assertEqual(result.code, USAGE, result.stdout + result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("mailbench: "), result.stderr)
        for name in named:
            self.assertIn(name, result.stderr)
        self.assertEqual(result.stdout, "")

    def test_values(self):
        cases = [
            ("--protocol", "magic"),
            ("--protocol", "lamport,magic", "magic"),
            ("--protocol", "lamport,lamport", "lamport"),
            ("--ranks", "2,9", "9"),
            ("--ranks", "2,2", "2"),
            ("--ranks", "0"),
            ("--ranks", "9"),
            ("--ranks", "two"),
            ("--sizes", "0"),
            ("--sizes", "1,,2"),
            ("--sizes", "1,65", "65"),
            ("--sizes", "1K"),
            ("--threads", "0"),
            ("--threads", "9"),
            ("--publish", "pigeon"),
            ("--strategy", "luck"),
            ("--strategy", "pct,pct", "pct"),
            ("--delay-bound", "7"),
            ("--fabric", "lag"),
            ("--fabric", "lag=0", "0"),
            ("--fabric", "lag=x", "x"),
            ("--fabric", "lag=1,lag=2", "lag=2"),
            ("--fabric", "out-of-order"),
            ("--pdl", "maybe"),
            ("--resident-ctas", "-1"),
            ("--streams", "0"),
            ("--replays", "0"),
            ("--replays", "5"),
            ("--schedules", "0"),
            ("--schedules", "1e6"),
            ("--seconds", "0"),
            ("--seconds", "inf"),
            ("--seed", "18446744073709551616"),
            ("--jobs", "0"),
            ("--json", ""),
        ]
        for flag, value, *item in cases:
            with self.subTest(flag, value=value):
                base = () if flag == "--protocol" else ("--protocol", "lamport")
                (bad,) = item or (value,)
                self.assert_refused([*base, flag, value], flag, f'"{bad}"')

    def test_flags(self):
        cases = [
            ([], "--protocol"),
            (["--frobnicate"], "--frobnicate"),
            (["stray"], '"stray"'),
            ([*QUICK, "--ranks"], "--ranks"),
            ([*QUICK, "--ranks", "2", "--ranks", "3"], "--ranks", '"3"'),
            ([*QUICK, "--seconds", "2"], "--schedules", "--seconds", '"2"'),
            ([*QUICK, "--sizes", ",".join(["1"] * 65)], "--sizes", "65 sizes"),
            ([*QUICK, "--shared-gpu=yes"], "--shared-gpu"),
            ([*QUICK, "--producer=yes"], "--producer"),
            ([*QUICK, "--replays", "2", "--streams", "3"], "--replays", '"2"', "--streams", '"3"'),
            ([*GATE, "--publish", "unicast"], "--publish", '"unicast"', "start-gate"),
            ([*GATE, "--streams", "2"], "--streams", '"2"', "start-gate"),
            ([*GATE, "--producer"], "--producer", "start-gate"),
            ([*GATE, "--replays", "2"], "--replays", '"2"', "start-gate"),
            ([*GATE, "--resident-ctas", "4"], "--resident-ctas", '"4"', "start-gate"),
            ([*GATE, "--resident-ctas", "4", "--shared-gpu"], "--resident-ctas", "start-gate"),
            (["--replay", "x", "--producer"], "--producer", "--replay"),
            (["--replay", "x", "--ranks", "2"], "--ranks", '"2"', "--replay"),
        ]
        for arguments, *named in cases:
            with self.subTest(arguments):
                self.assert_refused(arguments, *named)

    def test_paths(self):
        there = self.directory / "there.json"
        there.write_text("{}")
        nowhere = self.directory / "missing" / "file.json"
        for flag in ("--json", "--save-replay", "--trace"):
            for path in (there, nowhere, self.directory):
                with self.subTest(flag, path=path):
                    self.assert_refused([*QUICK, flag, path], str(path))
        new = self.directory / "new.json"
        self.assert_refused([*QUICK, "--json", new, "--trace", new], "new.json", "--trace")
        self.assertEqual(list(self.directory.iterdir()), [there])
        self.assertEqual(there.read_text(), "{}")
        result = run([BIN, *QUICK, "--json", there, "--force"])
        self.assertEqual(result.code, 0, result.stderr)

    def test_saved_schedules(self):
        saved = self.directory / "saved.json"
        for text in ("", "{}", "[1]", '{"protocol": 1}'):
            with self.subTest(text):
                saved.write_text(text)
                self.assert_refused(["--replay", saved], "saved.json", "not a saved schedule")
        self.assert_refused(["--replay", self.directory / "none.json"], "none.json")


if __name__ == "__main__":
    unittest.main()
