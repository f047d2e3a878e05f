"""What a build's compiler says of each source that is not generated, without writing anything: compile_alone.py BUILD."""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

build = pathlib.Path(sys.argv[1]).resolve()


def errors(entry: dict[str, str]) -> str:
    command = shlex.split(entry["command"])
    output = command.index("-o")
    command[output : output + 2] = ["-fsyntax-only"]
    done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


database = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
# A source that several programs share is compiled once.
sources = {entry["file"]: entry for entry in database if build not in pathlib.Path(entry["file"]).parents}
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    found = [text for text in pool.map(errors, sources.values()) if text]
print(*found, sep="", end="")
print(f"{len(sources)} sources, {len(found)} do not compile alone")
sys.exit(bool(found) or not sources)
