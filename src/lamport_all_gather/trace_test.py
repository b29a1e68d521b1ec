"""--trace on the host transport, three ranks: a file that Perfetto can read, or none."""

import json
import os
import signal
import tempfile
import time
import unittest
from collections import defaultdict
from pathlib import Path

from mpi_run import BIN, FAULTS, MPIEXEC, finish, left_behind, mpirun, processes, read_report, start

RANKS = 3
HOST = ("--transport", "host")
SHORT = ("--bytes", "16,2K", "-n", "3", "-w", "0", "--calls-per-graph", "2")
CALLS = 20  # traced of a point
CTAS = {16: 1, 2048: 2}  # of a call, by bytes a rank
EPSILON_US = 1e-6  # of a sum of two numbers of the file
GATED = "calls that a gate releases are not traced"
UNMARKED = "the algorithm has no kernels that mark times"
PARTS = ("publish", "wait", "collect")


class Trace(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.trace = self.directory / "trace.json"
        self.report = self.directory / "report.json"

    def run_traced(self, *arguments, what=SHORT, binary=None, before=()):
        return mpirun(
            RANKS, *before, *HOST, *what, "--trace", self.trace, *arguments, binary=binary
        )

    def tracks(self, events, phase):
        """{(rank, thread): events}, in the file's order."""
        tracks = defaultdict(list)
        for event in events:
            if event["ph"] == phase:
                tracks[event["pid"], event["tid"]].append(event)
        return tracks

    def assert_nested(self, spans):
        """Calls follow each other; each holds its parts, which fill it."""
        end = 0
        for first in range(0, len(spans), 1 + len(PARTS)):
            call, *parts = spans[first : first + 1 + len(PARTS)]
            self.assertRegex(call["name"], r"^call \d+$")
            self.assertEqual(tuple(part["name"] for part in parts), PARTS)
            self.assertGreaterEqual(call["ts"], end)
            at = call["ts"]
            for part in parts:
                self.assertGreaterEqual(part["dur"], 0)
                self.assertAlmostEqual(part["ts"], at, delta=EPSILON_US)
                self.assertEqual(part["args"], call["args"])
                at = part["ts"] + part["dur"]
            end = call["ts"] + call["dur"]
            self.assertAlmostEqual(at, end, delta=EPSILON_US)

    def test_a_file_that_perfetto_reads(self):
        result = self.run_traced("--json", self.report)
        self.assertEqual(result.code, 0, result.stderr)
        self.assertEqual(sorted(self.directory.iterdir()), [self.report, self.trace])
        file = json.loads(self.trace.read_text())
        events = file["traceEvents"]
        points = [point["point"] for point in file["otherData"]["points"]]
        self.assertEqual(len(points), 2 * 2 * 2)
        self.assertEqual(
            {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"},
            {rank: f"rank {rank}" for rank in range(RANKS)},
        )
        self.assertEqual({e["cat"] for e in events if e["ph"] != "M"}, {"lamport", "overlapped"})

        spans = self.tracks(events, "X")
        self.assertEqual(set(spans), {(r, t) for r in range(RANKS) for t in range(3)})
        for (_, thread), track in spans.items():
            self.assert_nested(track)
            # The second CTA is there for the larger size alone.
            traced = [point for point in points if thread < 2 or "bytes=2048" in point]
            self.assertEqual(len(track), len(traced) * CALLS * 4)
            self.assertEqual({e["args"]["point"] for e in track}, set(traced))
        for track in self.tracks(events, "i").values():
            sources = [e["args"]["source"] for e in track if "source" in e["args"]]
            self.assertEqual(sources, list(range(RANKS)) * (len(track) // (1 + RANKS)))

        # One clock for all ranks of a host.
        for point in file["otherData"]["points"]:
            self.assertEqual([c["offset_ns"] for c in point["clocks"]], [0] * RANKS)
            self.assertTrue(all(0 < c["error_ns"] < 10_000 for c in point["clocks"]), point)
            size = 2048 if "bytes=2048" in point["point"] else 16
            self.assertEqual((point["ctas"], point["ctas_shown"]), (CTAS[size], CTAS[size]))

    def test_instants_lie_within_their_calls(self):
        self.assertEqual(self.run_traced().code, 0)
        events = json.loads(self.trace.read_text())["traceEvents"]
        calls, seen = {}, 0
        for event in events:
            if event["ph"] == "M":
                continue
            key = (event["pid"], event["tid"], event["args"]["point"], event["args"]["call"])
            if event["name"].startswith("call "):
                calls[key] = event
            elif event["ph"] == "i":
                call = calls[key]
                self.assertGreaterEqual(event["ts"], call["ts"] - EPSILON_US)
                self.assertLessEqual(event["ts"], call["ts"] + call["dur"] + EPSILON_US)
                seen += 1
        self.assertGreater(seen, 0)

    def test_the_report_and_the_row_say_where_the_time_went(self):
        result = self.run_traced("--json", self.report)
        self.assertEqual(result.code, 0, result.stderr)
        report = read_report(self.report)
        self.assertNotIn("trace", report["config"])
        for point in report["points"]:
            if point["algorithm"] == "mpi":
                self.assertIsNone(point["trace"])
                continue
            trace = point["trace"]
            self.assertEqual(trace["calls"], CALLS)
            self.assertLessEqual(trace["last_calls"] + trace["undecided_calls"], CALLS)
            # Traced calls are compared like the others: two rounds of a graph of two calls, or four
            # of one, then those of the samples, then the traced ones.
            checked = {"graph": 2 * 2 + 2, "eager": 4 + 1}[point["mode"]] + CALLS
            self.assertEqual(point["check"]["calls"], RANKS * checked)
        lines = [line for line in result.stdout.splitlines() if "(medians)" in line]
        self.assertEqual(len(lines), 2 * 2 * 2)
        for line in lines:
            self.assertRegex(
                line,
                r"^#   (rank [0-2] was last in \d+ % of 20 calls by -?[\d.]+ us(, none in "
                r"\d+ %)?|no rank was waited for in 20 calls); publish [\d.]+ us, "
                r"wait [\d.]+ us, collect [\d.]+ us "
                r"\(medians\); clocks within [\d.]+ us of rank 0's$",
            )

    def test_the_slow_rank_is_named(self):
        what = ("--bytes", "16", "-n", "1", "-w", "0", "--calls-per-graph", "2")
        for slow in (0, 2):
            flags = ("--algorithm", "lamport,overlapped", "--json", self.report, "--force")
            result = self.run_traced(*flags, what=what, binary=FAULTS, before=(slow, "-", "slow"))
            self.assertEqual(result.code, 0, result.stderr)
            for point in read_report(self.report)["points"]:
                self.assertEqual(point["trace"]["last_rank"], slow, point["trace"])
                self.assertEqual(point["straggler"], slow, point["trace"])
                self.assertEqual(point["straggler_share"], point["trace"]["last_calls"] / CALLS)
                self.assertIsNone(point["straggler_unknown"])

    def test_a_straggler_is_late(self):
        """In most calls, too, by more than the clock tells and than 5 % of the p50."""
        result = self.run_traced("--json", self.report)
        self.assertEqual(result.code, 0, result.stderr)
        traced = [point for point in read_report(self.report)["points"] if point["trace"]]
        self.assertEqual(len(traced), 2 * 2 * 2)
        for point in traced:
            trace = point["trace"]
            limit_us = max(trace["clock_step_us"], 0.05 * point["latency_us"]["p50"])
            often = trace["last_calls"] > CALLS / 2
            late = trace["last_by_us"] is not None and trace["last_by_us"] > limit_us
            self.assertEqual(point["straggler"], trace["last_rank"] if often and late else None)
            if often and not late:
                said = point["straggler_unknown"]
                self.assertIn(f"rank {trace['last_rank']} was last in ", said)
                self.assertIn(f" by {trace['last_by_us']:.3f} us only: ", said)

    def test_without_a_trace_nobody_is_named(self):
        what = ("--bytes", "16", "-n", "1", "-w", "0", "--calls-per-graph", "2")
        flags = ("--mode", "graph,eager,isolated", "--algorithm", "lamport", "--json", self.report)
        result = mpirun(RANKS, 2, "-", "slow", *HOST, *what, *flags, binary=FAULTS)
        self.assertEqual(result.code, 0, result.stderr)
        points = read_report(self.report)["points"]
        self.assertEqual(len(points), 3)
        for point in points:
            self.assertIsNone(point["straggler"])
            self.assertIn("--trace", point["straggler_unknown"])

    def test_isolated_points_are_not_traced(self):
        result = self.run_traced("--mode", "isolated,eager", "--json", self.report)
        self.assertEqual(result.code, 0, result.stderr)
        for why in (GATED, UNMARKED):
            self.assertEqual(result.stdout.count(f"#   not traced: {why}\n"), 1, result.stdout)
        self.assertEqual(result.stdout.count("not traced: "), 2)
        traced = {p["mode"] for p in read_report(self.report)["points"] if p["trace"]}
        self.assertEqual(traced, {"eager"})
        for point in read_report(self.report)["points"]:
            unknown = point["straggler_unknown"]
            if point["mode"] == "isolated":
                self.assertEqual(unknown, GATED)
            elif point["algorithm"] == "mpi":
                self.assertEqual(unknown, UNMARKED)
            if unknown:
                self.assertEqual((point["straggler"], point["straggler_share"]), (None, None))
        points = json.loads(self.trace.read_text())["otherData"]["points"]
        self.assertTrue(all("/eager/" in point["point"] for point in points))

    def test_what_cannot_be_written_is_refused_at_once(self):
        self.trace.write_text("mine")
        for arguments in ((), ("--json", self.report)):
            result = self.run_traced(*arguments)
            self.assertEqual((result.code, result.stdout), (2, ""))
            self.assertEqual(len(result.messages), 1)
            self.assertIn(f"trace {self.trace} exists", result.messages[0])
        self.assertEqual(self.trace.read_text(), "mine")
        self.assertEqual(self.run_traced("--force").code, 0)
        self.assertIn("traceEvents", json.loads(self.trace.read_text()))
        self.trace = self.directory / "missing/trace.json"
        result = self.run_traced()
        self.assertEqual((result.code, result.stdout), (2, ""))
        self.assertIn("No such file or directory", result.messages[0])

    def test_a_trace_of_nothing_is_refused_at_once(self):
        cases = (
            (("--mode", "isolated"), GATED),
            (("--l2", "cold"), "calls that find L2 cold are not traced"),
            (("--algorithm", "mpi"), "only lamport, overlapped"),
        )
        for flags, why in cases:
            with self.subTest(why):
                result = self.run_traced("--json", self.report, *flags)
                self.assertEqual((result.code, result.stdout, len(result.messages)), (2, "", 1))
                self.assertIn("--trace", result.messages[0])
                self.assertIn(why, result.messages[0])
                self.assertEqual(list(self.directory.iterdir()), [])

    def test_a_run_that_is_cut_short_leaves_no_trace(self):
        """A rank is killed after points that were traced."""
        result = self.run_traced(binary=FAULTS, before=("1", "mid-sweep", "kill"))
        self.assertNotEqual(result.code, 0)
        self.assertEqual(list(self.directory.iterdir()), [])
        self.assertEqual(left_behind(result.session), [])

    def test_nor_does_one_that_is_interrupted(self):
        arguments = [MPIEXEC, "-np", str(RANKS), BIN, *HOST, "--algorithm", "lamport"]
        arguments += ["--bytes", "16,1K,4K", "-n", "1000000", "--mode", "eager"]
        arguments += ["--trace", str(self.trace), "--json", str(self.report)]
        process = start(arguments)
        journal = Path(f"{self.report}.journal")
        while not journal.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.3)
        os.kill(processes(process.pid, BIN)[0], signal.SIGTERM)
        result = finish(process)
        self.assertEqual(len(result.messages), 1, result.stderr)
        self.assertEqual(read_report(self.report)["run"]["status"], "interrupted")
        self.assertFalse(self.trace.exists())
        self.assertEqual([p.name for p in self.directory.iterdir() if "trace" in p.name], [])
        # A trace of the other points alone would be taken for the whole run's.
        self.assertIn("--resume without --trace goes on", result.stderr)
        again = mpirun(RANKS, *arguments[4:])
        self.assertIn("go on with --resume without --trace", again.messages[0])
        refused = mpirun(RANKS, *arguments[4:], "--resume")
        self.assertEqual((refused.code, refused.stdout, len(refused.messages)), (2, "", 1))
        self.assertIn("--resume and --trace exclude each other", refused.messages[0])


if __name__ == "__main__":
    unittest.main()
