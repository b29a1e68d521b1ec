"""For tests: the GPUs of this machine, and runs of ranks on them, over the transport unicast."""

import os
import re
import shutil
import subprocess
import sys

from mpi_run import ROOT, mpirun


def gpus():
    """Number of GPUs that are visible here."""
    if shutil.which("nvidia-smi") is None:
        return 0
    listing = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    found = len(re.findall(r"^GPU \d+:", listing.stdout, re.MULTILINE))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return found if visible is None else min(found, len(list(filter(None, visible.split(",")))))


def ranks_per_gpu(ranks):
    return -(-ranks // max(1, gpus()))


def skip_without_gpu():
    """Ends the test where there is no GPU, with that as its reason."""
    if gpus() == 0:
        print("skipped: no GPU here (nvidia-smi -L lists none)")
        sys.exit(77)
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")


def run_on_gpus(ranks, *arguments, share=None, mps=True, **options):
    """Ranks beyond the number of GPUs share them, under an MPS daemon of the run's own. `arguments`
    may begin with what a binary with planted faults takes, `share` is another --ranks-per-gpu."""
    per_gpu = ranks_per_gpu(ranks)
    prefix = [ROOT / "scripts/launch/mps"] if mps and per_gpu > 1 else []
    return mpirun(
        ranks, *arguments, "--transport", "unicast", "--ranks-per-gpu", share or per_gpu,
        prefix=prefix, **options,
    )  # fmt: skip
