"""--stress on the host machine with late multicast: who reads stale words, and who never does."""

import json
import os
import re
import signal
import tempfile
import time
import unittest
from pathlib import Path

from mpi_run import (
    BIN,
    FAULTS,
    MPIEXEC,
    ROOT,
    finish,
    left_behind,
    mpirun,
    processes,
    read_report,
    start,
)

LATE = ("--transport", "host-multicast", "-e", "2K")
# Here only the words of a rank that is stuck are missing: none of the others' is on its way.
PROMPT = ("--transport", "host", "-e", "2K")
STALE = ("mnnvl",)
MAILBOX = ("lamport", "overlapped")
# The three cells that do without one of the two decisions that the fault needs.
RIGHT = (
    *MAILBOX, "mpi", "mnnvl-register-capacity", "mnnvl-polled-callstride", "mnnvl-polled-capacity",
)  # fmt: skip
STORY = re.compile(
    r"rank (\d), call (\d+): word \d+ of rank (\d)'s input: expected 0x[0-9a-f]{8}, "
    r"seen 0x[0-9a-f]{8}, (.*)"
)
SLOW = os.environ.get("MAILBENCH_LARGEST")  # where sanitizers make everything slow
MANY = 2000 if SLOW else 20000
FEW = 2000
HUNG, WRONG = 4, 5


