"""Where a line of C++ can be changed, and how: found in the text, without a parser.

It relies on clang-format: a binary operator has a blank on both sides, which < of a template and & of a reference have
not. What is found wrongly does not compile, and is left out then.
"""

import dataclasses
import re

COMPARE, EQUAL, ADD, MULTIPLY, AND, OR, SHIFT = "<", "!=", "+", "*", "&", "|", "<<"
# Operator: (what replaces it, the operator of the same precedence that mutants.hpp defines, its two names there).
BINARY = {
    "<": ("<=", COMPARE, "less", "less_equal"),
    "<=": ("<", COMPARE, "less_equal", "less"),
    ">": (">=", COMPARE, "greater", "greater_equal"),
    ">=": (">", COMPARE, "greater_equal", "greater"),
    "==": ("!=", EQUAL, "equal", "not_equal"),
    "!=": ("==", EQUAL, "not_equal", "equal"),
    "+": ("-", ADD, "plus", "minus"),
    "-": ("+", ADD, "minus", "plus"),
    "*": ("/", MULTIPLY, "times", "divide"),
    "/": ("*", MULTIPLY, "divide", "times"),
    "&": ("|", AND, "bit_and", "bit_or"),
    "|": ("&", OR, "bit_or", "bit_and"),
    "<<": (">>", SHIFT, "left", "right"),
    ">>": ("<<", SHIFT, "right", "left"),
}
NOT_RUN = re.compile(r"\b(constexpr|static_assert|requires|concept|template|using|enum|case|alignas|typedef|operator|"
                     r"namespace)\b")
# What these do is told to people, carried to files, or a hint to the host: no unit suite need see it.
TELLS = re.compile(r"\b(describe\w*|serialize|explain\w*|prefetch\w*)\s*\([^;{}]*\)[^;{}]*\{")
ERRORS_AND_LISTS = re.compile(r"\b(static_assert|fmt::format|InputError|SimulationError|IoError|state|prefetch\w*)\s*\(")
STATEMENT_START = re.compile(r"(\+\+|--|\*|\()?[A-Za-z_]")
KEYWORD = re.compile(r"(return|throw|case|goto|using|delete|else|break|continue|default|if|for|while|do|switch|"
                     r"static_assert|public|private|protected|friend|typedef|template|namespace|const|auto|explicit|"
                     r"virtual|static|inline)\b")
ASSIGN = re.compile(r"(?<![=!<>])=(?!=)")


@dataclasses.dataclass(frozen=True)
class Edit:
    begin: int
    end: int
    text: str  # with {id} where the mutant's number goes


@dataclasses.dataclass(frozen=True)
class Site:
    """One change of one line. `edits` put it into the program beside the original; `plain` is how it reads."""
    line: int
    at: int
    change: str
    edits: tuple
    plain: Edit
    default: bool = False  # the value of a member that is given no other


def mask(text):
    """The text, as long as it was, without comments, strings and preprocessor lines."""
    def blank(match):
        word = match.group()
        if word[0] in "\"'" or word.startswith("R\""):
            return "S" * len(word)
        return re.sub(r"[^\n]", " ", word)
    tokens = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|'
                        r"(?<![0-9a-zA-Z])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
    return tokens.sub(blank, text)


