"""The checker from outside: what it prints, its exit codes, its report, its saved schedules."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from mpi_run import BIN, DEADLINE_S, FAULTS, ROOT, read_report, run

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
        self.assertRegex(some.stdout, r"\nexhaustive +5 ")
        self.assertIn("not all with up to 1 delay", some.stdout)

    def test_every_protocol_of_the_list_runs(self):
        listed = self.check("--list").stdout.splitlines()
        names = [line.split()[0] for line in listed]
        self.assertIn("lamport", names)
        shipped = ("lamport", "overlapped", "overlapped-acq-rel", "overlapped-after-publish")
        shipped += ("lamport-alias-fence", "overlapped-alias-fence", "start-gate")
        for name in shipped:
            self.check("--protocol", name, "--schedules", "20", "--strategy", "pct")

    def test_lists_are_every_protocol_with_every_number_of_ranks(self):
        report = self.directory / "report.json"
        result = self.check(
            "--protocol", "overlapped,lamport", "--ranks", "3,1", "--sizes", "1",
            "--strategy", "pct,biased", "--schedules", "10", "--json", report,
        )  # fmt: skip
        cases = [("overlapped", 3), ("overlapped", 1), ("lamport", 3), ("lamport", 1)]
        shown = re.findall(r"^protocol  ([\w-]+):.*\nscenario  (\d) ranks?,", result.stdout, re.M)
        self.assertEqual([(name, int(ranks)) for name, ranks in shown], cases)
        self.assertEqual(len(re.findall(r"^(?:pct|biased) +10 ", result.stdout, re.M)), 8)
        written = read_report(report)
        self.assertEqual(written["config"]["protocol"], ["overlapped", "lamport"])
        self.assertEqual(written["config"]["ranks"], [3, 1])
        searched = [
            (model["protocol"], model["scenario"]["ranks"], model["strategy"], model["schedules"])
            for model in written["models"]
        ]
        self.assertEqual(searched, [(*case, by, 10) for case in cases for by in ("pct", "biased")])

    def test_reports_producer_and_replays(self):
        report = self.directory / "report.json"
        result = self.check(
            "--protocol", "lamport", "--sizes", "1", "--producer", "--replays", "3",
            "--strategy", "pct", "--schedules", "20", "--json", report,
        )  # fmt: skip
        self.assertIn("inputs by a kernel, replayed 3 times", result.stdout)
        written = read_report(report)
        for of in (written["config"], written["models"][0]["scenario"]):
            self.assertIs(of["producer"], True)
            self.assertEqual(of["replays"], 3)

    def test_help_and_version(self):
        text = self.check("--help").stdout
        for part in ("--protocol LIST", "for each strategy at most", "three times as long (def"):
            self.assertIn(part, text)
        self.assertRegex(self.check("--version").stdout, r"^mailbench \d")


class Violations(Checker):
    def torn(self, *arguments):
        return self.check(
            "--protocol", "torn", "--ranks", "3", "--sizes", "1,2,1", *arguments,
            binary=FAULTS, code=WRONG,
        )  # fmt: skip

    def test_the_first_violation_of_a_list_ends_it(self):
        report = self.directory / "report.json"
        result = self.check(
            "--protocol", "hasty,torn,deaf", "--ranks", "2,3", "--sizes", "1,2,1",
            "--schedules", "300", "--strategy", "biased", "--json", report,
            binary=FAULTS, code=WRONG,
        )  # fmt: skip
        self.assertIn(
            "\nnot run: torn with 3 ranks, deaf with 2 ranks, deaf with 3 ranks\n", result.stdout
        )
        models = read_report(report)["models"]
        self.assertEqual(
            [(model["protocol"], model["scenario"]["ranks"]) for model in models],
            [("hasty", 2), ("hasty", 3), ("torn", 2)],
        )
        self.assertIsNotNone(models[-1]["violation"]["minimised"])

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
        self.assertRegex(result.stdout, "not all with up to 2 delays   VIOLATION: race")

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

    def assert_needs(self, flags, words, saved_as, event, property_, *arguments, otherwise=0):
        """The violation is there with the flags only, in what is printed, saved and run again."""
        self.check(*arguments, "--schedules", "100", binary=FAULTS, code=otherwise)
        saved, trace = self.directory / "saved.json", self.directory / "trace.txt"
        found = self.check(
            *arguments, *flags, "--save-replay", saved, "--trace", trace, binary=FAULTS, code=WRONG
        )
        shown = found.stdout[found.stdout.index(f"\n{property_}: ") :]
        self.assertIn(words, shown)
        self.assertIn(event, trace.read_text())
        scenario = json.loads(saved.read_text())["scenario"]
        self.assertEqual({key: scenario[key] for key in saved_as}, saved_as)
        again = self.check("--replay", saved, binary=FAULTS, code=WRONG)
        self.assertTrue(again.stdout.endswith(shown), again.stdout)

    def test_a_producer(self):
        self.assert_needs(
            ("--producer",), "inputs by a kernel", {"producer": True, "replays": 1},
            "producer of call 0 has completed", "output",
            "--protocol", "hasty", "--sizes", "1,1",
        )  # fmt: skip

    def test_replays(self):
        self.assert_needs(
            ("--replays", "4"), "replayed 4 times", {"producer": False, "replays": 4},
            "call 3, CTA 0, thread 0: publishes", "overrun",
            "--protocol", "unreset", "--sizes", "1",
            otherwise=WRONG,  # by another property: one call leaves a word, and overruns none
        )  # fmt: skip

    def test_who_takes_the_places_of_a_shared_gpu(self):
        result = self.check(
            "--protocol", "deaf", "--sizes", "1", "--resident-ctas", "1", "--shared-gpu",
            binary=FAULTS, code=WRONG,
        )  # fmt: skip
        self.assertIn("rank 0: call 0, CTA 0 takes a place", result.stdout)

        # A rank's two grids, the running one and its dependent, take what its peer would need.
        shared = ("--protocol", "lamport", "--sizes", "1,1", "--shared-gpu")
        by = ("--strategy", "exhaustive", "--delay-bound", "1")
        few = self.check(*shared, *by, "--resident-ctas", "2", code=WRONG)
        self.assertRegex(few.stdout, r"\ndeadlock: .* rank 0, call 0 has started 0 of 1 CTAs")
        self.assertRegex(few.stdout, r"\n +1 +rank 1: call 0, CTA 0 takes a place\n")
        self.check(*shared, *by, "--resident-ctas", "4")

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


def readme_block(head):
    """The indented lines of README.md that begin with one that begins so."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(rf"^(    {re.escape(head)}.*\n(?:(?:    .*)?\n)*)", text, re.M)
    return [line.strip() for line in block.splitlines() if line.strip()]


