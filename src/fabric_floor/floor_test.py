"""fabric_floor as a whole, and the floor that other runs report.

usage: floor_test.py LAMPORT_ALL_GATHER
"""

import json
import sys
import tempfile
import unittest
from pathlib import Path

from mpi_run import mpirun, read_report

LAMPORT = ""
HOP, PUBLISH, EMPTY = "hop", "publish-to-all", "empty-kernel"


class Floor(unittest.TestCase):
    def report(self, ranks, *arguments, binary=None):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "report.json"
            result = mpirun(ranks, *arguments, "-J", path, binary=binary)
            self.assertEqual(result.code, 0, result.stdout + result.stderr)
            self.stdout = result.stdout
            return read_report(path)

    def test_each_kernel_is_an_algorithm(self):
        for transport in ("host", "host-multicast"):
            for ranks in (1, 2, 3):
                with self.subTest(transport=transport, ranks=ranks):
                    flags = ("--transport", transport, "-n", 3, "--calls-per-graph", 2)
                    report = self.report(ranks, *flags)
                    expected = {PUBLISH, EMPTY} | ({HOP} if ranks > 1 else set())
                    self.assertEqual({p["algorithm"] for p in report["points"]}, expected)
                    for point in report["points"]:
                        self.assertEqual(point["check"]["mismatches"], 0)
                        self.assertEqual(point["shape"], {"bytes": 16})
                        # Rounds are what is timed, not launches.
                        rounds = {HOP: 20, PUBLISH: 10, EMPTY: 1}[point["algorithm"]]
                        graph = 2 if point["mode"] == "graph" else 1
                        self.assertEqual(point["calls_per_sample"], graph * rounds)

    def test_counters_are_compared(self):
        report = self.report(3, "--transport", "host", "-n", 1, "--mode", "eager")
        compared = {p["algorithm"]: p["check"]["compared"] for p in report["points"]}
        self.assertEqual(compared[EMPTY], 0)
        self.assertGreater(compared[HOP], 0)
        self.assertEqual(compared[PUBLISH], 3 * compared[HOP])

    def test_the_reported_config_repeats_the_run(self):
        first = self.report(2, "--transport", "host", "-n", 2, "--calls-per-graph", 2)["config"]
        self.assertNotIn("bytes", first)
        with tempfile.TemporaryDirectory() as directory:
            config = Path(directory) / "config.json"
            config.write_text(json.dumps(first))
            self.assertEqual(self.report(2, "--config", config)["config"], first)

    def test_sizes_a_stress_and_a_trace_are_refused(self):
        for flag in ("--min-bytes", "--max-bytes", "--step-bytes", "--bytes", "--capacity"):
            self.assert_refused((flag, 16), f"{flag}: fabric_floor has no sizes")
        self.assert_refused(("-f", 2), "--step-factor: fabric_floor has no sizes")
        self.assert_refused(("--stress", 100), "--stress: fabric_floor cannot be stressed")
        reason = "--trace: no algorithm of fabric_floor can be traced"
        self.assert_refused(("--trace", "trace.json"), reason)

    def assert_refused(self, arguments, message):
        result = mpirun(2, *arguments)
        self.assertEqual((result.code, result.stdout), (2, ""))
        self.assertEqual(result.messages, [f"mailbench: {message}"])

    def test_every_point_of_a_collective_has_its_floor(self):
        flags = ("--transport", "host", "--bytes", "16,1K", "-n", 2, "--calls-per-graph", 2)
        for modes in (("graph", "isolated", "eager"), ("graph",), ("eager",)):
            report = self.report(2, *flags, "--mode", ",".join(modes), binary=LAMPORT)
            self.assertIn("# Floor: ", self.stdout)
            self.assertEqual(
                "of a call by itself" in self.stdout, len(modes) > 1 or "eager" in modes
            )
            self.assertEqual({p["mode"] for p in report["points"]}, set(modes))
            for point in report["points"]:
                floor = point["floor_us"]
                self.assertGreater(floor["hop"], 0)
                for mode in ("isolated", "eager"):
                    self.assertEqual(floor[f"{mode}_call"] is not None, mode in modes)
                call = {
                    "graph": floor["empty_kernel"] + floor["publish_to_all"],
                    "isolated": floor["isolated_call"],
                    "eager": floor["eager_call"],
                }[point["mode"]]
                self.assertEqual(floor["call"], call)
                self.assertAlmostEqual(point["floor_ratio"], point["latency_us"]["p50"] / call)
                for part, interval in floor["intervals"].items():
                    if interval is not None:
                        self.assertLessEqual(interval["low"], floor[part])
                        self.assertLessEqual(floor[part], interval["high"])

    def test_what_is_the_floor_is_not_compared_with_it(self):
        flags = ("--transport", "host", "-n", 1, "--calls-per-graph", 2)
        report = self.report(2, *flags, "--mode", "graph,isolated,eager")
        self.assertNotIn("# Floor", self.stdout)
        self.assertEqual(len(report["points"]), 9)
        for point in report["points"]:
            self.assertEqual((point["floor_us"], point["floor_ratio"]), (None, None))


if __name__ == "__main__":
    LAMPORT = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
