"""Bad input: one message, from rank 0, that names the thing; the exit code; nothing created."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from mpi_run import BIN, MPIEXEC, mpirun, run

USAGE, MACHINE = 2, 3


class BadInput(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def file(self, name, text):
        path = self.directory / name
        path.write_text(text)
        return str(path)

    def assert_refused(self, result, code, *named):
        self.assertEqual(result.code, code, result.stderr)
        self.assertEqual(len(result.messages), 1, result.stderr)
        for name in named:
            self.assertIn(name, result.messages[0])
        self.assertEqual(result.stdout, "")

    def test_flags(self):
        cases = [
            (["-n", "0"], "--iters", '"0"'),
            (["--bytes", "17"], "--bytes", '"17"'),
            (["--bytes", "0"], "--bytes", '"0"'),
            (["--bytes", "-16"], "--bytes", '"-16"'),
            (["--bytes", "100000000000000000000"], "--bytes", '"100000000000000000000"'),
            (["--bytes", "16,,32"], "--bytes", '"16,,32"'),
            (["--bytes", "64", "--capacity", "32"], "64", "capacity"),
            (["-b", "16", "-e", "8"], "--max-bytes"),
            (["-c", "2"], "--check", '"2"'),
            (["--frobnicate"], "--frobnicate"),
            (["--algorithm", "magic"], "--algorithm", '"magic"'),
            (["--transport", "pigeon"], "--transport", '"pigeon"'),
            (["--input", "upside-down"], "--input", '"upside-down"'),
            (["stray"], '"stray"'),
            (["--resume"], "--resume", "--json"),
            (["--list", "--dry-run"], "--list", "--dry-run"),
            (["--resume", "--trace", "trace.json"], "--resume", "--trace"),
            (["--stress", "100", "--mode", "graph"], "--stress", "--mode"),
            (["--stress", "100", "--l2", "hot"], "--stress", "--l2"),
            (["--stress", "100", "-n", "3", "--replays", "2"], "--iters", "--replays", "--stress"),
            (["--stress", "2M"], "--stress", '"2M"', "plain digits"),
            (["--bytes", "4G"], "bytes", "4294967296"),
            (["--bytes", "16", "--capacity", "9G"], "capacity", "9663676416"),
        ]
        for arguments, *named in cases:
            with self.subTest(arguments):
                report = (
                    () if arguments == ["--resume"] else ("--json", self.directory / "report.json")
                )
                self.assert_refused(mpirun(2, *arguments, *report), USAGE, *named)
                self.assertEqual(list(self.directory.iterdir()), [])

    def test_configs(self):
        cases = [
            ("not JSON", "config.json"),
            ('{"iters": "many"}', "iters"),
            ('{"iters": 5, "iters": 6}', "iters"),
            ('{"frobnicate": 1}', "frobnicate"),
            ('{"transport": 7}', "transport"),
            ("[]", "config.json"),
        ]
        for text, *named in cases:
            with self.subTest(text):
                config = self.file("config.json", text)
                report = self.directory / "report.json"
                self.assert_refused(mpirun(2, "--config", config, "--json", report), USAGE, *named)
                self.assertEqual(list(self.directory.iterdir()), [Path(config)])
        self.assert_refused(mpirun(2, "--config", self.directory), USAGE, "directory")
        self.assert_refused(mpirun(2, "--config", "/no/such/file"), USAGE, "/no/such/file")

    def test_report_paths(self):
        existing = self.file("there.json", "{}")
        nowhere = self.directory / "missing" / "report.json"
        cases = [
            ([existing], "there.json", "--force"),
            ([nowhere], "missing"),
            ([self.directory], str(self.directory)),
            (["/proc/report.json"], "/proc"),
        ]
        for (path,), *named in cases:
            with self.subTest(path):
                before = sorted(self.directory.rglob("*"))
                result = mpirun(2, "--bytes", "16", "--json", path)
                self.assert_refused(result, USAGE, *named)
                self.assertNotIn("rank 0", result.messages[0])
                self.assertEqual(sorted(self.directory.rglob("*")), before)
        self.assertEqual(Path(existing).read_text(), "{}")

    def test_an_algorithm_or_a_transport_that_cannot_run_here(self):
        for transport in ("unicast", "multicast"):
            self.assert_refused(mpirun(2, "--transport", transport), MACHINE, transport)

    def test_what_is_cold_on_the_host(self):
        result = mpirun(2, "--transport", "host", "--l2", "cold")
        self.assert_refused(result, MACHINE, "L2 cold", "caches of the host")

    def test_more_memory_than_the_host_has(self):
        report = self.directory / "report.json"
        result = mpirun(2, "--bytes", "16", "--capacity", "8G", "--json", report)
        self.assertEqual(result.code, MACHINE, result.stderr)
        self.assertEqual(len(result.messages), 1, result.stderr)
        self.assertIn("/dev/shm", result.messages[0])
        self.assertEqual(json.loads(report.read_text())["run"]["status"], "refused")

    def test_ranks_that_were_given_different_flags(self):
        command = [MPIEXEC, "-np", "2", BIN, "--seed", "1", ":", "-np", "1", BIN, "--seed", "2"]
        self.assert_refused(run(command), USAGE, "rank 2", "seed: 1 against 2")
        command = [MPIEXEC, "-np", "1", BIN, ":", "-np", "1", BIN, "--help"]
        self.assert_refused(run(command), USAGE, "rank 1", "--help")
        command = [MPIEXEC, "-np", "2", BIN, "--bytes", "16", ":", "-np", "1", BIN, "--bytes", "1"]
        self.assert_refused(run(command), USAGE, "rank 2", '"1"')

    @unittest.skipUnless(os.geteuid() == 0, "needs root: a host name of its own for a rank")
    def test_ranks_on_two_hosts(self):
        rename = f"hostname elsewhere; exec {BIN} --transport host"
        command = [MPIEXEC, "-np", "2", BIN, "--transport", "host"]
        command += [":", "-np", "1", "unshare", "--uts", "sh", "-c", rename]
        self.assert_refused(run(command), MACHINE, "host", "rank 2", "elsewhere")

    def test_an_environment_that_changes_how_points_run(self):
        result = mpirun(2, "--bytes", "16", environment={"BENCHMARK_REPETITIONS": "3"})
        self.assert_refused(result, USAGE, "BENCHMARK_REPETITIONS")


class WithoutMpirun(unittest.TestCase):
    def test_runs_as_one_rank_and_says_so(self):
        result = run([BIN, "--bytes", "16", "-n", "2"])
        self.assertEqual(result.code, 0, result.stderr)
        self.assertIn("without mpirun", result.stdout)

    def test_a_process_of_a_launcher_that_mpi_does_not_know_is_refused(self):
        cases = [
            ({"PMI_RANK": "1", "PMI_SIZE": "2"}, "2 processes"),
            ({"MV2_COMM_WORLD_RANK": "0", "MV2_COMM_WORLD_SIZE": "2"}, "2 processes"),
            (
                {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_ID": "0"},
                "2 processes",
            ),
            ({"PMIX_RANK": "1"}, "several processes"),
        ]
        for environment, count in cases:
            result = run([BIN, "--bytes", "16", "-n", "2"], environment)
            self.assertEqual((result.code, result.stdout), (MACHINE, ""))
            self.assertEqual(len(result.messages), 1, result.stderr)
            told = [f"{name}={value}" for name, value in environment.items()]
            for part in (*told[:2], count):
                self.assertIn(part, result.messages[0])

    def test_help_version_and_list(self):
        for flag, word in (("--help", "Usage"), ("--version", "mailbench "), ("--list", "lamport")):
            result = run([BIN, flag])
            self.assertEqual((result.code, result.stderr), (0, ""))
            self.assertIn(word, result.stdout)

    def test_help_under_mpirun_is_printed_once(self):
        result = mpirun(3, "--help")
        self.assertEqual(result.code, 0)
        self.assertEqual(result.stdout.count("Usage"), 1)


if __name__ == "__main__":
    unittest.main()
