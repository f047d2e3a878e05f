"""A run over two hosts has the digest of one process, and ranks in order send least between hosts.

The hosts are network namespaces with a host name, interface and /dev/shm each, joined by a cable: MPI between them is TCP.
Skipped where these cannot be made (not root, no iproute2). The test is a process tree of its own and takes all with it."""

import json
import os
import shutil
import subprocess
import sys

import program
from program import ATOLL, MPIRUN, SMALL, sets

NAMESPACES = ["--net", "--uts", "--ipc", "--mount"]
NETWORK = "10.0.0."


class TwoHosts(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("hosts", f"127.0.0.1 localhost\n{NETWORK}1 h1\n{NETWORK}2 h2\n")
        self.pids = [self.boot(name) for name in ("h1", "h2")]
        one, two = map(str, self.pids)
        self.call("ip", "link", "add", "eth0", "netns", one, "type", "veth", "peer", "name", "eth0", "netns", two)
        for number, pid in enumerate(self.pids, 1):
            self.call(*self.on(pid), "ip", "address", "add", f"{NETWORK}{number}/24", "dev", "eth0")
            self.call(*self.on(pid), "ip", "link", "set", "eth0", "up")
        # What starts Open MPI's daemon on the other host; on a cluster that is ssh.
        agent = self.write("agent", f'#!/bin/sh\nshift\nexec {" ".join(self.on(two))} sh -c "$*"\n')
        os.chmod(agent, 0o755)
        self.write("hostfile", "h1 slots=4\nh2 slots=3\n")

    def boot(self, name):
        script = (f"hostname {name} && mount --bind {self.path('hosts')} /etc/hosts && mount -t tmpfs tmpfs /dev/shm && "
                  "ip link set lo up && echo up && exec sleep infinity")
        process = subprocess.Popen(["unshare", *NAMESPACES, "sh", "-c", script], stdout=subprocess.PIPE, encoding="utf-8")
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), "up\n")
        return process.pid

    def on(self, pid):
        return ["nsenter", "--target", str(pid), *NAMESPACES, f"--wd={self.folder}"]

    def call(self, *words):
        return subprocess.run(words, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout

    def bytes_sent(self, pid):
        return json.loads(self.call(*self.on(pid), "ip", "-json", "-stats", "link", "show", "eth0"))[0]["stats64"]["tx"]["bytes"]

    def over_both(self, mapping, *arguments):
        """Runs the program on seven ranks of both hosts; its outcome and the bytes that crossed."""
        before = sum(map(self.bytes_sent, self.pids))
        command = [*self.on(self.pids[0]), MPIRUN, "-n", "7", "--hostfile", self.path("hostfile"), "--map-by", mapping,
                   "--bind-to", "none", "--mca", "plm", "rsh", "--mca", "plm_rsh_agent", self.path("agent"),
                   "--mca", "btl", "self,vader,tcp", "--mca", "pml", "ob1", ATOLL]
        outcome = program.run([*command[1:], *arguments], program=command[0], timeout=100)
        self.assertEqual(outcome.code, 0, outcome)
        return outcome, sum(map(self.bytes_sent, self.pids)) - before

    def hosts(self, result):
        return json.loads(self.succeeds(["info", "--json", result]).out)["provenance"]["hosts"]

    def test_the_digest_is_that_of_one_process_and_neighbours_on_one_host_send_less(self):
        arguments = ["run", "sac-4chip", "--set", "chips=6", "-w", program.workload("stores"), *sets(*SMALL)]
        wanted = self.succeeds(arguments).digest()
        by_slot, sent_by_slot = self.over_both("slot", *arguments, "-o", self.path("slot.h5"))
        by_node, sent_by_node = self.over_both("node", *arguments, "-o", self.path("node.h5"))
        self.assertEqual((by_slot.digest(), by_node.digest()), (wanted, wanted))
        self.assertEqual(self.hosts(self.path("slot.h5")), ["h1"] * 4 + ["h2"] * 3)
        self.assertEqual(self.hosts(self.path("node.h5")), ["h1", "h2"] * 3 + ["h1"])
        print(f"{sent_by_slot} bytes between hosts in order, {sent_by_node} in turn", flush=True)
        # Two of the ring's six links cross, and in turn all six.
        self.assertLess(sent_by_slot, 0.6 * sent_by_node)


def main():
    if sys.argv[1:] == ["inside"]:
        sys.argv.pop()
        # All ranks share two processors, and know it: ranks that spin would keep the other host's from running.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
        program.main()
        return
    shell = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    missing = [tool for tool in ("unshare", "nsenter", "ip") if not shutil.which(tool)]
    if missing or subprocess.run([*shell, *NAMESPACES, "ip", "link", "add", "type", "veth"], check=False).returncode != 0:
        print("skipped:", f"no {', '.join(missing)}" if missing else "namespaces cannot be made here (not root?)")
        sys.exit(program.SKIPPED)
    os.execvp(shell[0], [*shell, sys.executable, "-B", __file__, "inside"])


if __name__ == "__main__":
    main()
