"""The live view of a run: who may see it, what it shows, how it ends, and that it changes nothing."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import unittest

import program
from program import ATOLL, PATIENCE, SMALL, sets, workload

HAS_PYTHON = os.path.exists(os.path.join(os.path.dirname(ATOLL), "atoll_python_policy.so"))

# Each kernel waits for a file: the run lasts as long as the test wants, on any machine.
POLICY = """
import os, time
import atoll

class Policy:
    roles = ("memory_side", "sm_side")
    switches = True

    def __init__(self, config):
        pass

    def at_kernel_start(self, kernel, start):
        while not os.path.exists(os.path.join(os.environ["GATES"], f"kernel{kernel}")):
            time.sleep(0.01)
        if os.path.exists(os.path.join(os.environ["GATES"], "fail")):
            raise ValueError("no idea")
        role = self.roles[kernel % 2]
        return atoll.Modes(llc=role), atoll.Decision(role, {"kernel": kernel})

    def save(self):
        return b"nothing"

    def load(self, data):
        pass
"""


class Run:
    """A run with a monitor, whose kernels begin when they are let."""

    def __init__(self, test, arguments, ranks=None):
        self.test = test
        self.gates = test.path("gates")
        os.makedirs(self.gates, exist_ok=True)
        self.errors = test.path("stderr")
        command = (program.mpirun(ranks) if ranks else []) + [ATOLL, *map(str, arguments)]
        with open(self.errors, "w", encoding="utf-8") as err, open(test.path("stdout"), "w", encoding="utf-8") as out:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
                                            preexec_fn=program.heed_interrupts, env={**program.environment(), "GATES": self.gates})
        test.addCleanup(self.kill)
        test.until(lambda: self.process.poll() is not None or "/\n" in self.said(), self.said)
        found = re.search(r"^monitor: (http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/)$", self.said(), re.M)
        test.assertIsNotNone(found, self.said())
        self.url, self.port, self.token = found.group(1), int(found.group(2)), found.group(3)

    def said(self):
        with open(self.errors, encoding="utf-8") as file:
            return file.read()

    def printed(self):
        with open(self.test.path("stdout"), encoding="utf-8") as file:
            return file.read()

    def let(self, *names):
        for name in names:
            with open(os.path.join(self.gates, name), "w", encoding="utf-8"):
                pass

    def kill(self):
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def ask(self, path, method="GET", host=None, body=None, token=None):
        """Status, headers and body of one answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, f"/{self.token if token is None else token}/{path}", skip_host=True)
            if host != "":
                connection.putheader("Host", host or f"127.0.0.1:{self.port}")
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def state(self, after=None):
        status, _, body = self.ask("state.json" + ("" if after is None else f"?after={after}"))
        self.test.assertEqual(status, 200, body)
        return json.loads(body)

    def wait_for(self, wanted):
        """Polls until a state is as wanted. The run cannot end before: the next kernel is not let."""
        end = time.monotonic() + PATIENCE
        got = self.state(0)
        while not wanted(got["state"]):
            self.test.assertLess(time.monotonic(), end, got)
            got = self.state(got["number"])
        return got

    def end(self):
        return self.process.wait(PATIENCE)


class Watcher:
    """`atoll watch`, which goes on beside the test."""

    def __init__(self, test, url, *more):
        self.process = subprocess.Popen([ATOLL, "watch", url, *more], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, encoding="utf-8")
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)

    def end(self):
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err


