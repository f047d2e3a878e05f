"""What shells complete and `man` shows, from the declared commands and options."""

import re
import shutil
import subprocess
import unittest

import program

# Fills in what bash would for the words, the last of which the cursor stands behind.
COMPLETE = """source <("$1" completion bash)
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
_atoll
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Completion(program.ProgramTest):
    def completed(self, *words):
        done = subprocess.run(["bash", "-c", COMPLETE, "bash", program.ATOLL, program.ATOLL, *words], cwd=self.folder, text=True,
                              env=program.environment(), capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def commands(self):
        return re.findall(r"(?m)^  ([a-z]+)  ", self.succeeds(["--help"]).out.split("Subcommands:")[1])

    def test_bash_completes_every_command_and_only_what_fits(self):
        self.assertLessEqual(set(self.commands()) | {"help", "--version"}, set(self.completed("")))
        self.assertEqual(self.completed("comp"), ["completion", "compare"] if self.completed("comp")[0] == "completion"
                         else ["compare", "completion"])

    def test_bash_completes_the_options_that_a_command_has(self):
        for command in self.commands():
            shown = set(re.findall(r"(?m)^  (?:-\w,)?(--[a-z-]+)", self.succeeds([command, "--help"]).out))
            self.assertIn("--help", shown, command)
            self.assertEqual(shown, {w for w in self.completed(command, "--") if w.startswith("--")}, command)

    def test_bash_completes_names_keys_and_files_where_they_are_asked_for(self):
        self.write("sacred.json", "{}")
        self.assertEqual(set(self.completed("run", "sac-")), {"sac-4chip"})
        self.assertEqual(set(self.completed("run", "sac")), {"sac-4chip", "sacred.json"})
        self.assertEqual(self.completed("run", "sac-4chip", "-w", "squ"), ["squeezenet"])
        self.assertEqual(self.completed("sweep", "quic"), ["quick"])
        self.assertEqual(self.completed("run", "sac-4chip", "--set", "llc.way"), ["llc.ways="])
        self.assertEqual(self.completed("help", "expl"), ["explain"])
        self.assertEqual(self.completed("run", "sac-4chip", "-o", "sac"), ["sacred.json"])
        self.assertEqual(self.completed("list", "coun"), ["counters"])

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_zsh_takes_its_script_and_that_names_every_option(self):
        script = self.succeeds(["completion", "zsh"]).out
        done = subprocess.run(["zsh", "-n", self.write("_atoll", script)], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        defines = "compdef() { :; }; autoload -U compinit; compinit -u -D; source $1; whence -w _atoll"
        done = subprocess.run(["zsh", "-f", "-c", defines, "zsh", self.write("_loaded", script.replace('_atoll "$@"', ""))],
                              capture_output=True, text=True, check=False)
        self.assertIn("_atoll: function", done.stdout, done.stderr)
        for option in re.findall(r"(?m)^  (?:-\w,)?(--[a-z-]+)", self.succeeds(["run", "--help"]).out):
            self.assertIn(f"'*{option}[", script)

    def test_a_page_has_every_option_with_its_text(self):
        page = self.succeeds(["manual", "run"]).out
        self.assertTrue(page.startswith('.TH ATOLL-RUN 1'), page[:80])
        for option in re.findall(r"(?m)^  (?:-\w,)?(--[a-z-]+)", self.succeeds(["run", "--help"]).out):
            self.assertIn(option.replace("-", "\\-"), page)
        for command in self.commands():
            self.assertIn(f"atoll\\-{command}", self.succeeds(["manual"]).out)
        for word in ("accel\\-sim", "\\-\\-latencies", "kernelslist.g"):
            self.assertIn(word, self.succeeds(["manual", "import"]).out)
        self.refused(["manual", "rum"], 2, "rum: there is no such command", layouts=(None,))

    @unittest.skipUnless(shutil.which("man"), "there is no man")
    def test_man_formats_every_page_without_a_warning(self):
        for command in ["", *self.commands()]:
            page = self.write("page.1", self.succeeds(["manual", *([command] if command else [])]).out)
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], capture_output=True, text=True,
                                  check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)


if __name__ == "__main__":
    program.main()
