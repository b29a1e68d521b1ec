"""Ranks on two hosts: who is where, why what needs one host is refused, what is shared across
hosts, and what becomes of the ranks of one host when the other one goes.

usage: two_hosts_test.py TWO_HOSTS_TEST_PROGRAM WATCHDOG_TEST_PROGRAM [FAKE_DRIVER_PROGRAM]

Where two hosts cannot be made the test is skipped, with that as its reason (exit code 77).
"""

import json
import sys
import tempfile
import time
import unittest
from pathlib import Path

import two_hosts
from mpi_run import BIN, finish, read_report
from traces import assert_ranks_meet, read_trace

FACTS, WATCHED = "", ""  # programs
FAKE_DRIVER = None  # None where it was not built
A, B = two_hosts.TwoHosts.NAMES
RANKS = 4  # 0 and 1 on A, 2 and 3 on B
REFUSED = 3
ONE_HOST = f"it needs all ranks on one host: rank 0 is on {A}, rank 2 on {B}"


class TwoHosts(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="mb")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.hosts = two_hosts.TwoHosts(self.directory)
        self.addCleanup(self.hosts.close)

    def start(self, *command):
        return self.hosts.start(RANKS // 2, *command)

    def assert_nobody_is_left(self):
        self.assertEqual(self.hosts.close(), [], "a process was left behind")
        self.assertFalse(self.hosts.alive(), "a host was left behind")


class Facts(TwoHosts):
    def test_ranks_are_grouped_by_host(self):
        result = finish(self.start(FACTS))
        self.assertEqual(result.code, 0, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(sorted(line["rank"] for line in lines), list(range(RANKS)))
        for line in lines:
            hosts = [{"name": A, "ranks": [0, 1]}, {"name": B, "ranks": [2, 3]}]
            self.assertEqual(line["hosts"], hosts)
            self.assertEqual(line["ranks_here"], [0, 1] if line["rank"] < 2 else [2, 3])
            self.assertIn("ranks on several hosts", line["fds"])
        self.assert_nobody_is_left()

    def refusal(self, *arguments):
        """What rank 0 said, and nobody else."""
        result = finish(self.start(BIN, *arguments))
        self.assertEqual(result.code, REFUSED, result.stderr)
        self.assertEqual(len(result.messages), 1, result.stderr)
        self.assert_nobody_is_left()
        return result.messages[0]

    def test_host_is_refused(self):
        refusal = self.refusal("--transport", "host")
        self.assertEqual(refusal, f"mailbench: transport host cannot run here: {ONE_HOST}")

    def test_auto_says_why_host_is_not_taken(self):
        self.assertIn(f"host: {ONE_HOST}", self.refusal())


class AcrossHosts(TwoHosts):
    """Over the fake driver, where file descriptors cannot go: by FABRIC handles."""

    def setUp(self):
        super().setUp()
        if FAKE_DRIVER is None:
            self.skipTest("built without CUDA's headers")

    def start_fake(self, fault, *arguments, algorithms="lamport,overlapped", sizes="16,1K"):
        allowed = ("env", "MAILBENCH_MULTICAST=1", "NCCL_NVLS_ENABLE=1")
        run = ("--algorithm", algorithms, "--bytes", sizes)
        return self.start(*allowed, FAKE_DRIVER, fault, *run, *arguments)

    def run_fake(self, fault, *arguments, **points):
        few = ("-n", 2, "-w", 0, "--calls-per-graph", 3)
        return finish(self.start_fake(fault, *few, *arguments, **points))

    def test_memory_is_shared(self):
        for transport in ("multicast", "unicast"):
            with self.subTest(transport):
                path = self.directory / f"{transport}.json"
                # Isolated calls wait at latches that lie on either host.
                modes = ("graph", "isolated", "eager")
                result = self.run_fake(
                    "-", "--transport", transport, "--mode", ",".join(modes), "-J", path
                )
                self.assertEqual(result.code, 0, result.stdout + result.stderr)
                self.assertNotIn("fake driver:", result.stderr)
                report = read_report(path)
                self.assertEqual([h["name"] for h in report["environment"]["hosts"]], [A, B])
                self.assertEqual(report["environment"]["transport"], transport)
                self.assertEqual({p["check"]["mismatches"] for p in report["points"]}, {0})
                self.assertEqual({p["mode"] for p in report["points"]}, set(modes))
        self.assert_nobody_is_left()

    def test_a_trace_brings_the_clocks_of_both_hosts_together(self):
        path = self.directory / "trace.json"
        traced = ("--transport", "unicast", "--mode", "graph", "--trace", path)
        result = self.run_fake("-", *traced, algorithms="lamport", sizes="1K")
        self.assertEqual(result.code, 0, result.stdout + result.stderr)
        trace = read_trace(path)
        assert_ranks_meet(self, trace, RANKS)
        (point,) = trace.points
        here, there = point["clocks"][: RANKS // 2], point["clocks"][RANKS // 2 :]
        self.assertEqual({clock["clock"] for clock in here}, {f"CLOCK_MONOTONIC of {A}"})
        self.assertEqual({clock["clock"] for clock in there}, {f"CLOCK_MONOTONIC of {B}"})
        self.assertEqual({clock["offset_ns"] for clock in here}, {0})
        for clock in there:
            # Measured through messages; in truth there is none, for both hosts have one kernel.
            self.assertGreater(clock["error_ns"], max(c["error_ns"] for c in here))
            self.assertLessEqual(abs(clock["offset_ns"]), clock["error_ns"])
        self.assert_nobody_is_left()

    def test_without_a_channel_it_is_refused(self):
        for transport in ("multicast", "unicast"):
            with self.subTest(transport):
                result = self.run_fake("no-channel:3", "--transport", transport)
                self.assertEqual(result.code, REFUSED, result.stderr)
                self.assertEqual(len(result.messages), 2, "one a host")
                for message in result.messages:
                    self.assertIn(f"rank 3 on {B}: cuMemCreate failed", message)
                    self.assertIn("needs an IMEX channel", message)
        self.assert_nobody_is_left()

    def test_hosts_of_two_domains_are_refused(self):
        result = self.run_fake("elsewhere:3", "--transport", "unicast")
        self.assertEqual(result.code, REFUSED, result.stderr)
        (message,) = result.messages
        self.assertIn(f"ranks 0, 1 on {A}", message)
        self.assertIn(f"rank 3 on {B}", message)
        self.assert_nobody_is_left()

    def test_a_host_that_dies_in_the_middle_of_gathers(self):
        path = self.directory / "stress.json"
        process = self.start_fake(
            "-", "--transport", "multicast", "--stress", 10_000_000, "-T", 200, "-J", path
        )
        self.wait_for_head(process)
        time.sleep(1)  # some thousands of calls
        self.assertIsNone(process.poll())
        self.hosts.hosts[1].kill()
        result = finish(process)
        self.assertNotEqual(result.code, 0)
        report = read_report(path)
        self.assertEqual(report["environment"]["transport"], "multicast")
        self.assertEqual([h["name"] for h in report["environment"]["hosts"]], [A, B])
        # The launcher, which sees the death first, ends the ranks that are left.
        self.assertEqual(report["run"]["status"], "interrupted")
        self.assertRegex(
            report["run"]["reason"],
            r"^rank [01] received SIGTERM in calls? [1-9].* \(stress of lamport\)",
        )
        self.assert_nobody_is_left()

    def wait_for_head(self, process):
        """Until rank 0 has printed what stands above the table: the calls come next."""
        for line in process.stdout:
            if line.startswith("#algorithm"):
                return
        self.fail(finish(process).stderr)


class Deaths(TwoHosts):
    """A run of the harness in miniature."""

    def start_run(self, *arguments, timeout):
        """Returns when all ranks are under way."""
        marks = self.directory / "marks"
        process = self.start(
            WATCHED, "--report", self.directory / "report", "--marks", marks,
            "--timeout", timeout, "--calls", 1000000, *arguments,
        )  # fmt: skip
        while process.poll() is None:
            if marks.exists() and marks.read_text().count("ready ") == RANKS:
                break
            time.sleep(0.05)
        return process

    def endings(self):
        """(exit code, status, reason) of each host that wrote a report."""
        lines = (self.directory / "report").read_text().splitlines()
        return sorted(tuple(line.split(" ", 3)[1:]) for line in lines)

    def assert_interrupted(self, ending, ranks):
        """The launcher, which sees the death first, ends the ranks that are left."""
        code, status, reason = ending
        self.assertEqual((code, status), ("1", "interrupted"))
        self.assertRegex(reason, rf"^rank [{ranks}] received SIGTERM in call \d+ ")

    def check_death(self, dies, ranks):
        process = self.start_run(timeout=200)
        self.hosts.hosts[dies].kill()
        self.assertNotEqual(finish(process).code, 0)
        while self.ranks_alive():
            time.sleep(0.05)
        (ending,) = self.endings()
        self.assert_interrupted(ending, ranks)
        self.assert_nobody_is_left()

    def test_a_host_that_dies(self):
        self.check_death(1, "01")

    def test_the_host_of_the_launcher_dies(self):
        self.check_death(0, "23")

    def test_a_rank_that_dies_is_named_by_its_own_host(self):
        process = self.start_run("--fault", "kill", "--rank", 3, "--at", 17, timeout=200)
        self.assertNotEqual(finish(process).code, 0)
        interrupted, hung = self.endings()
        self.assert_interrupted(interrupted, "01")
        self.assertEqual(hung[:2], ("4", "hung"))
        self.assertTrue(hung[2].startswith("rank 3 died "), hung)
        self.assert_nobody_is_left()

    def test_a_link_that_is_cut(self):
        """Nobody is told of it: each host finds that its own ranks do not move."""
        process = self.start_run(timeout=5)
        self.hosts.cut()
        while process.poll() is None and self.ranks_alive():
            time.sleep(0.05)
        for ranks, (code, status, reason) in zip(("0, 1", "2, 3"), self.endings(), strict=True):
            self.assertEqual((code, status), ("4", "hung"))
            self.assertTrue(reason.startswith(f"ranks {ranks} are all in call "), reason)
        # mpirun waits for its daemon on the other host, for as long as its system keeps the
        # connection: nothing of the suite runs any more.
        for host in self.hosts.hosts:
            host.kill()
        finish(process)
        self.assert_nobody_is_left()

    def ranks_alive(self):
        return any(host.processes(WATCHED) for host in self.hosts.hosts)


if __name__ == "__main__":
    two_hosts.as_root(__file__)
    if reason := two_hosts.missing():
        print(f"skipped: {reason}")
        sys.exit(77)
    FACTS, WATCHED, *others = sys.argv[1:]
    FAKE_DRIVER = others[0] if others else None
    unittest.main(argv=sys.argv[:1])