class TheStaleWord(Checker):
    def minimised(self, *arguments):
        report = self.directory / "report.json"
        result = self.check("--protocol", "mnnvl", *arguments, "--json", report, code=WRONG)
        violation = read_report(report)["models"][-1]["violation"]
        self.assertEqual(violation["property"], "output")
        return violation["minimised"], result.stdout

    def test_is_shown_by_few_calls_of_two_ranks(self):
        small, printed = self.minimised(
            "--ranks", "3", "--sizes", "1,2,1,2,1,2,1,2", "--strategy", "pct"
        )
        self.assertEqual(small["scenario"]["ranks"], 2)
        self.assertLessEqual(len(small["scenario"]["sizes"]), 6)
        self.assertIn(small["text"], printed)

    def test_is_the_one_that_the_readme_shows(self):
        block = readme_block("output: rank ")
        scenario = next(line for line in block if line.startswith("scenario"))
        (sizes,) = re.findall(r"2 ranks, calls of ([\d, ]+) packs a rank", scenario)
        schedule = next(line for line in block if line.startswith("schedule"))
        (delays,) = re.findall(r"exhaustive, \d delays, at step ([\d, ]+)", schedule)
        saved = self.directory / "schedule.json"
        saved.write_text(json.dumps({
            "protocol": "mnnvl",
            "scenario": {
                "ranks": 2, "sizes": [int(size) for size in sizes.split(",")], "threads": 1,
                "publish": "multicast", "streams": 1, "producer": False, "replays": 1,
            },
            "rules": {
                "links_in_order": False, "store_buffers": True, "lag": 0,
                "programmatic_launch": True, "resident_ctas": 0, "shared_gpu": False,
            },
            "schedule": {
                "strategy": "exhaustive", "seed": 1, "number": 0, "pct_steps": 0,
                "delays": [int(delay) for delay in delays.split(",")],
            },
            "property": "output", "text": block[0],
        }))  # fmt: skip
        printed = self.check("--replay", saved, code=WRONG).stdout
        # The last scenario and schedule are those of the replay.
        printed = re.sub(" +", " ", printed[printed.index(block[0]) :])  # ranks are indented
        lines = iter(printed.splitlines())
        for shown in block:
            shown = re.sub(" +", " ", shown)
            # Shortened where dots are, and where a thread of a call is named.
            pattern = ".*".join(map(re.escape, re.split(r" ?\.\.\. ?|(?<=: call \d)(?=:)", shown)))
            self.assertTrue(any(re.search(pattern, line) for line in lines), f"{shown}\n{printed}")


