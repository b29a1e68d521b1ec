"""lamport_all_gather --transport multicast and unicast, whole, over the fake driver: what it does
where all is well, and what becomes of all ranks when the driver fails or never returns on one.

usage: fake_driver_test.py FAKE_DRIVER_PROGRAM
"""

import os
import re
import sys
import tempfile
import unittest
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mpi_run

PROGRAM = ""
RANKS = 3
FAILED_RANK = 1
SLOW = os.environ.get("MAILBENCH_LARGEST")  # where sanitizers make everything slow
SMALL_STRESS = 1000 if SLOW else 5000
REFUSED, HUNG, WRONG, BREACH = 3, 4, 5, 9
ALLOWED = {"MAILBENCH_MULTICAST": "1", "NCCL_NVLS_ENABLE": "1"}
SMALL = ("--bytes", "16,1K", "-n", 2, "-w", 0, "--calls-per-graph", 3)
# What a rank other than 0 asks of the driver to get a multicast region, and to give it back. The
# number of the call, from 0: of those that are made several times, the first and the last one.
SET_UP = (
    "cuMemGetAllocationGranularity:0", "cuMulticastGetGranularity:0", "cuMemCreate:0",
    "cuMemAddressReserve:0", "cuMemMap:0", "cuMemSetAccess:0", "cuMemsetD32:0",
    "cuCtxSynchronize:0", "cuMemExportToShareableHandle:0", "cuMemImportFromShareableHandle:0",
    "cuMemImportFromShareableHandle:2", "cuMemMap:2", "cuDeviceGet:0", "cuMulticastAddDevice:0",
    "cuMulticastBindMem:0", "cuMemAddressReserve:3", "cuMemMap:3", "cuMemSetAccess:3",
)  # fmt: skip
TEARDOWN = (
    "cuCtxSynchronize:1", "cuMemUnmap:0", "cuMemAddressFree:0", "cuMulticastUnbind:0",
    "cuMemRelease:0", "cuMemUnmap:3", "cuMemRelease:3",
)  # fmt: skip
# A stall takes a time-out: the rest is swept by region_sweep_test, without processes.
STALLS = (
    "cuMemCreate:0", "cuMemImportFromShareableHandle:2", "cuMulticastAddDevice:0",
    "cuMulticastBindMem:0", "cuMemMap:3", "cuMulticastUnbind:0", "cuMemRelease:3",
)  # fmt: skip
# What rank 0 alone does: it makes the object and exports it.
ON_RANK_ZERO = ("0:cuMulticastCreate:0", "0:cuMemExportToShareableHandle:1")


def on_failed_rank(calls):
    return [f"{FAILED_RANK}:{call}" for call in calls]


def run(fault, *arguments, ranks=RANKS, environment=None):
    return mpi_run.mpirun(
        ranks, fault, *arguments, binary=PROGRAM, environment={**ALLOWED, **(environment or {})}
    )


def calls_by_rank(result):
    """What each rank called the fake driver for, and how often."""
    calls = {}
    for rank, text in re.findall(r"^rank (\d+): (.*)$", result.stdout, re.MULTILINE):
        calls[int(rank)] = Counter(
            {name: int(count) for name, count in re.findall(r"(\w+) (\d+) times", text)}
        )
    return calls


