"""A rank that dies, never enters, is late or computes something wrong: the run ends by itself,
with a valid report that holds every finished point, and leaves no process behind."""

import os
import re
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from mpi_run import (
    BIN,
    FAULTS,
    MPIEXEC,
    finish,
    left_behind,
    mpirun,
    processes,
    read_report,
    start,
)

RANKS = 4
LAST = RANKS - 1
HOST = ("--transport", "host")
WHAT = (*HOST, "--algorithm", "lamport,mpi")
SHORT = ("--bytes", "16,1K", "-n", "5", "-w", "1", "--calls-per-graph", "3")
SIZES = (*WHAT, *SHORT)
POINTS = 2 * 2 * 2
HUNG = 4


class Faults(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.report = Path(directory.name) / "report.json"

    def strike(self, rank, where, action, *arguments, what=WHAT):
        result = mpirun(
            RANKS, rank, where, action, *what, *SHORT, "--json", self.report, *arguments,
            binary=FAULTS,
        )  # fmt: skip
        self.assertEqual(left_behind(result.session), [], "a process was left behind")
        return result

    def assert_hung(self, result, rank):
        """One diagnosis, which names the rank, and a report with every point of the table."""
        self.assertNotEqual(result.code, 0)
        self.assertEqual(len(result.messages), 1, result.stderr)
        self.assertRegex(result.messages[0], rf"\brank {rank}\b")
        report = read_report(self.report)
        self.assertEqual(report["run"]["status"], "hung")
        self.assertIn(f"rank {rank} ", report["run"]["reason"])
        rows = [line for line in result.stdout.splitlines() if re.match(r" +\d+ +\d+ ", line)]
        self.assertLessEqual(len(rows), len(report["points"]))
        return report["points"]

    def samples(self):
        points = read_report(self.report)["points"]
        return {str(point["latency_us"]["samples"]) for point in points}

    def resume(self):
        result = mpirun(RANKS, *SIZES, "--json", self.report, "--resume")
        self.assertEqual(result.code, 0, result.stderr)
        report = read_report(self.report)
        self.assertEqual((report["run"]["status"], len(report["points"])), ("passed", POINTS))
        return result

    def test_killed(self):
        finished = {"set-up": 0, "first-call": 0, "mid-sweep": 3}
        finished |= {"teardown": POINTS, "report": POINTS}
        for where, points in finished.items():
            for rank in (0, LAST):
                with self.subTest(where=where, rank=rank):
                    result = self.strike(rank, where, "kill", "--force")
                    self.assertEqual(len(self.assert_hung(result, rank)), points)
        self.resume()

    def test_while_the_transport_is_chosen(self):
        for rank, action, how, *arguments in (
            (0, "kill", "died"),
            (LAST, "kill", "died", "--dry-run"),
            (0, "never", "never came to"),
            (LAST, "never", "never came to", "--list"),
        ):
            with self.subTest(action=action, rank=rank):
                result = self.strike(rank, "transport", action, "--timeout", "2", *arguments)
                if action == "never":
                    self.assertEqual(result.code, HUNG)
                self.assertNotEqual(result.code, 0)
                self.assertEqual((len(result.messages), result.stdout), (1, ""))
                self.assertRegex(
                    result.messages[0],
                    rf"^mailbench: hung: rank {rank} {how}.* ago in set-up, in the choice of a "
                    "transport$",
                )
                self.assertFalse(self.report.exists())

    def test_in_teardown(self):
        result = self.strike(LAST, "teardown", "never", "--timeout", "2")
        self.assertEqual(result.code, HUNG)
        self.assertEqual(len(self.assert_hung(result, LAST)), POINTS)
        self.assertRegex(result.messages[0], r"teardown.*in MPI_Win_free")

    def test_resume_measures_only_what_is_missing(self):
        self.strike(LAST, "mid-sweep", "kill")
        before = self.samples()
        result = self.resume()
        rows = [line for line in result.stdout.splitlines() if re.match(r" +\d+ +\d+ ", line)]
        self.assertEqual((len(before), len(rows)), (3, POINTS - 3))
        self.assertLess(before, self.samples())
        # Nothing is missing any more; other settings are another run.
        self.assert_nothing_to_measure(0)
        other = mpirun(RANKS, *SIZES, "--json", self.report, "--resume", "--seed", "5")
        self.assertEqual(other.code, 2)
        self.assertIn("seed", other.messages[0])

    def assert_nothing_to_measure(self, code):
        before = self.report.read_text()
        result = mpirun(RANKS, *SIZES, "--json", self.report, "--resume")
        self.assertEqual((result.code, result.messages), (code, []))
        self.assertEqual(
            (self.report.read_text(), list(self.report.parent.iterdir())), (before, [self.report])
        )
        self.assertRegex(result.stdout, f"(?m)^# Nothing to measure: {self.report} is complete")
        self.assertIn(f"# Points: 0, and {POINTS} of an earlier run\n", result.stdout)

    def test_resume_says_when_there_is_nothing_to_resume(self):
        self.assertIn("# Nothing to resume: ", self.resume().stdout)
        self.report.unlink()
        listing = mpirun(RANKS, *SIZES, "--json", self.report, "--resume", "--dry-run").stdout
        self.assertIn("# Nothing to resume: ", listing)

    def test_a_rank_that_never_enters(self):
        for where, points in (("first-call", 0), ("mid-sweep", 3)):
            for rank in (0, LAST):
                with self.subTest(where=where, rank=rank):
                    result = self.strike(rank, where, "never", "--force", "--timeout", "2")
                    self.assertEqual(result.code, HUNG)
                    self.assertEqual(len(self.assert_hung(result, rank)), points)
                    self.assertRegex(result.messages[0], "never (entered call 1|came to where) ")

    def test_a_rank_that_is_stopped(self):
        result = self.strike(LAST, "mid-sweep", "stop", "--timeout", "2")
        self.assertEqual(len(self.assert_hung(result, LAST)), 3)

    def test_a_rank_that_is_late_passes(self):
        result = self.strike(LAST, "mid-sweep", "late", "--timeout", "30")
        self.assertEqual(result.code, 0, result.stderr)
        self.assertEqual(len(read_report(self.report)["points"]), POINTS)

    def test_a_flipped_bit_is_wrong_data(self):
        result = self.strike(2, "-", "flip")
        self.assertEqual(result.code, 5)
        report = read_report(self.report)
        self.assertEqual(report["run"]["status"], "wrong")
        for point in report["points"]:
            check = point["check"]
            if point["algorithm"] == "lamport":
                self.assertEqual(check["mismatches"], 0)
                continue
            # One word of each call that was compared, on one rank of four.
            self.assertEqual(check["mismatches"], check["calls"] // RANKS)
            self.assertRegex(check["first"], r"rank 2, call \d+: word 3 of rank 0's input")
            self.assertIn(check["first"], result.stdout)
        self.assert_nothing_to_measure(5)

    def test_a_word_left_in_the_mailbox_is_wrong_data(self):
        what = (*HOST, "--algorithm", "lamport,overlapped", "--mode", "eager")
        result = self.strike(1, "-", "leave", what=what)
        self.assertEqual(result.code, 5)
        report = read_report(self.report)
        self.assertEqual(report["run"]["status"], "wrong")
        for point in report["points"]:
            check = point["check"]
            self.assertEqual((check["mismatches"], check["leftover"]), (0, 1))
            self.assertIn("rank 1: 0x0000002a left in the mailbox: generation 2", check["first"])
            self.assertIn(check["first"], result.stdout)


class Signals(unittest.TestCase):
    """SIGTERM and SIGINT, to mpirun or to one rank: a valid report with status interrupted."""

    def interrupt(self, send, to_rank):
        with tempfile.TemporaryDirectory() as directory:
            report = Path(directory) / "report.json"
            arguments = [MPIEXEC, "-np", str(RANKS), BIN, *WHAT, "--bytes", "16,1K,4K"]
            arguments += ["-n", "1000000", "--mode", "eager", "--json", str(report)]
            process = start(arguments)
            journal = Path(f"{report}.journal")
            while not journal.exists() and process.poll() is None:
                time.sleep(0.01)
            time.sleep(0.3)
            os.kill(processes(process.pid, BIN)[0] if to_rank else process.pid, send)
            result = finish(process)
            self.assertNotEqual(result.code, 0)
            self.assertEqual(len(result.messages), 1, result.stderr)
            self.assertEqual(read_report(report)["run"]["status"], "interrupted")
            self.assertEqual(left_behind(result.session), [])

    def test_signals(self):
        for send in (signal.SIGTERM, signal.SIGINT):
            for to_rank in (False, True):
                with self.subTest(send=send, to_rank=to_rank):
                    self.interrupt(send, to_rank)

    def test_a_stress_leaves_nothing_to_resume(self):
        with tempfile.TemporaryDirectory() as directory:
            report = Path(directory) / "report.json"
            arguments = (*WHAT, "-e", "64", "--stress", "100000000", "--json", report)
            process = start([MPIEXEC, "-np", str(RANKS), BIN, *arguments])
            journal = Path(f"{report}.journal")
            while not journal.exists() and process.poll() is None:
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGTERM)
            result = finish(process)
            self.assertNotIn("--resume", result.stderr)
            self.assertEqual(list(Path(directory).iterdir()), [report])
            again = mpirun(RANKS, *arguments)
            self.assertEqual((again.code, len(again.messages)), (2, 1))
            self.assertIn("--force", again.messages[0])
            self.assertNotIn("--resume", again.messages[0])


@unittest.skipUnless(os.geteuid() == 0, "needs root: it mounts a small file system")
class Disks(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.disk = Path(directory.name)
        self.report = self.disk / "report.json"

    def mount(self, options):
        if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", self.disk]).returncode:
            self.skipTest("cannot mount a file system here")
        self.addCleanup(subprocess.run, ["umount", self.disk])

    def test_a_full_disk_keeps_the_earlier_points(self):
        self.mount("size=16k")
        many = (*WHAT, "--bytes", "16,32,48,64", "-n", "200", "-w", "1")
        result = mpirun(2, *many, "--json", self.report)
        self.assertEqual(result.code, 1, result.stderr)
        self.assertIn("No space left on device", result.stderr)
        self.assertIn(str(self.report), result.stderr)
        journal = Path(f"{self.report}.journal").read_text().splitlines()
        self.assertGreater(len(journal), 1)
        self.assertEqual(len(result.messages), 1, result.stderr)
        self.assertEqual(left_behind(result.session), [])

        subprocess.run(["mount", "-o", "remount,size=1m", str(self.disk)], check=True)
        result = mpirun(2, *many, "--json", self.report, "--resume")
        self.assertEqual(result.code, 0, result.stderr)
        self.assertIn(f"and {len(journal) - 1} of an earlier run", result.stdout)
        self.assertEqual(len(read_report(self.report)["points"]), 4 * 2 * 2)

    def test_a_read_only_directory_is_refused_before_the_sweep(self):
        self.mount("size=1m,ro")
        result = mpirun(2, "--bytes", "16", "--json", self.report)
        self.assertEqual(result.code, 2)
        self.assertEqual(len(result.messages), 1)
        self.assertIn("Read-only", result.messages[0])
        self.assertEqual(result.stdout, "")


if __name__ == "__main__":
    unittest.main()