def signals(process, which):
    """A set of signals of the process: SigBlk, blocked; ShdPnd, sent and not yet taken."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    mask = int(re.search(rf"^{which}:\s*([0-9a-f]+)", status, re.M)[1], 16)
    return {number for number in range(1, 65) if mask >> (number - 1) & 1}


class Interrupts(Checker):
    def start(self, *arguments, **streams):
        command = [BIN, "--protocol", "lamport", *map(str, arguments)]
        environment = {**os.environ, "TERM": "xterm"}  # what draws a line of progress asks for it
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, env=environment, **streams
        )  # fmt: skip
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_until(self, condition):
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_leave_a_report_of_what_was_done(self):
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(sent):
                report = self.directory / f"{sent.name}.json"
                terminal, its_end = pty.openpty()
                process = self.start(
                    "--strategy", "exhaustive,biased,pct", "--delay-bound", "0",
                    "--schedules", 10**15, "--json", report,
                    stdout=subprocess.PIPE, stderr=its_end, text=True,
                )  # fmt: skip
                os.close(its_end)
                shown = ""
                while not re.search(r"biased, [1-9]\d* schedules", shown):
                    readable = select.select([terminal], [], [], DEADLINE_S)[0]
                    self.assertTrue(readable, shown)
                    shown += os.read(terminal, 1000).decode()
                process.send_signal(sent)
                stdout = process.communicate(timeout=DEADLINE_S)[0]
                shown = os.read(terminal, 10_000).decode()
                os.close(terminal)

                self.assertEqual(process.returncode, FAILED)
                self.assertRegex(stdout, r"\nexhaustive +1 .*   all with up to 0 delays\nbiased ")
                reason = f"received {sent.name} while searching by biased"
                self.assertEqual(shown.count("mailbench: "), 1, shown)
                self.assertIn(f"mailbench: interrupted: {reason}; the report {report} ", shown)
                written = read_report(report)
                self.assertEqual(written["run"]["status"], "interrupted")
                self.assertEqual(written["run"]["reason"], reason)
                self.assertEqual(written["errors"], [{"rank": None, "what": reason}])
                exhaustive, biased = written["models"]
                self.assertTrue(exhaustive["exhausted"])
                self.assertEqual(biased["strategy"], "biased")
                self.assertGreater(biased["schedules"], 0)

    def test_the_second_ends_at_once(self):
        # Nobody reads what it prints: it is stuck, and cannot react to the first.
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, read_end)
        os.set_blocking(write_end, False)
        try:
            while True:
                os.write(write_end, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(write_end, True)
        process = self.start("--schedules", 10, stdout=write_end, stderr=subprocess.PIPE)
        os.close(write_end)
        self.wait_until(lambda: signal.SIGINT in signals(process, "SigBlk"))
        process.send_signal(signal.SIGINT)
        self.wait_until(lambda: signal.SIGINT not in signals(process, "ShdPnd"))
        process.send_signal(signal.SIGINT)  # at once: not a second one
        self.wait_until(lambda: signal.SIGINT not in signals(process, "ShdPnd"))
        time.sleep(0.7)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=DEADLINE_S), FAILED)
        self.assertIn(b"a second time", process.stderr.read())
        process.stderr.close()


if __name__ == "__main__":
    unittest.main()
