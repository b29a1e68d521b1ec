"""fabric_floor on GPUs, over the transport unicast.

usage: gpu_test.py RANKS

Without a GPU the test is skipped, with that as its reason (exit code 77).
"""

import sys
import tempfile
import unittest
from pathlib import Path

from gpus import run_on_gpus, skip_without_gpu
from mpi_run import read_report

RANKS = 1
HOP, PUBLISH, EMPTY = "hop", "publish-to-all", "empty-kernel"
MODES = ("graph", "isolated", "eager")


class Floor(unittest.TestCase):
    def test_each_kernel_is_an_algorithm(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "report.json"
            result = run_on_gpus(
                RANKS, "--mode", ",".join(MODES), "-n", 5, "-w", 1, "--calls-per-graph", 7,
                "--json", path,
            )  # fmt: skip
            self.assertEqual(result.code, 0, result.stdout + result.stderr)
            report = read_report(path)
        self.assertEqual(report["environment"]["transport"], "unicast")
        expected = {PUBLISH, EMPTY} | ({HOP} if RANKS > 1 else set())
        self.assertEqual(
            {(p["algorithm"], p["mode"]) for p in report["points"]},
            {(algorithm, mode) for algorithm in expected for mode in MODES},
        )
        for point in report["points"]:
            check = point["check"]
            self.assertEqual(check["mismatches"], 0, check)
            self.assertEqual(check["compared"] > 0, point["algorithm"] != EMPTY)
            # Rounds are what is timed, not launches; a hop is half of one.
            graph = 7 if point["mode"] == "graph" else 1
            self.assertEqual(point["calls_per_sample"] % graph, 0)
            rounds = point["calls_per_sample"] // graph
            self.assertEqual(rounds > 1, point["algorithm"] != EMPTY)
            self.assertEqual(point["latency_us"]["count"], 5)
            self.assertGreater(point["latency_us"]["min"], 0)


if __name__ == "__main__":
    RANKS = int(sys.argv.pop())
    skip_without_gpu()
    unittest.main()
