"""What tests of users' policies share: where they are, and a small run under one of them."""

import os
import shutil
import tempfile
import textwrap
import unittest

import program

BUILD = os.path.dirname(program.ATOLL)
SHARED = os.path.join(BUILD, "plugins", "policy_alternating.so")
PYTHON = os.path.join(program.SOURCE, "tests", "plugins", "alternating.py")
SAC = os.path.join(program.SOURCE, "examples", "policy_plugin", "sac.py")
HAS_PYTHON = os.path.exists(os.path.join(BUILD, "atoll_python_policy.so"))


def run(*arguments, ranks=None, settings=()):
    settings = [*program.SMALL, "coherence.directory_entries=64", *settings]
    return program.run(["run", "sac-4chip", "-w", program.workload("stores"), *program.sets(*settings), *arguments], ranks)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="atoll-plugins-")
        self.addCleanup(shutil.rmtree, self.folder)

    def policy(self, text):
        path = os.path.join(self.folder, "mine.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(textwrap.dedent(text))
        return path

    def digest(self, *arguments, **options):
        outcome = run(*arguments, **options)
        self.assertEqual(outcome.code, 0, outcome)
        return outcome.digest()

    def refused(self, *arguments, **options):
        outcome = run(*arguments, **options)
        self.assertNotEqual(outcome.code, 0, outcome)
        return outcome.err
