#!/usr/bin/env python3
"""Every command of README.md and docs is executed, each document's in a folder of its own, or is listed in plan.py with why not.
Code in Python is executed, and saved files are used. A refusal that a document shows must come, and every line that it shows
below a command must be printed, apart from `...` and times.

    commands.py [DOCUMENT...]"""

import os
import re
import resource
import shutil
import subprocess
import sys
import unittest

import blocks
from plan import PLANS, Plan

sys.path.insert(0, os.path.join(os.environ["ATOLL_SOURCE_DIR"], "tests", "integration"))
import program
import sass_trace

ROOT = program.SOURCE
BUILD = os.path.dirname(program.ATOLL)
VARIES = re.compile(r"done in|^\s*\.\.\.$")  # what no two runs print alike
CANNOT = 77  # of a shell: what plan.py says that the command needs is not there


def documents():
    found = ["README.md"]
    for at, _, names in os.walk(os.path.join(ROOT, "docs")):
        found += [os.path.relpath(os.path.join(at, name), ROOT) for name in names if name.endswith(".md")]
    return sorted(found)


def python_with_plots():
    """Debian's own has the packages; another one that stands first on the PATH may not."""
    for modules in ("h5py, jinja2, matplotlib, pandas, setuptools, wheel, pip, ensurepip", "h5py, jinja2, matplotlib, pandas"):
        for candidate in (sys.executable, "/usr/bin/python3"):
            if subprocess.run([candidate, "-c", "import " + modules], capture_output=True, check=False).returncode == 0:
                return candidate
    return sys.executable


def longest(prefixes, text):
    """The entry whose key the command begins with."""
    return max((p for p in prefixes if text.startswith(p)), key=len, default=None)


def squeezed(text):
    return " ".join(text.split())


class Folder:
    """A tree as after a clone and a build, of which commands may change what they like."""

    def __init__(self, path):
        self.path = path
        for name in ("inputs", "examples", "analysis", "slurm"):
            shutil.copytree(os.path.join(ROOT, name), os.path.join(path, name), ignore=shutil.ignore_patterns("build", "*.egg-info"))
        for name in ("tests", "packaging", "CITATION.cff"):
            os.symlink(os.path.join(ROOT, name), os.path.join(path, name))
        for name in ("build", "bin", "home"):
            os.mkdir(os.path.join(path, name))
        os.symlink(BUILD, os.path.join(path, "build", "release"))
        os.symlink(program.ATOLL, os.path.join(path, "bin", "atoll"))
        self.python = python_with_plots()
        self.script("python3", f'exec {self.python} -B "$@"')
        self.script("pip", f'exec {self.python} -m pip "$@"')
        self.script("atoll-report", f'PYTHONPATH={path}/analysis exec {self.python} -B -m atoll_analysis "$@"')
        self.write("sass/kernelslist.g", "kernel-1.traceg\n")
        self.write("sass/kernel-1.traceg", sass_trace.kernel())
        self.environment = dict(
            program.environment(), HOME=os.path.join(path, "home"), PATH=os.path.join(path, "bin") + ":" + os.environ["PATH"],
            OMPI_MCA_rmaps_base_oversubscribe="1", MPLBACKEND="agg")
        self.environment.pop("PYTHONPATH", None)

    def write(self, name, text, mode=0o644):
        name = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, mode)

    def script(self, name, line):
        self.write("bin/" + name, f"#!/bin/sh\n{line}\n", 0o755)

    def run(self, command):
        return subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.path, env=self.environment, text=True, timeout=120,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def as_run(command, plan):
    """What the test runs for a command, or nothing if that is said to be impossible."""
    if longest(plan.not_run, command) is not None:
        return None
    text = plan.instead.get(longest(plan.instead, command), command)
    text = text.replace("]...", "]")
    if not any(c in text for c in "'\"$"):  # optional parts of a synopsis run, too
        text = text.replace("[", "").replace("]", "")
    text = " ".join(plan.words.get(word, word) for word in text.split(" "))
    full = re.match(r"(mpirun .*)?(build/release/)?atoll run sac-4chip .*\bmixed\b", text) and "--scale" not in text
    return text + " --scale 16" if plan.smaller and full and "&&" not in text else text