class FakeDriver(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def assert_passed(self, result):
        self.assertEqual(result.code, 0, result.stdout + result.stderr)
        self.assertNotIn("fake driver:", result.stderr)
        self.assertEqual(len(calls_by_rank(result)), RANKS)


class WhereAllIsWell(FakeDriver):
    def run_with_report(self, *arguments, environment=None):
        path = self.directory / "report.json"
        result = run("-", *SMALL, *arguments, "-J", path, environment=environment)
        self.assert_passed(result)
        return calls_by_rank(result), mpi_run.read_report(path)

    def test_multicast_makes_one_object_for_all_algorithms(self):
        calls, report = self.run_with_report("--transport", "multicast")
        self.assertEqual(report["environment"]["transport"], "multicast")
        points = report["points"]
        self.assertEqual({p["algorithm"] for p in points}, {"lamport", "overlapped", "mpi"})
        self.assertEqual({p["check"]["mismatches"] for p in points}, {0})
        for rank in range(RANKS):
            self.assertEqual(calls[rank]["cuMulticastCreate"], 1 if rank == 0 else 0)
            self.assertEqual(calls[rank]["cuMulticastBindMem"], 1)

    def test_unicast_makes_none(self):
        calls, report = self.run_with_report("--transport", "unicast")
        self.assertEqual(report["environment"]["transport"], "unicast")
        for rank in range(RANKS):
            self.assertEqual([name for name in calls[rank] if "Multicast" in name], [])
            self.assertEqual(calls[rank]["cuMemMap"], RANKS)

    def test_auto_tries_multicast_and_takes_it(self):
        calls, report = self.run_with_report()
        self.assertEqual(report["environment"]["transport"], "multicast")
        self.assertEqual(calls[0]["cuMulticastCreate"], 2)  # the trial, and the mailboxes

    def test_auto_says_that_multicast_is_forbidden(self):
        for variable in ALLOWED:
            with self.subTest(variable):
                calls, report = self.run_with_report("--force", environment={variable: "0"})
                self.assertEqual(report["environment"]["transport"], "unicast")
                (refused,) = report["environment"]["refused_transports"]
                self.assertEqual(refused["transport"], "multicast")
                self.assertIn(f"{variable}=0 forbids it", refused["reason"])
                for rank in range(RANKS):
                    self.assertEqual(calls[rank]["cuMulticastCreate"], 0)

    def test_the_known_bad_algorithm_is_wrong_and_the_subject_is_not(self):
        stress = ("--transport", "multicast", "--bytes", "16,1K", "--stress")
        self.assert_passed(run("-", "--algorithm", "lamport,overlapped", *stress, SMALL_STRESS))
        path = self.directory / "mnnvl.json"
        result = run("-", "--algorithm", "mnnvl", *stress, 20_000, "-J", path, ranks=4)
        self.assertEqual(result.code, WRONG, result.stdout + result.stderr)
        self.assertNotIn("fake driver:", result.stderr)
        self.assertGreater(mpi_run.read_report(path)["stress"][0]["wrong_calls"], 0)


class Refusals(FakeDriver):
    def assert_refused(self, result, *texts):
        self.assertEqual(result.code, REFUSED, result.stdout + result.stderr)
        self.assertEqual(len(result.messages), 1, result.stderr)
        for text in texts:
            self.assertIn(text, result.messages[0])

    def test_forbidden(self):
        for variable in ALLOWED:
            result = run("-", "--transport", "multicast", environment={variable: "0"})
            self.assert_refused(result, f"{variable}=0 forbids it")
            for calls in calls_by_rank(result).values():
                self.assertEqual(sum(calls.values()), 0)

    def test_ranks_of_two_domains(self):
        result = run("elsewhere:2", "--transport", "multicast")
        self.assert_refused(result, "ranks 0, 1 on ", "clique 1; rank 2 on ", "clique 2")

    def test_one_rank(self):
        self.assert_refused(run("-", "--transport", "multicast", ranks=1), "single rank")


class Faults(FakeDriver):
    def run_with_fault(self, kind, call, transport):
        """A run in which that call, "RANK:FUNCTION:NUMBER", goes wrong, and its report if any."""
        path = self.directory / f"{kind}-{call}-{transport}.json"
        flags = ("--transport", transport, "--algorithm", "lamport", *SMALL, "-T", 2)
        result = run(f"{kind}:{call}", *flags, "-J", path)
        return result, mpi_run.read_report(path) if path.exists() else None

    def outcome(self, kind, call):
        result, report = self.run_with_fault(kind, call, "multicast")
        # On a busy machine what became of the report is told later, in a line of its own.
        told = [line for line in result.messages if not line.startswith("mailbench: the report ")]
        with self.subTest(f"{kind} {call}"):
            self.assertEqual(len(told), 1, result.stderr)
        return call, result, report

    def assert_ended(self, outcomes, code, status, text):
        """All ranks alike, with a message like `text`, of rank and function."""
        for call, result, report in outcomes:
            rank, function, _ = call.split(":")
            with self.subTest(f"{status} {call}"):
                self.assertEqual(result.code, code, result.stderr)
                self.assertRegex(result.messages[0], text.format(rank=rank, function=function))
                self.assertEqual(report["run"]["status"], status)

    def test_an_error_of_any_call_ends_alike_on_all_ranks(self):
        calls = [*on_failed_rank(SET_UP + TEARDOWN), *ON_RANK_ZERO]
        text = "rank {rank}: {function} failed on rank {rank} on .*NOT_SUPPORTED"
        outcomes = [self.outcome("error", call) for call in calls]
        self.assert_ended(outcomes, REFUSED, "refused", text)
        print(f"{len(outcomes)} errors")

    def test_a_call_that_never_returns_ends_all_ranks(self):
        calls = [*on_failed_rank(STALLS), *ON_RANK_ZERO]
        with ThreadPoolExecutor() as pool:
            outcomes = list(pool.map(lambda call: self.outcome("stall", call), calls))
        self.assert_ended(outcomes, HUNG, "hung", "rank {rank} .*, in {function}")
        print(f"{len(outcomes)} stalls")

    def test_auto_goes_on_without_multicast_after_any_error_of_its_set_up(self):
        """And nothing is left of what it had made until then, which each rank looks for."""
        calls = [*on_failed_rank(SET_UP), *ON_RANK_ZERO]
        for call in calls:
            rank, function, _ = call.split(":")
            with self.subTest(call):
                result, report = self.run_with_fault("error", call, "auto")
                self.assert_passed(result)
                self.assertEqual(report["environment"]["transport"], "unicast")
                (refused,) = report["environment"]["refused_transports"]
                self.assertEqual(refused["transport"], "multicast")
                self.assertIn(f"{function} failed on rank {rank} on ", refused["reason"])
        print(f"{len(calls)} errors of the trial")

    def test_a_trial_that_is_not_given_back_ends_the_run(self):
        for call in on_failed_rank(("cuMulticastUnbind:0", "cuMemRelease:0")):
            with self.subTest(call):
                result, report = self.run_with_fault("error", call, "auto")
                # Whichever rank mpirun hears first: the failed one has something left.
                self.assertIn(result.code, (REFUSED, BREACH), result.stderr)
                self.assertIn("transport multicast cannot be given back", result.messages[0])
                self.assertIn(call.split(":")[1], result.messages[0])
                self.assertIn(f"fake driver: rank {FAILED_RANK} left ", result.stderr)
                self.assertIsNone(report)

    def test_a_trial_that_never_returns_ends_the_run(self):
        call = f"{FAILED_RANK}:cuMulticastBindMem:0"
        result, report = self.run_with_fault("stall", call, "auto")
        self.assertEqual(result.code, HUNG, result.stderr)
        self.assertRegex(result.messages[0], f"rank {FAILED_RANK} .* in set-up, in cuMulticastBind")
        self.assertIsNone(report)


class Listing(FakeDriver):
    def transports(self, fault, *arguments):
        """{name: the rest of its line} of --list."""
        result = run(fault, "--list", *arguments)
        self.assert_passed(result)
        text = result.stdout.partition("transports\n")[2]
        return dict(re.findall(r"^  ([a-z-]+)(.*)$", text, re.MULTILINE))

    def test_what_auto_has_refused_is_said_to_be_so(self):
        fault = f"error:{FAILED_RANK}:cuMulticastBindMem:0"
        listed = self.transports(fault)
        self.assertIn("cannot run here", listed["multicast"])
        self.assertIn("cuMulticastBindMem failed", listed["multicast"])
        self.assertEqual(listed["unicast"], "")

    def test_what_was_not_asked_for_is_tried(self):
        fault = f"error:{FAILED_RANK}:cuMulticastBindMem:0"
        listed = self.transports(fault, "--transport", "unicast")
        self.assertIn("cuMulticastBindMem failed", listed["multicast"])
        listed = self.transports("-", "--transport", "unicast")
        self.assertEqual(listed["multicast"], "")


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    for variable in ALLOWED:
        os.environ.pop(variable, None)
    unittest.main(argv=sys.argv[:1])