class Stress(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.report = Path(directory.name) / "report.json"

    def stress(self, ranks, calls, algorithms, *arguments, code, status):
        result = mpirun(
            ranks, "--stress", calls, "--algorithm", ",".join(algorithms), *arguments,
            "--json", self.report, "--force",
        )  # fmt: skip
        self.assertEqual(result.code, code, result.stdout + result.stderr)
        report = read_report(self.report)
        self.assertEqual((report["run"]["status"], report["points"]), (status, []))
        self.assertEqual([s["algorithm"] for s in report["stress"]], list(algorithms))
        for stress in report["stress"]:
            self.assertTrue(stress["finished"])
            self.assertGreaterEqual(stress["calls"], calls)
            self.assertLess(stress["calls"], calls + 20)
            self.assertEqual((stress["ranks"], len(stress["patterns"])), (ranks, 5))
        return report, result

    def test_mnnvl_reads_stale_words(self):
        for ranks in (3, 4):
            with self.subTest(ranks):
                report, result = self.stress(ranks, 20000, STALE, *LATE, code=5, status="wrong")
                self.assertEqual(report["environment"]["transport"], "host-multicast")
                self.assertIn("# Transport: host-multicast", result.stdout)
                for stress in report["stress"]:
                    self.assertEqual(stress["transport"], "host-multicast")
                    self.assertGreater(stress["wrong_calls"], 0)
                    self.assertGreaterEqual(stress["mismatches"], stress["wrong_calls"])
                    story = STORY.fullmatch(stress["first"])
                    self.assertIsNotNone(story, stress["first"])
                    self.assertIn(stress["first"], result.stdout)
                    # Another rank's word was expected than the rank's own, which was kept in a
                    # register; seen was one of its own, of an earlier call, where it can be told.
                    reader, call, source, what = story.groups()
                    self.assertNotEqual(reader, source)
                    origin = re.match(r"which is word \d+ of rank (\d)'s input of call (\d+)", what)
                    if origin:
                        self.assertEqual(origin[1], reader)
                        self.assertLess(int(origin[2]), int(call))

    def test_the_others_never_do(self):
        for ranks, calls, right in ((4, MANY, MAILBOX), (3, FEW, RIGHT), (1, FEW, RIGHT)):
            with self.subTest(ranks):
                report, _ = self.stress(ranks, calls, right, *LATE, code=0, status="passed")
                for stress in report["stress"]:
                    self.assertEqual((stress["wrong_calls"], stress["mismatches"]), (0, 0))
                    self.assertGreater(stress["compared"], stress["calls"] * ranks * ranks * 4)
                    # Three generations of a slot a rank, in each rank's mailbox.
                    mailbox = 3 * ranks * 2048 // 4 if stress["algorithm"] in MAILBOX else 0
                    self.assertEqual((stress["audited"], stress["leftover"]), (ranks * mailbox, 0))
                    self.assertIsNone(stress["first"])

    def test_without_late_copies_there_is_no_stale_word(self):
        for layout in ("aligned", "strided"):
            self.stress(3, FEW, STALE, *PROMPT, "--input", layout, code=0, status="passed")

    def test_a_sweep_is_right_too(self):
        config = ROOT / "configs/quick/lamport_all_gather.json"
        result = mpirun(3, *LATE, "--config", config, "-n", "3", "--json", self.report)
        self.assertEqual(result.code, 0, result.stdout + result.stderr)
        for point in read_report(self.report)["points"]:
            self.assertEqual(point["transport"], "host-multicast")

    def cut_short(self, algorithms, strike, *arguments, found):
        """A stress of three ranks that is struck once `found` matches its journal."""
        journal = Path(f"{self.report}.journal")
        process = start(
            [MPIEXEC, "-np", "3", BIN, *LATE, "--stress", "160000", "--algorithm", algorithms,
             "--json", str(self.report), *arguments]
        )  # fmt: skip
        while process.poll() is None:
            if journal.exists() and re.search(found, journal.read_text()):
                break
            time.sleep(0.02)
        strike(process)
        result = finish(process)
        self.assertEqual(left_behind(result.session), [])
        self.assertIn("holds what was found", result.stderr)
        report = read_report(self.report)
        self.assertIn(report["run"]["reason"], result.stderr)
        return result, report

    def test_a_signal_keeps_what_was_found(self):
        result, report = self.cut_short(
            "lamport,overlapped", lambda process: os.kill(process.pid, signal.SIGINT),
            found=r'"calls":[1-9]',
        )  # fmt: skip
        self.assertEqual(report["run"]["status"], "interrupted")
        begun, other = report["stress"]
        self.assertGreaterEqual(begun["calls"], 10000)
        self.assertEqual([begun["finished"], other["finished"]], [False, False])
        self.assertEqual((other["algorithm"], other["calls"]), ("overlapped", 0))
        reason = report["run"]["reason"]
        self.assertRegex(reason, r" in calls? .*\(stress of lamport\)")
        self.assertIn(
            f"found by then: no wrong call (lamport 0 of {begun['calls']}, overlapped none on "
            "record)",
            reason,
        )

    def test_wrong_calls_are_worse_than_a_signal(self):
        result, report = self.cut_short(
            "mnnvl,mnnvl-register-callstride",
            lambda process: os.kill(processes(process.pid, BIN)[0], signal.SIGTERM),
            found=r'"wrong_calls":[1-9]',
        )
        self.assertEqual(result.code, WRONG, result.stderr)
        self.assertEqual(report["run"]["status"], "wrong")
        self.assertEqual([s["calls"] > 0 for s in report["stress"]], [True, False])
        self.assertRegex(report["run"]["reason"], "^rank [012] received SIGTERM ")
        self.assert_told(report)

    def test_a_hang_is_worse_than_wrong_calls(self):
        result, report = self.cut_short(
            "mnnvl,mnnvl-register-callstride",
            lambda process: os.kill(processes(process.pid, BIN)[0], signal.SIGSTOP),
            "--timeout", "2", found=r'"wrong_calls":[1-9]',
        )  # fmt: skip
        self.assertEqual(result.code, HUNG, result.stderr)
        self.assertEqual(report["run"]["status"], "hung")
        self.assert_told(report)

    def assert_told(self, report):
        found = report["stress"][0]
        self.assertRegex(
            report["run"]["reason"],
            rf"found by then: {found['wrong_calls']} wrong calls? \(mnnvl "
            rf"{found['wrong_calls']} of {found['calls']}, .*-callstride none on record\)",
        )

    def test_a_planted_fault_is_told_exactly(self):
        for ranks, struck, call, transport in ((3, 1, 777, "host-multicast"), (2, 0, 0, "host")):
            with self.subTest(ranks):
                result = mpirun(
                    ranks, struck, call, "plant", "--transport", transport, "-e", "2K",
                    "--stress", FEW, "--algorithm", "lamport,mpi", "--json", self.report, "--force",
                    binary=FAULTS,
                )  # fmt: skip
                self.assertEqual(result.code, WRONG, result.stdout + result.stderr)
                found, clean = read_report(self.report)["stress"]
                self.assertEqual((clean["wrong_calls"], clean["wrong_words"]), (0, []))
                self.assertEqual((found["wrong_calls"], found["mismatches"]), (1, 1))
                (word,) = found["wrong_words"]
                seen = int(word["seen"][3], 16)
                self.assertEqual(seen ^ int(word["expected"], 16), 1 << 7)
                self.assertEqual(
                    {key: word[key] for key in ("call", "rank", "word")},
                    {"call": call, "rank": struck, "word": 3},
                )
                # It is pack `ranks - 1` of the output.
                places = [divmod(ranks - 1, size // 16) for size in (16, 32, 2048)]
                self.assertIn((word["source"], word["pack"]), places)
                self.assertIn(
                    f"rank {struck}, call {call}: word {4 * word['pack'] + 3} of "
                    f"rank {word['source']}'s input: ",
                    found["first"],
                )

    def test_a_rank_that_stops_launching_is_named(self):
        for ranks, struck, algorithm in ((3, 2, "lamport"), (2, 0, "overlapped")):
            with self.subTest(ranks):
                result = mpirun(
                    ranks, struck, "mid-stress", "never", *PROMPT, "--stress", MANY,
                    "--algorithm", algorithm, "--timeout", 3, "--json", self.report, "--force",
                    binary=FAULTS,
                )  # fmt: skip
                self.assertEqual(result.code, HUNG, result.stdout + result.stderr)
                self.assertEqual(left_behind(result.session), [])
                report = read_report(self.report)
                self.assertEqual(report["run"]["status"], "hung")
                self.assertRegex(
                    report["run"]["reason"],
                    rf"mailbox, generation \d: slots of rank {struck} are still sentinel",
                )
                self.assertIn(f"(stress of {algorithm})", report["run"]["reason"])
                (stress,) = report["stress"]
                self.assertFalse(stress["finished"])
                self.assertGreater(stress["calls"], 0)
                self.assertEqual(stress["wrong_calls"], 0)

    def test_a_rank_that_is_stopped_is_named(self):
        for struck in range(3):
            with self.subTest(struck):
                result = mpirun(
                    3, struck, "mid-stress", "stop", *PROMPT, "--stress", MANY,
                    "--algorithm", "lamport", "--timeout", 2, "--json", self.report, "--force",
                    binary=FAULTS,
                )  # fmt: skip
                self.assertEqual(left_behind(result.session), [])
                reason = read_report(self.report)["run"]["reason"]
                self.assertRegex(reason, rf"^rank {struck} is stopped \(process \d+\): last seen ")
                self.assertRegex(
                    reason, rf"generation \d: slots of rank {struck} are still sentinel"
                )

    def test_a_device_that_never_returns_is_named(self):
        result = mpirun(
            3, 1, "-", "endless", *PROMPT, "--stress", MANY,
            "--algorithm", "lamport", "--timeout", 3, "--json", self.report, binary=FAULTS,
        )  # fmt: skip
        self.assertEqual(result.code, HUNG, result.stdout + result.stderr)
        self.assertEqual(left_behind(result.session), [])
        reason = read_report(self.report)["run"]["reason"]
        self.assertRegex(reason, "^rank 1 never entered call ")
        self.assertRegex(reason, r"generation \d: slots of rank 1 are still sentinel")

    def test_a_seed_draws_the_same_again(self):
        calls = set()
        for seed in (1, 1, 2):
            report, _ = self.stress(
                2, FEW, ("lamport",), *LATE, "--seed", seed, code=0, status="passed"
            )
            (stress,) = report["stress"]
            calls.add((seed, stress["calls"], stress["compared"]))
            self.assertGreater(stress["bare_us"], 0)
            self.assertGreater(stress["verified_us"], 0)
        self.assertEqual(len(calls), 2)

    def test_ready_configs(self):
        ready = sorted((ROOT / "configs/stress").glob("lamport_all_gather.*.json"))
        self.assertGreaterEqual(len(ready), 3)
        for config in ready:
            with self.subTest(config.name):
                wanted = json.loads(config.read_text())
                result = mpirun(2, "--config", config, "--transport", "host", "--dry-run")
                self.assertEqual(result.code, 0, result.stderr)
                planned = re.findall(r"(?m)^stress of (\S+): at least (\d+) calls", result.stdout)
                self.assertEqual(planned, [(a, str(wanted["stress"])) for a in wanted["algorithm"]])

    def test_what_would_run(self):
        listing = mpirun(2, *LATE, "--stress", "500", "--dry-run", "--algorithm", "lamport").stdout
        self.assertRegex(
            listing,
            r"(?m)^stress of lamport: at least 500 calls, of 8 sizes from bytes=16 to bytes=2048, "
            r"up to 10 in a graph; buffers of up to 192\.0 KiB a rank, estimated duration .* s$",
        )
        self.assertIn("# Memory a rank: 12.0 KiB symmetric (lamport 12.0 KiB), and", listing)
        self.assertRegex(mpirun(2, "--list").stdout, r"(?m)^  host-multicast$")


if __name__ == "__main__":
    unittest.main()