class Commands(program.ProgramTest):
    def check_command(self, folder, command, plan, used):
        used |= {longest(table, command.text) for table in (plan.not_run, plan.instead, plan.needs, plan.differs)}
        place = f"{command.document}:{command.line}: {command.text}"
        for word in re.findall(r"(?:tests|slurm|inputs|examples)/[\w./-]+\w", command.text):
            if "NAME" not in word:
                self.assertTrue(os.path.exists(os.path.join(folder.path, word)), f"{place}\nthere is no {word}")
        run = as_run(command.text, plan)
        if run is None:
            return
        need = plan.needs.get(longest(plan.needs, command.text))
        if need and folder.run(need).returncode != 0:
            print(f"not run, for `{need}` fails: {place}")
            return
        done = folder.run(run)
        said = f"{place}\nran: {run}\nexit code {done.returncode}, printed at the end:\n{done.stdout[-2000:]}"
        refusal = bool(command.shown) and command.shown[0].startswith("atoll: ")
        self.assertEqual(done.returncode == 0, not refusal, said)
        printed = {squeezed(line) for line in done.stdout.splitlines()}
        exact = run == command.text and longest(plan.differs, command.text) is None
        for line in command.shown if exact else []:
            if not VARIES.search(line):
                self.assertTrue(squeezed(line) in printed, f"{said}\nthe document shows a line that was not printed: {line}")

    def check_document(self, document):
        with open(os.path.join(ROOT, document), encoding="utf-8") as file:
            found = blocks.blocks(document, file.read())
        plan = PLANS.get(document, Plan())
        if not any(block.language in ("python", "json", "cpp") or blocks.commands(block) for block in found):
            self.assertFalse(document in PLANS, f"{document}: plan.py has it, and nothing in it is executed")
            return
        folder = Folder(self.folder)
        for command in plan.before:
            done = folder.run(command)
            self.assertEqual(done.returncode, 0, f"{document}, before: {command}\n{done.stdout}")
        used: set = set()
        code, script = 0, ""
        for block in found:
            for command in blocks.commands(block):
                self.check_command(folder, command, plan, used)
            if block.language in ("python", "json", "cpp"):
                code += 1
                text = "\n".join(block.lines) + "\n"
                if code in plan.save:
                    folder.write(plan.save[code], text)
                elif code not in plan.not_code:
                    self.assertEqual(block.language, "python", f"{document}:{block.line}: plan.py must say where this is saved")
                    script += text
                    folder.write("block.py", script)
                    done = folder.run("PYTHONPATH=analysis python3 block.py")
                    if "No module named 'h5py'" in done.stdout:
                        print(f"not run, there is no h5py: {document}:{block.line}")
                    else:
                        self.assertEqual(done.returncode, 0, f"{document}:{block.line}\n{done.stdout}")
        for command in plan.after:
            done = folder.run(command)
            self.assertEqual(done.returncode, 0, f"{document}, after: {command}\n{done.stdout}")
        listed = {*plan.not_run, *plan.instead, *plan.needs, *plan.differs}
        self.assertEqual(listed - used, set(), f"{document}: plan.py has commands that are no longer there")
        self.assertLessEqual({*plan.save, *plan.not_code}, set(range(1, code + 1)), f"{document}: plan.py has blocks that are not there")


class Reading(unittest.TestCase):
    def test_every_planned_document_exists(self):
        self.assertLessEqual(set(PLANS), set(documents()))

    def test_commands_are_told_from_output_and_commentary(self):
        text = "A\n\n    $ atoll list   all\n    systems\n    $ a \\\n        --b\n\n- item\n  goes on\n\n      atoll x # y\n\n    +---+\n"
        found = [(c.line, c.text, c.shown) for b in blocks.blocks("d", text) for c in blocks.commands(b)]
        self.assertEqual(found, [(3, "atoll list", ["systems"]), (5, "a --b", []), (11, "atoll x", [])])


def add_tests(names):
    for document in names:
        test = "test_" + re.sub(r"\W", "_", document)
        setattr(Commands, test, lambda self, document=document: self.check_document(document))


if __name__ == "__main__":
    add_tests([a for a in sys.argv[1:] if a.endswith(".md")] or documents())
    sys.argv = [a for a in sys.argv if not a.endswith(".md")]
    outcome = unittest.main(verbosity=2, exit=False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime:.0f} s of processor time")
    sys.exit(0 if outcome.result.wasSuccessful() else 1)
