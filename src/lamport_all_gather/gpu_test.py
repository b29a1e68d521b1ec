"""Real processes on GPUs, over the transport unicast: every result right, every fault ended.

usage: gpu_test.py PART RANKS

Without a GPU the test is skipped, with that as its reason (exit code 77). Ranks beyond the number
of GPUs share them under an MPS daemon of the test's own.
"""

import ctypes
import os
import sys
import tempfile
import unittest
from pathlib import Path

from gpus import ranks_per_gpu, run_on_gpus, skip_without_gpu
from mpi_run import FAULTS, left_behind, read_report
from traces import assert_ranks_meet, read_trace

RANKS = 1
MAILBOX = ("lamport", "overlapped")
HUNG = 4
SAMPLES = ("-n", "5", "-w", "1")


def nccl_can_run():
    """Whether NCCL is here, in a version that takes as many ranks a GPU."""
    try:
        library = ctypes.CDLL(os.environ.get("MAILBENCH_NCCL") or "libnccl.so.2")
    except OSError:
        return False
    version = ctypes.c_int()
    library.ncclGetVersion(ctypes.byref(version))
    return ranks_per_gpu(RANKS) == 1 or version.value >= 23003


class Gpu(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.report = Path(directory.name) / "report.json"

    def run_ranks(self, *arguments, **options):
        """As run_on_gpus."""
        quick = () if "--stress" in arguments else SAMPLES  # a stress has none
        return run_on_gpus(
            RANKS, *arguments, *quick, "--calls-per-graph", "7", "--json", self.report, "--force",
            **options,
        )  # fmt: skip

    def sweep(self, *arguments, **options):
        result = self.run_ranks(*arguments, **options)
        self.assertEqual(result.code, 0, result.stdout + result.stderr)
        report = read_report(self.report)
        self.assertEqual(report["run"]["status"], "passed")
        for point in report["points"]:
            check = point["check"]
            self.assertEqual((check["mismatches"], check["leftover"]), (0, 0))
            self.assertEqual(
                check["compared"], check["calls"] * RANKS * point["bytes_per_rank"] // 4
            )
            # NCCL copies where there is one rank only.
            self.assertTrue(point["kernels"] or RANKS == 1)
            self.assertEqual(check["audited"] > 0, point["algorithm"] in MAILBOX)
        return report


class Results(Gpu):
    def test_every_size_is_right_or_refused_with_the_arithmetic(self):
        report = self.sweep("-b", "16", "-e", "512K", "-f", "2")
        reference = "nccl" if nccl_can_run() else "mpi"
        ran, left_out = set(), set()
        for point in report["points"]:
            self.assertEqual(point["check"]["reference"], reference)
            ran.add((point["algorithm"], point["bytes_per_rank"]))
            if point["algorithm"] == "nccl-symmetric" and RANKS > 1:
                self.assertRegex(point["kernels"][0]["name"], "^ncclSymk")
        for skip in report["skipped"]:
            if skip["shape"] is not None:
                self.assertRegex(skip["reason"], r"\d+ CTAs, and the GPU holds \d+ x \d+ = \d+")
                self.assertGreater(ranks_per_gpu(RANKS), 1)
                left_out.add((skip["algorithm"], skip["shape"]["bytes"]))
        sizes = {16 << i for i in range(16)}
        for algorithm in MAILBOX:
            done = {size for name, size in ran if name == algorithm}
            refused = {size for name, size in left_out if name == algorithm}
            self.assertEqual(done | refused, sizes)
            self.assertEqual(done & refused, set())
            self.assertLessEqual({16, 1024, 16384}, done)

    def test_every_mode_and_state_of_l2(self):
        modes = {"graph", "isolated", "eager"}
        report = self.sweep("--bytes", "16,4K", "--mode", ",".join(modes), "--l2", "hot,cold")
        self.assertEqual(
            {(p["mode"], p["l2"]) for p in report["points"]},
            {(mode, l2) for mode in modes for l2 in ("hot", "cold")},
        )
        for point in report["points"]:
            self.assertEqual(point["l2_evicted"] is not None, point["l2"] == "cold")
            self.assertEqual(point["calls_per_sample"], 7 if point["mode"] == "graph" else 1)
            self.assertEqual(point["latency_us"]["count"], 5)
            self.assertIs(type(point["warmup"]["steady"]), bool)
            self.assertGreater(point["latency_us"]["min"], 0)

    def test_inputs_that_are_copied_and_odd_sizes(self):
        for layout, copies in (("misaligned", 1), ("strided", 1)):
            with self.subTest(layout):
                report = self.sweep(
                    "--bytes", "1008,1040,4112", "--capacity", "8K", "--input", layout
                )
                for point in report["points"]:
                    if point["algorithm"] in MAILBOX:
                        self.assertEqual(point["input_copies_per_call"], copies)

    def test_known_bad_ones_when_they_are_named(self):
        # Without multicast the newer generation is right. The older one is not when it has peers.
        names = "mnnvl,mnnvl-register-capacity,mnnvl-polled-callstride,mnnvl-polled-capacity"
        if RANKS == 1:
            names += ",mnnvl-older"
        report = self.sweep("--bytes", "16,1008,4K", "--algorithm", names)
        self.assertEqual({p["algorithm"] for p in report["points"]}, set(names.split(",")))

    def test_a_known_bad_grid_that_does_not_fit_is_refused(self):
        # 8192 CTAs, which would all have to be resident at the same time.
        result = self.run_ranks("--bytes", "16M", "--algorithm", "mnnvl")
        self.assertEqual(result.code, 3)
        self.assertRegex(result.stderr, r"\d+ CTAs, and the GPU holds \d+ x \d+ = \d+")

    def test_arrivals_and_triggers(self):
        for arrival in ("relaxed", "acq_rel"):
            for trigger in ("wait", "publish"):
                with self.subTest(arrival=arrival, trigger=trigger):
                    self.sweep(
                        "--bytes", "16,4K", "--algorithm", "overlapped",
                        "--arrival", arrival, "--trigger", trigger,
                    )  # fmt: skip

    def test_without_nccl_the_reference_is_mpi(self):
        report = self.sweep("--bytes", "16", environment={"MAILBENCH_NCCL": "/nowhere/libnccl.so"})
        self.assertEqual({p["algorithm"] for p in report["points"]}, set(MAILBOX))
        self.assertEqual({p["check"]["reference"] for p in report["points"]}, {"mpi"})
        reasons = {skip["algorithm"]: skip["reason"] for skip in report["skipped"]}
        self.assertIn("/nowhere/libnccl.so", reasons["nccl"])
        self.assertIn("/nowhere/libnccl.so", reasons["nccl-symmetric"])

    def test_without_mps_ranks_take_turns(self):
        if ranks_per_gpu(RANKS) == 1 or RANKS > 2:
            self.skipTest("for two ranks that share a GPU")
        result = self.run_ranks("--bytes", "16", "--algorithm", "lamport,overlapped", mps=False)
        self.assertEqual(result.code, 0, result.stdout + result.stderr)
        self.assertIn("without MPS", result.stdout)
        self.assertEqual(read_report(self.report)["run"]["status"], "passed")

    def test_more_ranks_than_a_gpu_may_have_are_refused(self):
        if ranks_per_gpu(RANKS) == 1:
            self.skipTest("there are enough GPUs")
        result = self.run_ranks(share=1, mps=False)
        self.assertEqual(result.code, 3)
        self.assertEqual(len(result.messages), 1, result.stderr)
        self.assertIn("--ranks-per-gpu", result.messages[0])


class Faults(Gpu):
    """A rank that is killed, and one that never launches: the others end by themselves, and the
    GPU can be used at once."""

    FEW = ("--bytes", "16,4K", "--timeout", "3")
    OURS = "lamport,overlapped"

    def strike(self, rank, where, action, algorithms, *arguments):
        faults = (rank, where, action, *self.FEW, "--algorithm", algorithms, *arguments)
        result = self.run_ranks(*faults, binary=FAULTS)
        self.assertEqual(left_behind(result.session), [], "a process was left behind")
        self.assertNotEqual(result.code, 0)
        if action in ("never", "endless"):
            self.assertEqual(result.code, HUNG)
        self.assertEqual(len(result.messages), 1, result.stderr)
        self.struck = report = read_report(self.report)
        self.assertEqual(report["run"]["status"], "hung")
        self.assertIn(report["run"]["reason"], result.stderr)
        self.sweep(*self.FEW, "--algorithm", self.OURS)
        return report["run"]["reason"]

    def assert_seen_in_a_mailbox(self, reason, rank):
        """Peers miss its words, or, where it died in a call, it did not collect theirs."""
        self.assertRegex(
            reason,
            rf"generation \d: slots of rank {rank} are still sentinel"
            rf"|\nrank {rank}'s mailbox, generation \d: every pack has arrived, and was not",
        )

    def test_before_a_call(self):
        for action in ("never", "kill"):
            for where in ("set-up", "first-call", "mid-sweep"):
                for rank in {0, RANKS - 1}:
                    with self.subTest(action=action, where=where, rank=rank):
                        reason = self.strike(rank, where, action, self.OURS)
                        self.assertRegex(reason, rf"^rank {rank}\b")

    def test_while_the_peers_are_in_the_call(self):
        for action in ("never", "kill"):
            for rank in {0, RANKS - 1}:
                with self.subTest(action=action, rank=rank):
                    reason = self.strike(rank, "launch", action, self.OURS)
                    self.assert_seen_in_a_mailbox(reason, rank)

    def test_in_a_stress(self):
        for action in ("never", "kill"):
            for rank in {0, RANKS - 1}:
                with self.subTest(action=action, rank=rank):
                    reason = self.strike(
                        rank, "mid-stress", action, self.OURS, "--stress", 20000
                    )  # fmt: skip
                    self.assert_seen_in_a_mailbox(reason, rank)
                    self.assertGreater(self.struck["stress"][0]["calls"], 0)

    def test_a_device_that_never_returns(self):
        rank = RANKS - 1
        for arguments in ((), ("--stress", 10**6)):
            with self.subTest(arguments):
                reason = self.strike(rank, "-", "endless", self.OURS, *arguments)
                self.assert_seen_in_a_mailbox(reason, rank)

    def test_while_the_peers_are_in_a_kernel_of_nccl(self):
        if not nccl_can_run():
            self.skipTest("NCCL cannot run here")
        for algorithm in ("nccl", "nccl-symmetric"):
            with self.subTest(algorithm):
                self.strike(RANKS - 1, "launch", "never", algorithm)


class Traces(Gpu):
    FEW = ("--bytes", "16,2K", "--algorithm", "lamport,overlapped")
    CALLS = 20  # traced of a point

    def setUp(self):
        super().setUp()
        self.trace = self.report.with_name("trace.json")

    def traced(self, *arguments, **options):
        """The report and the trace of a run in which every point was traced."""
        report = self.sweep(*arguments, *self.FEW, "--trace", self.trace, **options)
        trace = read_trace(self.trace)
        self.assertEqual(len(trace.points), len(report["points"]))
        self.assertEqual(len(trace.calls), len(report["points"]) * self.CALLS)
        for point in report["points"]:
            self.assertEqual(point["trace"]["calls"], self.CALLS)
        return report, trace

    def test_a_file_with_every_call_of_every_rank(self):
        report, trace = self.traced("--mode", "graph,eager")
        self.assertEqual({p["mode"] for p in report["points"]}, {"graph", "eager"})
        assert_ranks_meet(self, trace, RANKS)
        for point in trace.points:
            names = [clock["clock"] for clock in point["clocks"]]
            gpus = -(-RANKS // ranks_per_gpu(RANKS))
            self.assertEqual(len(set(names)), gpus, "a clock a GPU")
            for clock in point["clocks"]:
                self.assertGreater(clock["error_ns"], 0)
                if clock["clock"] == names[0]:
                    self.assertEqual(clock["offset_ns"], 0)

    def test_the_slow_rank_is_named(self):
        # In a graph: launches by hosts lie further apart than the delay.
        for slow in {0, RANKS - 1}:
            with self.subTest(slow=slow):
                report, _ = self.traced(slow, "-", "slow", "--mode", "graph", binary=FAULTS)
                for point in report["points"]:
                    trace = point["trace"]
                    self.assertEqual(trace["last_rank"], slow, trace)
                    self.assertGreater(trace["last_calls"], self.CALLS / 2, trace)
                    self.assertEqual(point["straggler"], slow, point["straggler_unknown"])


if __name__ == "__main__":
    RANKS = int(sys.argv.pop())
    PART = sys.argv.pop()
    skip_without_gpu()
    if PART != "Results" and RANKS == 1:
        sys.exit("usage: faults and traces need two ranks or more")
    unittest.main(defaultTest=PART)