class Monitor(program.ProgramTest):
    def arguments(self, *more):
        policy = self.write("gated.py", POLICY)
        return ["run", "sac-4chip", "-w", workload("stores"), *sets(*SMALL), "--policy", policy, *more]

    def digest_without(self):
        os.makedirs(self.path("open"), exist_ok=True)
        for kernel in range(3):
            self.write(os.path.join("open", f"kernel{kernel}"), "")
        return self.succeeds(self.arguments(), env={**program.environment(), "GATES": self.path("open")}, timeout=PATIENCE).digest()

    def watched(self, ranks):
        run = Run(self, self.arguments("--monitor", "0"), ranks)
        seen = Watcher(self, run.url, "--json")
        first = run.state()["state"]
        self.assertIsNone(first["progress"])
        self.assertEqual((first["run"]["chips"], first["run"]["ranks"]), (4, ranks or 1))
        run.let("kernel0")
        begun = run.wait_for(lambda s: s["progress"] is not None)["state"]
        self.assertEqual((begun["progress"]["kernel"], begun["progress"]["name"]), (0, "produce"))
        self.assertEqual(begun["decisions"]["last"][0]["kernel"], 0)
        self.assertEqual(begun["decisions"]["last"][0]["choice"], "memory_side")
        self.assertEqual([c["modes"]["llc"] for c in begun["chips"]], ["memory_side"] * 4)
        for chip in begun["chips"]:
            self.assertAlmostEqual(sum(chip["spent"].values()), 1, 6)
            self.assertEqual(len(chip["packets_at"]), 4)
            self.assertGreater(chip["ctas"], 0)
            self.assertLessEqual(chip["ctas_done"], chip["ctas"])
        time.sleep(0.6)  # states are half a second apart at least, so the next kernel's first sample makes one
        run.let("kernel1")
        second = run.wait_for(lambda s: s["progress"]["kernel"] == 1)["state"]
        self.assertEqual([(k["kernel"], k["name"]) for k in second["kernels"]], [(0, "produce")])
        self.assertEqual([d["choice"] for d in second["decisions"]["last"]], ["memory_side", "sm_side"])
        self.assertGreater(second["rates"]["now"]["cycles"], 0)
        run.let("kernel2")
        self.assertEqual(run.end(), 0, run.said())
        code, out, err = seen.end()
        self.assertEqual((code, err), (0, ""))
        last = json.loads(out.splitlines()[-1])
        self.assertEqual(last["ended"]["how"], "complete")
        self.assertEqual((last["progress"]["ctas_done"], last["progress"]["ctas_total"]), (133, 133))
        digest = re.search(r"^ +digest +([0-9a-f]+)$", run.printed(), re.M).group(1)
        self.assertEqual(last["ended"]["digest"], digest)
        self.assertEqual(digest, self.digest_without())

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_a_run_of_one_rank_is_watched_from_its_beginning_to_its_end_and_stays_the_same(self):
        self.watched(None)

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_a_run_of_five_ranks_is_watched_from_its_beginning_to_its_end_and_stays_the_same(self):
        self.watched(5)

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_only_who_has_the_token_and_comes_by_the_monitors_own_name_is_answered_and_nobody_can_change_anything(self):
        run = Run(self, self.arguments("--monitor", "0"))
        other = run.token[:-1] + ("0" if run.token[-1] != "0" else "1")
        for token in (other, "", "x", run.token.upper() if run.token.upper() != run.token else other):
            for path in ("", "state.json"):
                self.assertEqual(run.ask(path, token=token)[0], 403, token)
        for host in ("evil.example", f"evil.example:{run.port}", f"127.0.0.1:{run.port + 1}", "127.0.0.1", ""):
            status, _, body = run.ask("state.json", host=host)
            self.assertEqual(status, 403, host)
            self.assertNotIn("sac-4chip", body)
        self.assertEqual(run.ask("state.json", host=f"localhost:{run.port}")[0], 200)
        for method, body in (("POST", b"x" * 5000), ("PUT", b""), ("DELETE", None), ("OPTIONS", None)):
            status, headers, _ = run.ask("", method, body=body)
            self.assertEqual((status, headers["Allow"]), (405, "GET"), method)
        self.assertEqual(run.ask("../../etc/passwd")[0], 404)
        self.assertEqual(run.ask("state.json?after=-1")[0], 400)
        self.assertEqual(run.ask("x" * 10000)[0], 431)
        listening = subprocess.run(["ss", "-ltnH", f"sport = {run.port}"], capture_output=True, encoding="utf-8", check=False) \
            if os.path.exists("/usr/bin/ss") else None
        if listening is not None and listening.stdout:
            self.assertIn(f"127.0.0.1:{run.port}", listening.stdout)
            self.assertNotIn("0.0.0.0:" + str(run.port), listening.stdout)

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_the_page_asks_nobody_else_and_is_not_kept(self):
        run = Run(self, self.arguments("--monitor", "0"))
        status, headers, page = run.ask("")
        self.assertEqual((status, headers["Content-Type"], headers["Cache-Control"]), (200, "text/html; charset=utf-8", "no-store"))
        nonce = re.search(r"script-src 'nonce-([0-9a-f]{32})'", headers["Content-Security-Policy"]).group(1)
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"])
        self.assertEqual(page.count(f'nonce="{nonce}"'), 2)
        self.assertNotIn("http", page)
        self.assertIn("state.json?after=", page)
        self.assertNotIn(nonce, run.ask("")[2], "each answer has its own")
        self.assertEqual(run.ask("state.json")[1]["Cache-Control"], "no-store")

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_connections_that_ask_nothing_or_nonsense_keep_nobody_out(self):
        run = Run(self, self.arguments("--monitor", "0"))
        with contextlib.ExitStack() as stack:
            for i in range(200):
                idle = stack.enter_context(socket.create_connection(("127.0.0.1", run.port), timeout=PATIENCE))
                with contextlib.suppress(OSError):  # the monitor may have closed it already
                    idle.sendall([b"", b"GET /", b"\x16\x03\x01\x00\xff", b"GET / HTTP/1.1\r\nHost: x\r\n"][i % 4])
            self.assertIsNone(run.state()["state"]["progress"])
            waiting = [Watcher(self, run.url) for _ in range(3)]
            self.assertEqual(run.ask("")[0], 200)
            run.let("kernel0", "kernel1", "kernel2")
            self.assertEqual(run.end(), 0, run.said())
            for watcher in waiting:
                code, out, _ = watcher.end()
                # One that came after the end found nobody.
                self.assertTrue((code == 0 and "the run has ended: complete after" in out) or (code == 4 and not out), (code, out))

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_a_run_that_fails_says_so_and_the_watcher_ends_with_its_exit_code(self):
        for ranks in (None, 5):
            with self.subTest(ranks=ranks):
                run = Run(self, self.arguments("--monitor", "0"), ranks)
                watcher = Watcher(self, run.url, "--json")
                run.let("kernel0")
                run.wait_for(lambda s: s["progress"] is not None)
                run.let("fail", "kernel1")
                code = run.end()
                self.assertNotEqual(code, 0)
                seen = watcher.end()
                self.assertEqual(seen[0], code, seen)
                ended = json.loads(seen[1].splitlines()[-1])["ended"]
                self.assertEqual(ended["how"], "failed")
                self.assertIn("ValueError: no idea", ended["message"])
                self.assertEqual(run.said().count("ValueError: no idea"), 1, run.said())
                for name in os.listdir(run.gates):
                    os.remove(os.path.join(run.gates, name))

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_a_run_that_is_killed_leaves_a_watcher_that_says_so(self):
        run = Run(self, self.arguments("--monitor", "0"))
        watcher = Watcher(self, run.url, "--json")
        self.assertIn('"progress":null', watcher.process.stdout.readline())
        run.kill()
        code, _, err = watcher.end()
        self.assertEqual(code, 4)
        self.assertIn("the run cannot be reached any more", err)

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_a_resumed_run_is_watched_as_well_and_ends_with_the_digest_of_the_whole(self):
        wanted = self.digest_without()
        output = self.path("out.h5")
        gates = {**program.environment(), "GATES": self.path("open")}
        self.succeeds(self.arguments("-o", output, "--checkpoint-every", "3000", "--max-cycles", "6000"), env=gates, timeout=PATIENCE)
        left = sorted(name for name in os.listdir(self.folder) if name.endswith(".ckpt"))
        self.assertTrue(left)
        run = Run(self, ["resume", self.path(left[0]), "--force", "--max-cycles", "1000000000", "--monitor", "0"])
        watcher = Watcher(self, run.url)
        run.let("kernel0", "kernel1", "kernel2")
        self.assertEqual(run.end(), 0, run.said())
        self.assertIn(watcher.end()[0], (0, 4))
        self.assertIn(wanted, run.printed())

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_a_run_that_is_interrupted_tells_its_watcher(self):
        run = Run(self, self.arguments("--monitor", "0", "-o", self.path("out.h5")))
        watcher = Watcher(self, run.url, "--json")
        run.let("kernel0")
        run.wait_for(lambda s: s["progress"] is not None)
        run.process.send_signal(signal.SIGINT)
        run.let("kernel1", "kernel2")
        code = run.end()
        seen = watcher.end()
        self.assertEqual(seen[0], code, seen)
        how = json.loads(seen[1].splitlines()[-1])["ended"]["how"]
        self.assertEqual(how, "interrupted" if code == 130 else "complete")  # it may have come to its end before it looked

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_on_a_terminal_the_screen_is_rewritten_and_the_end_stays(self):
        run = Run(self, self.arguments("--monitor", "0"))
        ours, theirs = os.openpty()
        seen = []

        def read():
            with contextlib.suppress(OSError):  # the terminal's other end is closed
                while data := os.read(ours, 4096):
                    seen.append(data)

        reader = threading.Thread(target=read)
        reader.start()
        watcher = subprocess.Popen([ATOLL, "watch", run.url], stdin=subprocess.DEVNULL, stdout=theirs)
        os.close(theirs)
        self.addCleanup(watcher.kill)
        self.until(lambda: b"waiting for the run to begin" in b"".join(seen), lambda: seen)
        run.let("kernel0")
        self.until(lambda: b"kernel 0: produce" in b"".join(seen), lambda: seen)
        run.let("kernel1", "kernel2")
        self.assertEqual(watcher.wait(PATIENCE), 0)
        self.assertEqual(run.end(), 0, run.said())
        reader.join(PATIENCE)
        os.close(ours)
        text = b"".join(seen).decode()
        self.assertIn("\x1b[2A", text)  # over the two lines of before
        self.assertRegex(text, r"chip 3 +\w+ +CTAs +\d+/\d+ +LLC")
        self.assertRegex(text.rstrip(), r"the run has ended: complete after [\d,]+ cycles$")

    def test_ports_that_cannot_be_used_are_refused_in_one_line(self):
        self.path()
        plain = ["run", "sac-4chip", "-w", workload("stores"), *sets(*SMALL), "--monitor"]
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            self.refused([*plain, port], 2, f"--monitor {port}", "Address already in use", "0 for any that is free")
        for port in ("-1", "65536", "http"):
            self.refused([*plain, port], 2, "--monitor", port, layouts=(None,))

    def test_watch_says_what_is_wrong_with_an_address(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        self.refused(["watch", f"http://127.0.0.1:{port}/ab/"], 4, "nothing listens there", layouts=(None,))
        self.refused(["watch", "out.h5"], 2, "is no address of a monitor", layouts=(None,))
        self.refused(["watch", "http://node7:80/ab/"], 2, "have ssh forward", layouts=(None,))
        self.refused(["watch", f"http://127.0.0.1:{port}/"], 2, "lacks the token", layouts=(None,))

    def test_watch_says_that_what_answers_is_no_monitor(self):
        for body in ("[]", "{}", '{"number": 1}', '{"number": "one", "state": {}}', '{"number": 1, "state": {}}',
                     '{"number": 1, "state": {"ended": {}}}', "<html>"):
            with self.subTest(body), socket.create_server(("127.0.0.1", 0)) as server:
                watcher = Watcher(self, f"http://127.0.0.1:{server.getsockname()[1]}/{'ab' * 16}/", "--json")
                server.settimeout(PATIENCE)
                connection = server.accept()[0]
                with connection:
                    connection.recv(4096)
                    connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
                    code, _, err = watcher.end()
                self.assertEqual(code, 4, err)
                self.assertRegex(err, r"^atoll: http://127\.0\.0\.1:\d+/\w+/: what answers there is no monitor: ")

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_watch_is_refused_with_another_token(self):
        run = Run(self, self.arguments("--monitor", "0"))
        other = run.url[:-2] + ("0/" if run.url[-2] != "0" else "1/")
        before = run.said()
        outcome = program.run(["watch", other], timeout=PATIENCE)
        self.assertEqual(outcome.code, 2, outcome)
        self.assertIn("The token in the address is not this run's", outcome.err)
        self.assertEqual(run.said(), before)


if __name__ == "__main__":
    program.main()
