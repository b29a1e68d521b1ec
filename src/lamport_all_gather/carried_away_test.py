"""A copy of the folder that the binary is in runs elsewhere: what it needs of the system is MPI and
the compiler's and C's libraries; the rest travels beside it or is linked statically."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from mpi_run import BIN, run

OF_THE_SYSTEM = re.compile(r"(libmpi|libstdc\+\+|libgcc_s|libc|libm|ld-linux-.*)\.so\.\d+$")


class CarriedAway(unittest.TestCase):
    def test_runs_from_a_copy_of_its_folder(self):
        with tempfile.TemporaryDirectory() as directory:
            copy = Path(directory) / "elsewhere"
            shutil.copytree(Path(BIN).parent, copy)
            binary = copy / Path(BIN).name
            result = run([binary, "--bytes", "16", "-n", "2"])
            self.assertEqual(result.code, 0, result.stderr)

            dynamic = subprocess.run(
                ["readelf", "-d", binary], capture_output=True, text=True, check=True
            ).stdout
            self.assertRegex(dynamic, r"R(UN)?PATH.*\[\$ORIGIN\]")
            for library in re.findall(r"NEEDED.*\[(.*)\]", dynamic):
                travels = (copy / library).exists()
                self.assertTrue(travels or OF_THE_SYSTEM.match(library), library)


if __name__ == "__main__":
    unittest.main()
