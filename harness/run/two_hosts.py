"""For tests: two hosts on one machine, joined by one link. A host is a network, a host name and a
/dev/shm of its own (namespaces of Linux); processes and files are seen from outside as well.

Needs `ip`, `unshare`, `nsenter`, and root or user namespaces; see `as_root` and `missing`.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from mpi_run import MPIEXEC, start

SPACES = ("--net", "--uts", "--mount")
# When its stdin is closed, also by the death of the test, it ends all that runs on the host.
KEEPER = """
hostname "$0" && mount -t tmpfs -o size=256m none /dev/shm && ip link set lo up && echo up || exit 1
while read -r _; do :; done
own=$(readlink /proc/$$/ns/net)
for process in /proc/[0-9]*; do
  [ "$process" != "/proc/$$" ] && [ "$(readlink "$process/ns/net")" = "$own" ] \\
    && kill -KILL "${process#/proc/}"
done
"""
# Open MPI's remote shell: AGENT HOST COMMAND...
AGENT = """#!/bin/sh
case "$1" in
  {cases}
  *) echo "there is no host $1" >&2; exit 1 ;;
esac
shift
exec nsenter --target "$keeper" --net --uts --mount sh -c "$*"
"""


def as_root(path):
    """Where this is not root: starts the program at `path` again as the root of a user namespace
    of its own, if that is allowed."""
    become_root = ["unshare", "--user", "--map-root-user"]
    if os.geteuid() != 0 and _found("unshare") and _may([*become_root, "true"]):
        os.execvp("unshare", [*become_root, sys.executable, path, *sys.argv[1:]])


def missing():
    """Why there cannot be two hosts here, "" if nothing is missing."""
    program = next((p for p in ("ip", "unshare", "nsenter") if not _found(p)), None)
    if program:
        return f"there is no {program} (packages iproute2 and util-linux)"
    if os.geteuid() != 0:
        return "this is not root, and user namespaces are not allowed here"
    try:
        with TwoHosts(Path("/nonexistent")):
            return ""
    except OSError as error:
        return str(error)


def _found(program):
    return any(os.access(Path(d) / program, os.X_OK) for d in os.get_exec_path())


def _may(command):
    return subprocess.run(command, capture_output=True).returncode == 0


class Host:
    def __init__(self, name):
        """Raises OSError when this machine does not let a host be made."""
        self.name = name
        self.keeper = subprocess.Popen(
            ["unshare", *SPACES, "sh", "-c", KEEPER, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if self.keeper.stdout.readline() != "up\n":
            error = self.keeper.communicate()[1].strip()
            raise OSError(f"namespaces are not allowed here: {error}")
        self.network = self._network(self.keeper.pid)

    @staticmethod
    def _network(process):
        return os.readlink(f"/proc/{process}/ns/net")

    def enter(self, *command):
        """The command that runs `command` on the host."""
        return ["nsenter", "--target", str(self.keeper.pid), *SPACES, *map(str, command)]

    def run(self, *command):
        subprocess.run(self.enter(*command), check=True, capture_output=True)

    def processes(self, binary=None):
        """Living processes on the host, of all programs or of one."""
        found = []
        for directory in Path("/proc").glob("[0-9]*"):
            process = int(directory.name)
            try:
                if process != self.keeper.pid and self._network(process) == self.network:
                    state = (directory / "stat").read_text().rpartition(") ")[2][0]
                    if state not in "ZX" and binary in (None, os.readlink(directory / "exe")):
                        found.append(process)
            except OSError:
                continue  # it has left
        return found

    def kill(self):
        """All processes at once, as if the host had lost its power; its network stays."""
        while found := self.processes():
            for process in found:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    continue

    def close(self):
        """Returns what was still running there, after a moment of grace for what is leaving."""
        deadline = time.monotonic() + 5
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.kill()
        self.keeper.communicate()
        return left


class TwoHosts:
    """mailbench-a, where mpirun runs, and mailbench-b. REQUIRES: `directory`, for Open MPI's files,
    has a short name, since sockets lie there."""

    NAMES = ("mailbench-a", "mailbench-b")

    def __init__(self, directory):
        self.directory = directory
        self.hosts = []
        try:
            for name in self.NAMES:
                self.hosts.append(Host(name))
            self._link()
            self.networks = [host.network for host in self.hosts]
        except (OSError, subprocess.CalledProcessError) as error:
            self.close()
            text = getattr(error, "stderr", None)
            raise OSError(text.decode().strip() if text else str(error)) from error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _link(self):
        first, second = self.hosts
        first.run("ip", "link", "add", "link0", "type", "veth",
                  "peer", "name", "link0", "netns", second.keeper.pid)  # fmt: skip
        for number, host in enumerate(self.hosts, start=1):
            host.run("ip", "address", "add", f"10.0.0.{number}/24", "dev", "link0")
            host.run("ip", "link", "set", "link0", "up")

    def cut(self):
        """Cuts the link: nobody is told, packets are lost."""
        self.hosts[0].run("ip", "link", "set", "link0", "down")

    def start(self, ranks_per_host, *command):
        """Starts mpirun on the first host: its ranks there, then as many on the second."""
        cases = "\n  ".join(f"{h.name}) keeper={h.keeper.pid} ;;" for h in self.hosts)
        agent = Path(self.directory) / "agent"
        agent.write_text(AGENT.format(cases=cases))
        agent.chmod(0o755)
        slots = ",".join(f"{name}:{ranks_per_host}" for name in self.NAMES)
        settings = {"plm_rsh_agent": agent, "orte_tmpdir_base": self.directory,
                    "oob_tcp_if_include": "link0", "btl_tcp_if_include": "link0"}  # fmt: skip
        mca = [word for name, value in settings.items() for word in ("--mca", name, value)]
        count = str(len(self.hosts) * ranks_per_host)
        return start(self.hosts[0].enter(MPIEXEC, *mca, "--host", slots, "-np", count, *command))

    def alive(self):
        """Whether any process still holds one of the two networks."""
        for link in Path("/proc").glob("[0-9]*/ns/net"):
            try:
                if os.readlink(link) in self.networks:
                    return True
            except OSError:
                continue  # it has left
        return False

    def close(self):
        """Ends all that runs on the hosts, and the hosts. Returns the processes that it had to
        end."""
        left = []
        while self.hosts:
            left += self.hosts.pop().close()
        return left
