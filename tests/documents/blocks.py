"""The code blocks of a document, and the commands in them."""

import dataclasses
import re

# What a command of a block without `$` may begin with, apart from NAME=value.
PROGRAMS = re.compile(r"(\$ )?(\w+=\S+ )*(\./)?((build/release|tests|slurm|\$HOME|env)/\S+\.?\S*|[\w/]*bin/\w+|atoll(-report)?|mpirun|cmake"
                      r"|ninja|ctest|python3|pip|sbatch|bootstrap\.sh|packaging/\S+|apptainer|docker|spack|dpkg\S*|man|apt-get"
                      r"|cd|curl|source) ")


@dataclasses.dataclass
class Block:
    document: str
    line: int  # of the first line within
    language: str  # of a fence; empty for indented blocks
    lines: list


@dataclasses.dataclass
class Command:
    document: str
    line: int
    text: str  # without prompt and commentary
    shown: list  # the lines that the document prints below it


def blocks(document, text):
    """Fenced and indented blocks. Indented lines that go on with a list's item are none."""
    found: list = []
    fence = None
    code = False
    blank, content = True, 0  # content: where the text of the current list item begins
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.lstrip()
        indent = len(line) - len(bare)
        if fence is not None:
            if bare.startswith("```"):
                fence = None
            else:
                fence.lines.append(line)
            continue
        if bare.startswith("```"):
            fence = Block(document, number + 1, bare[3:].strip() or "text", [])
            found.append(fence)
            code = False
        elif not bare:
            blank = True
            if code:
                found[-1].lines.append("")
        else:
            if blank and indent < content:
                content = 0
            inside = indent >= content + 4 and (blank or code)
            blank = False
            if inside and not code:
                found.append(Block(document, number, "", []))
            if inside:
                found[-1].lines.append(line[content + 4:])
            elif item := re.match(r" *(?:[-*+]|\d+\.) +", line):
                content = item.end()
            code = inside
    return found


def commands(block):
    """A block with `$` shows commands and what they print; one that begins with a program has commands alone; others none."""
    if block.language not in ("", "sh", "bash", "console"):
        return []
    prompts = any(line.startswith("$ ") for line in block.lines)
    if not prompts and not (block.lines and PROGRAMS.match(block.lines[0] + " ")):
        return []
    found: list = []
    going_on = False
    for number, line in enumerate(block.lines, block.line):
        if going_on:
            found[-1].text += " " + _bare(line).strip()
        elif line.startswith("$ ") or (not prompts and line.strip()):
            found.append(Command(block.document, number, _bare(line.removeprefix("$ ")), []))
        elif line.strip() and found:
            found[-1].shown.append(line)
        else:
            continue
        going_on = not (found[-1].shown) and found[-1].text.endswith("\\")
        if going_on:
            found[-1].text = found[-1].text[:-1].rstrip()
    return found


def _bare(line):
    """Without what two blanks, or #, set apart for the reader."""
    return re.split(r"(?<=\S)(?:\s{2,}|\s+# )", line.rstrip())[0] if not line.startswith("  ") else line