def closing(text, opening):
    """Where the bracket that opens there is closed."""
    depth = 0
    for i in range(opening, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i
    return len(text)


def without_words(masked):
    """Also without the text of errors, lists of state, and functions that TELLS names."""
    spans = [(m.end(), closing(masked, m.end() - 1)) for m in TELLS.finditer(masked)]
    spans += [(m.end(), closing(masked, m.end() - 1)) for m in ERRORS_AND_LISTS.finditer(masked)]
    for begin, end in spans:
        masked = masked[:begin] + re.sub(r"[^\n]", "S", masked[begin:end]) + masked[end:]
    return masked


def extent(text, at):
    """Begin and end of the expression around `at` that reaches to the next comma, assignment, ?: or bracket."""
    def left():
        depth, i = 0, at - 1
        while i >= 0:
            c = text[i]
            depth += (c in ")]}") - (c in "([{")
            if depth < 0 or (depth == 0 and c in ",;?"):
                return i + 1
            if depth == 0 and c == ":" and text[i - 1] != ":" and text[i + 1] != ":":
                return i + 1
            if depth == 0 and c == "=" and text[i + 1] != "=" and text[i - 1] not in "=!<>":
                return i + 1
            if depth == 0 and re.match(r"\breturn\b", text[i:i + 7]) and not text[i - 1].isalnum():
                return i + 6
            i -= 1
        return 0
    def right():
        depth, i = 0, at
        while i < len(text):
            c = text[i]
            depth += (c in "([{") - (c in ")]}")
            if depth < 0 or (depth == 0 and c in ",;?"):
                return i
            if depth == 0 and c == ":" and text[i - 1] != ":" and text[i + 1] != ":":
                return i
            i += 1
        return len(text)
    begin, end = left(), right()
    while text[begin] in " \n":
        begin += 1
    while text[end - 1] in " \n":
        end -= 1
    return begin, end


def one_line(text):
    return re.sub(r"\s*\n\s*", " ", text)


def sites(text):
    """All sites of a file, in order."""
    masked = without_words(mask(text))
    lines = masked.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found = []
    for number, line in enumerate(lines):
        if not line.strip() or NOT_RUN.search(line):
            continue
        for make in (binary, logical, conditions, words, integers, steps, negations, compounds, bounds, removals):
            found += make(text, masked, lines, number, starts[number])
    return sorted(found, key=lambda s: (s.at, s.change))


def binary(text, masked, lines, number, start):
    for m in re.finditer(r"(?<=\S) (<=|>=|==|!=|<<|>>|[-<>+*/&|])(?= \S|$)", lines[number]):
        op, at = m.group(1), start + m.start(1)
        other, spelt, x, y = BINARY[op]
        before, after = masked[:at].rstrip(), masked[at + len(op):].lstrip()
        fold, texts = before.endswith("...") or after.startswith("..."), before.endswith("SS") or after.startswith("SS")
        if not fold and not texts:
            middle = f"{spelt} mutation::Between<{{id}}, mutation::Op::{x}, mutation::Op::{y}>{{{{}}}} {spelt}"
            yield Site(number, at, f"{op} -> {other}", (Edit(at, at + len(op), middle),), Edit(at, at + len(op), other))


def logical(text, masked, lines, number, start):
    for m in re.finditer(r"(?<=\S) (&&|\|\|)(?= |$)", lines[number]):
        at, op = start + m.start(1), m.group(1)
        other = "||" if op == "&&" else "&&"
        begin, end = extent(masked, at)
        if "//" in text[begin:end]:
            continue
        both = [braces(one_line(t)) for t in (text[begin:at] + other + text[at + 2:end], text[begin:end])]
        choice = f"(mutation::on<{{id}}>() ? bool({both[0]}) : bool({both[1]}))"
        yield Site(number, at, f"{op} -> {other}", (Edit(begin, end, choice),), Edit(at, at + 2, other))


def braces(text):
    """As str.format wants them."""
    return text.replace("{", "{{").replace("}", "}}")


def conditions(text, masked, lines, number, start):
    """Conditions of if, while and ?: that begin in this line."""
    found = [closing(masked, start + m.end() - 1) for m in re.finditer(r"\b(?:if|while) \(", lines[number])]
    found += [start + m.start() for m in re.finditer(r" \? ", lines[number])]
    for end in found:
        begin, end = extent(masked, end)
        here = start <= begin < start + len(lines[number])
        if not here or masked[begin:end].strip() == "" or ASSIGN.search(masked[begin:end]):
            continue
        yield Site(number, begin, "negated condition",
                   (Edit(begin, begin, "mutation::on<{id}>() != bool("), Edit(end, end, ")")),
                   Edit(begin, end, f"!({one_line(text[begin:end])})"))


def member(masked, at):
    """Whether what stands there belongs to a class and to no function of it."""
    depth = 0
    for i in range(at - 1, -1, -1):
        depth += (masked[i] in ")]}") - (masked[i] in "([{")
        if depth < 0:
            head = re.split(r"[;{}]", masked[:i])[-1]
            return masked[i] == "{" and re.search(r"\b(struct|class|union)\b[^()]*$", head) is not None
    return False


def words(text, masked, lines, number, start):
    for m in re.finditer(r"(?<![<\w] )(?<![<\w])(true|false)(?!\w|>)", lines[number]):
        word, other = m.group(), "false" if m.group() == "true" else "true"
        at = start + m.start()
        end = at + len(word)
        yield Site(number, at, f"{word} -> {other}", (Edit(at, end, f"mutation::number<{{id}}>({word}, {other})"),),
                   Edit(at, end, other), member(masked, at))


def integers(text, masked, lines, number, start):
    for m in re.finditer(r"(?<![\w.'<])(\d[\d']*)(u|ull|U|ULL)?(?![\w.'>])", lines[number]):
        before = lines[number][:m.start()].rstrip()
        if before.endswith((") =", "const =", "override =")):  # a pure virtual function
            continue
        value, suffix, at = int(m.group(1).replace("'", "")), m.group(2) or "", start + m.start()
        for n in {value + 1, max(value - 1, 0)} - {value}:
            yield Site(number, at, f"{m.group()} -> {n}{suffix}",
                       (Edit(at, start + m.end(), f"mutation::number<{{id}}>({m.group()}, {n}{suffix})"),),
                       Edit(at, start + m.end(), f"{n}{suffix}"), member(masked, at))


def steps(text, masked, lines, number, start):
    for m in re.finditer(r"(?<![\w)\]+-])(\+\+|--)(?=[\w(*])", lines[number]):
        at, other = start + m.start(), "--" if m.group() == "++" else "++"
        up = "true" if m.group() == "++" else "false"
        step = f"mutation::Step<{{id}}, {up}>{{{{}}}}->*"
        yield Site(number, at, f"{m.group()} -> {other}", (Edit(at, at + 2, step),), Edit(at, at + 2, other))


def negations(text, masked, lines, number, start):
    for m in re.finditer(r"(?<![!~*&])!(?=[\w(])", lines[number]):
        at = start + m.start()
        yield Site(number, at, "! removed", (Edit(at, at, "mutation::Not<{id}>{{}}->*"),), Edit(at, at + 1, ""))


def compounds(text, masked, lines, number, start):
    for m in re.finditer(r" (\+=|-=) ", lines[number]):
        at, op = start + m.start(1), m.group(1)
        other = "-=" if op == "+=" else "+="
        yield Site(number, at, f"{op} -> {other}", (Edit(at + 2, at + 2, f" mutation::Signed<{{id}}>{{{{}}}} {op}"),),
                   Edit(at, at + 2, other))


def bounds(text, masked, lines, number, start):
    for m in re.finditer(r"std::(min|max)(?=\()", lines[number]):
        at, other = start + m.start(), "std::max" if m.group(1) == "min" else "std::min"
        smaller = "true" if m.group(1) == "min" else "false"
        bound, end = f"mutation::Bound<{{id}}, {smaller}>{{{{}}}}", start + m.end()
        yield Site(number, at, f"{m.group()} -> {other}", (Edit(at, end, bound),), Edit(at, end, other))


def removals(text, masked, lines, number, start):
    """A statement that lies in this line, alone or behind `if (...)` or `else`."""
    line = lines[number].rstrip()
    earlier = "\n".join(lines[:number]).rstrip()
    if earlier and not earlier.endswith((";", "{", "}", ")", "else")):
        return
    at = len(line) - len(line.lstrip())
    while True:
        m = re.match(r"(?:\} )?else |(?:\} else )?(?:if|for|while) \(", line[at:])
        if not m:
            break
        at = at + m.end() if m.group().endswith("else ") else closing(line, at + m.end() - 1) + 2
    rest = line[at:]
    if not rest.endswith(";") or not STATEMENT_START.match(rest) or "prefetch" in rest:
        return
    guarded = lines[number][:at].strip() != ""
    if KEYWORD.match(rest) and not (guarded and re.match(r"(return|break|continue)\b", rest)):
        return
    flat = flattened(rest[:-1])
    if ";" in flat or "{" in flat or "}" in flat:
        return
    if not KEYWORD.match(rest) and not re.match(r"\S+$|\S+ [-+*/|&^<>]*= |\S+, ", flat):  # a declaration
        return
    begin, end = start + at, start + len(line)
    yield Site(number, begin, "removed: " + text[begin:end],
               (Edit(begin, begin, "{{ if (!mutation::on<{id}>()) "), Edit(end, end, " }}")), Edit(begin, end, ";"))


def flattened(text):
    """Without what is in brackets."""
    out, depth = [], 0
    for c in text:
        depth -= c in ")]"
        if depth == 0:
            out.append(c)
        depth += c in "(["
    return "".join(out)


def apply(text, chosen):
    """The text with all mutants beside the original. `chosen` is a list of (number, site) that do not overlap."""
    edits = [(e.begin, e.end, order, e.text.format(id=number))
             for order, (number, site) in enumerate(chosen) for e in site.edits]
    for begin, end, _, new in sorted(edits, key=lambda e: (e[0], e[1]), reverse=True):
        text = text[:begin] + new + text[end:]
    return text


def overlap(a, b):
    """Whether two sites cannot be in one text."""
    spans = [(min(e.begin for e in s.edits), max(e.end for e in s.edits)) for s in (a, b)]
    return spans[0][0] <= spans[1][1] and spans[1][0] <= spans[0][1]


def mutated_line(text, site):
    """(the line as it is, as the mutant reads)."""
    begin = text.rfind("\n", 0, site.plain.begin) + 1
    end = text.find("\n", site.plain.end)
    line = text[begin:end]
    new = text[begin:site.plain.begin] + site.plain.text + text[site.plain.end:end]
    return one_line(line).strip(), one_line(new).strip()
