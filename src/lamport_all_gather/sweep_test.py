"""Sweeps on the host transport: every result right, for many numbers of ranks.

usage: sweep_test.py RANKS
"""

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

from mpi_run import ROOT, mpirun, read_report

RANKS = 1
HOST = ("--transport", "host")
MAILBOX = ("lamport", "overlapped")  # the algorithms that gather through a mailbox
# Right as long as no multicast copy comes late. mnnvl-older is not: a rank that is slow erases what
# a faster one has sent it, on this transport too.
KNOWN_BAD = (
    "mnnvl", "mnnvl-register-callstride", "mnnvl-register-capacity",
    "mnnvl-polled-callstride", "mnnvl-polled-capacity",
)  # fmt: skip
OLDER = ("mnnvl-older",)
LARGEST = os.environ.get("MAILBENCH_LARGEST")  # where sanitizers make everything slow


class Sweep(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.report = Path(directory.name) / "report.json"

    def sweep(self, *arguments):
        result = mpirun(RANKS, *HOST, *arguments, "--json", self.report)
        self.assertEqual(result.code, 0, result.stderr)
        report = read_report(self.report)
        self.assertEqual(report["run"]["status"], "passed")
        self.assertEqual(report["errors"], [])
        self.assertEqual(
            list(self.report.parent.iterdir()), [self.report], "something else was left behind"
        )
        for point in report["points"]:
            self.assert_checked(point, report["config"]["capacity"])
        return report

    def assert_checked(self, point, capacity):
        check = point["check"]
        self.assertEqual(point["ranks"], RANKS)
        self.assertEqual((check["mismatches"], check["leftover"]), (0, 0))
        # Every word of every call's output, on every rank.
        words = RANKS * point["bytes_per_rank"] // 4
        self.assertEqual(check["compared"], check["calls"] * words)
        self.assertGreaterEqual(check["calls"], 5 * RANKS)
        # The whole of every mailbox, before and after timing.
        mailbox = 3 * RANKS * capacity // 4 if point["algorithm"] in MAILBOX else 0
        self.assertEqual(check["audited"], 2 * RANKS * mailbox)

    def test_quick_config(self):
        config = ROOT / "configs/quick/lamport_all_gather.json"
        largest = () if LARGEST is None else ("-b", "16", "-e", LARGEST)
        report = self.sweep("--config", config, *largest)
        sizes = {point["bytes_per_rank"] for point in report["points"]}
        self.assertEqual((min(sizes), max(sizes)), (16, int(LARGEST or 512 * 1024)))
        keys = {(p["algorithm"], p["mode"], p["bytes_per_rank"]) for p in report["points"]}
        self.assertEqual(len(keys), len(report["points"]))
        self.assertEqual(len(keys), len(sizes) * 2 * 3)

    def test_every_mode_and_state_of_l2(self):
        modes = {"graph", "isolated", "eager"}
        report = self.sweep(
            "--bytes", "16,4K", "--mode", ",".join(modes), "--l2", "cold,hot", "-n", "4", "-w", "2"
        )
        # On the host caches are not controlled: one point, and cold is skipped.
        self.assertEqual(len(report["points"]), 2 * len(modes) * 3)
        self.assertEqual({p["l2"] for p in report["points"]}, {"not controlled"})
        self.assertEqual({p["l2_evicted"] for p in report["points"]}, {None})
        cold = {s["algorithm"] for s in report["skipped"] if "L2 cold" in s["reason"]}
        self.assertEqual(cold, {p["algorithm"] for p in report["points"]})
        for point in report["points"]:
            self.assertEqual(point["latency_us"]["count"], 4)
            self.assertEqual(point["calls_per_sample"], 10 if point["mode"] == "graph" else 1)
            first = 0 if point["mode"] == "eager" else 1
            warmup = point["warmup"]
            for rank in point["per_rank"]:
                self.assertEqual((rank["clock_before_mhz"], rank["clock_after_mhz"]), (None, None))
            self.assertIn(warmup["samples"] - first, range(2, 23, 2))
            self.assertIs(type(warmup["steady"]), bool)
        for point in self.sweep("--bytes", "16", "-n", "2", "-w", "0", "--force")["points"]:
            self.assertIsNone(point["warmup"]["steady"])

    def test_odd_sizes_and_inputs_that_are_copied(self):
        for layout, copies in (("aligned", 0), ("misaligned", 1), ("strided", 1)):
            with self.subTest(layout):
                report = self.sweep(
                    "--bytes", "16,1008,1040,4112", "--capacity", "8K", "--input", layout,
                    "-n", "3", "-w", "1", "--calls-per-graph", "3", "--force",
                )  # fmt: skip
                for point in report["points"]:
                    expected = copies if point["algorithm"] in MAILBOX else 0
                    if layout == "strided" and point["bytes_per_rank"] == 16:
                        expected = 0  # a single row has no gaps
                    self.assertEqual(point["input_copies_per_call"], expected)

    def test_known_bad_ones_when_they_are_named(self):
        names = KNOWN_BAD + (OLDER if RANKS == 1 else ())
        for layout, copies in (("aligned", 0), ("misaligned", 1)):
            with self.subTest(layout):
                report = self.sweep(
                    "--bytes", "16,1008,4112", "--capacity", "8K", "--algorithm", ",".join(names),
                    "--input", layout, "-n", "3", "-w", "1", "--calls-per-graph", "3", "--force",
                )  # fmt: skip
                self.assertEqual({p["algorithm"] for p in report["points"]}, set(names))
                for point in report["points"]:
                    self.assertEqual(point["input_copies_per_call"], copies)

    def test_known_bad_ones_are_listed_as_such(self):
        listing = mpirun(RANKS, *HOST, "--list").stdout
        for name in KNOWN_BAD + OLDER:
            self.assertRegex(listing, rf"(?m)^  {name}: .*\(known bad: runs only when named\)$")

    def test_the_reported_config_repeats_the_run(self):
        first = self.sweep("--bytes", "16,48", "-n", "2", "--mode", "eager", "-T", "50")
        config = self.report.with_name("config.json")
        config.write_text(json.dumps(first["config"]))
        again = self.report.with_name("again.json")
        result = mpirun(RANKS, "--config", config, "--json", again)
        self.assertEqual(result.code, 0, result.stderr)
        self.assertEqual(read_report(again)["config"], first["config"])

    def test_unchecked(self):
        result = mpirun(RANKS, *HOST, "--bytes", "16", "-n", "2", "-c", "0", "--json", self.report)
        self.assertEqual(result.code, 0, result.stderr)
        self.assertIn("# Wrong words: N/A (not checked)", result.stdout)
        for point in read_report(self.report)["points"]:
            self.assertIsNone(point["check"])


class ManyRanks(Sweep):
    """For numbers of ranks far above the number of cores: one small size."""

    def test_quick_config(self):
        report = self.sweep("--bytes", "64", "-n", "2", "-w", "1", "--calls-per-graph", "2")
        self.assertEqual(len(report["points"]), 2 * 3)

    test_every_mode_and_state_of_l2 = None
    test_odd_sizes_and_inputs_that_are_copied = None
    test_known_bad_ones_when_they_are_named = None
    test_known_bad_ones_are_listed_as_such = None
    test_the_reported_config_repeats_the_run = None
    test_unchecked = None


if __name__ == "__main__":
    RANKS = int(sys.argv.pop())
    unittest.main(defaultTest="ManyRanks" if RANKS > 16 else "Sweep")
