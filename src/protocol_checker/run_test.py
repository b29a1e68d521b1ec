"""The checker from outside: what it prints, its exit codes, its report, its saved schedules."""

import json
import re
import tempfile
import unittest
from pathlib import Path

from mpi_run import BIN, FAULTS, read_report, run

WRONG, FAILED = 5, 1


class Checker(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def check(self, *arguments, binary=BIN, code=0):
        result = run([binary, *arguments])
        self.assertEqual(result.code, code, result.stdout + result.stderr)
        return result


class Clean(Checker):
    def test_a_line_a_strategy(self):
        report = self.directory / "report.json"
        result = self.check(
            "--protocol", "lamport", "--ranks", "3", "--sizes", "1,2", "--publish", "unicast",
            "--fabric", "in-order,lag=1", "--strategy", "uniform,biased,pct", "--schedules", "50",
            "--seed", "9", "--jobs", "2", "--json", report,
        )  # fmt: skip
        self.assertEqual(result.stderr, "")
        self.assertIn("3 ranks, calls of 1, 2 packs a rank", result.stdout)
        self.assertIn("links in order", result.stdout)
        for strategy in ("uniform", "biased", "pct"):
            self.assertRegex(result.stdout, rf"\n{strategy} +50 ")
        models = read_report(report)["models"]
        self.assertEqual([model["strategy"] for model in models], ["uniform", "biased", "pct"])
        for model in models:
            self.assertEqual(model["kind"], "model")
            self.assertEqual(model["schedules"], 50)
            self.assertEqual(model["workers"], 2)
            self.assertEqual(model["scenario"]["publish"], "unicast")
            self.assertEqual(model["rules"]["lag"], 1)
            self.assertTrue(model["rules"]["links_in_order"])
            self.assertIsNone(model["violation"])

    def test_says_whether_all_schedules_were_run(self):
        small = ("--protocol", "lamport", "--ranks", "2", "--sizes", "1", "--delay-bound", "1")
        report = self.directory / "report.json"
        every = self.check(*small, "--strategy", "exhaustive", "--seconds", "60", "--json", report)
        self.assertIn("   all with up to 1 delay", every.stdout)
        self.assertTrue(read_report(report)["models"][0]["exhausted"])
        some = self.check(*small, "--strategy", "exhaustive", "--schedules", "5")
        self.assertIn("not all with up to 1 delay", some.stdout)

    def test_every_protocol_of_the_list_runs(self):
        listed = self.check("--list").stdout.splitlines()
        names = [line.split()[0] for line in listed]
        self.assertIn("lamport", names)
        for name in ("lamport", "overlapped", "overlapped-acq-rel"):
            self.check("--protocol", name, "--schedules", "20", "--strategy", "pct")

    def test_help_and_version(self):
        self.assertIn("--protocol NAME", self.check("--help").stdout)
        self.assertRegex(self.check("--version").stdout, r"^mailbench \d")


class Violations(Checker):
    def torn(self, *arguments):
        return self.check(
            "--protocol", "torn", "--ranks", "3", "--sizes", "1,2,1", *arguments,
            binary=FAULTS, code=WRONG,
        )  # fmt: skip

    def test_a_short_schedule_and_its_timeline(self):
        report, trace = self.directory / "report.json", self.directory / "trace.txt"
        result = self.torn("--json", report, "--trace", trace)
        self.assertIn("VIOLATION: race", result.stdout)
        self.assertIn("scenario  1 rank, a call of 1 pack a rank", result.stdout)
        timeline = result.stdout.rpartition("   step\n")[2]
        for words in ("publishes 0x", "lands in", "looks at", "resets"):
            self.assertIn(words, timeline)
        steps = [int(step) for step in re.findall(r"^ *(\d+)  +rank", timeline, re.M)]
        self.assertEqual(steps, sorted(steps))
        self.assertIn("knows that the grid before has completed", trace.read_text())

        written = read_report(report)
        self.assertEqual(written["run"]["status"], "wrong")
        (model,) = written["models"]
        self.assertEqual(model["violation"]["property"], "race")
        self.assertEqual(model["violation"]["found"]["scenario"]["ranks"], 3)
        self.assertEqual(model["violation"]["minimised"]["scenario"]["sizes"], [1])
        self.assertIn(model["violation"]["minimised"]["text"], result.stdout)

        for change in (
            lambda report, _: report["run"].update(status="passed"),
            lambda _, model: model.update(kind="point"),
            lambda _, model: model.update(extra=1),
            lambda _, model: model.pop("seed"),
            lambda _, model: model["violation"]["found"]["schedule"].pop("number"),
            lambda _, model: model["scenario"].update(ranks=0),
        ):
            broken = json.loads(report.read_text())
            change(broken, broken["models"][0])
            path = self.directory / "broken.json"
            path.write_text(json.dumps(broken))
            with self.assertRaisesRegex(AssertionError, "not a valid report"):
                read_report(path)

    def test_each_strategy_finds_it(self):
        for strategy in ("uniform", "biased", "pct", "exhaustive"):
            result = self.torn("--strategy", strategy)
            self.assertRegex(result.stdout, rf"\n{strategy} .*VIOLATION: race")

    def test_a_saved_schedule_is_run_again(self):
        saved = self.directory / "saved.json"
        found = self.torn("--save-replay", saved)
        again = self.check("--replay", saved, binary=FAULTS, code=WRONG)
        self.assertEqual(
            found.stdout[found.stdout.index("\nrace: ") :],
            again.stdout[again.stdout.index("\nrace: ") :],
        )

        changed = json.loads(saved.read_text())
        changed["property"] = "deadlock"
        saved.write_text(json.dumps(changed))
        result = self.check("--replay", saved, binary=FAULTS, code=FAILED)
        self.assertIn("does not show the same again", result.stderr)

        changed["protocol"] = "lamport"
        saved.write_text(json.dumps(changed))
        result = self.check("--replay", saved, code=FAILED)
        self.assertIn("no violation", result.stderr)

    def test_other_properties(self):
        cases = [
            ("unreset", "1,2,1,2", "overrun", "1 rank, calls of 1, 1, 1, 1 packs"),
            ("unreset", "2", "leftover", "1 rank, a call of 1 pack "),
            ("deaf", "1,2", "deadlock", "1 rank, a call of 1 pack "),
        ]
        for protocol, sizes, name, scenario in cases:
            with self.subTest(protocol, sizes=sizes):
                result = self.check(
                    "--protocol", protocol, "--sizes", sizes, binary=FAULTS, code=WRONG
                )
                self.assertIn(f"\n{name}: ", result.stdout)
                self.assertIn(f"scenario  {scenario}", result.stdout)


if __name__ == "__main__":
    unittest.main()
