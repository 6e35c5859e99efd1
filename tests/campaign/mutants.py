"""Small mistakes for C++ sources: an off-by-one, a dropped condition, a wrong unit, a statement left out. An operator looks at a
text without comments, strings and preprocessor lines, and gives every place where it can make its mistake."""
import dataclasses
import random
import re

CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclasses.dataclass(frozen=True)
class Mutant:
    """`text[begin:end]` becomes `other`."""
    operator: str
    begin: int
    end: int
    other: str

    def applied(self, text):
        return text[:self.begin] + self.other + text[self.end:]

    def line(self, text):
        return text.count("\n", 0, self.begin) + 1

    def told(self, text):
        """The line before and after, for people."""
        begin, end = text.rfind("\n", 0, self.begin) + 1, text.find("\n", self.end)
        end = len(text) if end < 0 else end
        short = lambda part: " ".join(part.split()) or "(nothing)"
        return f"{short(text[begin:end])}  ->  {short(text[begin:self.begin] + self.other + text[self.end:end])}"


NO_CODE = re.compile(r"""
    //[^\n]* | /\*.*?\*/ | R"\((?:.*?)\)" | "(?:\\.|[^"\\\n])*" | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'
    | ^[ \t]*\#(?:\\\n|[^\n])*
""", re.X | re.S | re.M)


def masked(text):
    """The text with blanks for all that is no code; places stay."""
    return NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def end_of(code, begin):
    """Behind the bracket that closes the one at `begin`; -1 where it is not closed."""
    expected = []
    for at in range(begin, len(code)):
        if code[at] in CLOSING:
            expected.append(CLOSING[code[at]])
        elif code[at] in ")]}":
            if not expected or expected.pop() != code[at]:
                return -1
            if not expected:
                return at + 1
    return -1


def swapped(name, pairs, around=r"(?<= )({})(?= )"):
    """Words, or signs between blanks, in place of each other."""
    others = {**pairs, **{new: old for old, new in pairs.items()}}
    pattern = re.compile(around.format("|".join(re.escape(one) for one in sorted(others, key=len, reverse=True))))

    def places(code):
        for found in pattern.finditer(code):
            yield Mutant(name, found.start(1), found.end(1), others[found[1]])
    return places


def off_by_one(code):
    for found in re.finditer(r"(?<=[ (,{\[])(\d+)(?=[;,)}\] ])", code):
        yield Mutant("off-by-one", found.start(), found.end(), str(int(found[1]) + 1))


def wrong_unit(code):
    for found in re.finditer(r"\b(\d+(?:\.\d+)?e)(-?\d+)\b", code):
        yield Mutant("wrong unit", found.start(), found.end(), f"{found[1]}{int(found[2]) + 3}")
    for found in re.finditer(r"(?<![\w'.])1'000(?:'000)*(?![\w'.])", code):
        yield Mutant("wrong unit", found.start(), found.end(), "1" + found[0][5:])


def conditions(code):
    """Where the condition of an `if` or a `while` that declares nothing begins and ends."""
    for found in re.finditer(r"\b(?:if|while) \(", code):
        begin = found.end() - 1
        end = end_of(code, begin)
        inner = code[begin + 1:end - 1]
        if end > 0 and ";" not in inner and not re.match(r"\s*(const|auto)\b", inner) and not re.search(r"[^=!<>]=[^=]", inner):
            yield begin + 1, end - 1


def turned_condition(code):
    for begin, end in conditions(code):
        yield Mutant("turned condition", begin, end, f"!({code[begin:end]})")


def operands(code, begin, end):
    """Of a condition, the parts between && or || of its top level, as (begin, end)."""
    parts, depth, last = [], 0, begin
    for at in range(begin, end):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if depth == 0 and code[at:at + 2] in ("&&", "||") and code[at - 1].isspace():
            parts.append((last, at))
            last = at + 2
    parts.append((last, end))
    return parts


def dropped_operand(code):
    for begin, end in conditions(code):
        parts = operands(code, begin, end)
        if len(parts) > 1:
            # The first with the sign behind it, the others with the sign before them.
            yield Mutant("dropped condition", parts[0][0], parts[1][0], "")
            for one in parts[1:]:
                yield Mutant("dropped condition", one[0] - 2, one[1], "")


def dropped_guard(code):
    for found in re.finditer(r"(?<=[;{}])(\s*\n\s*)if \(.*\) (?:return|continue|break)\b[^;\n]*;(?=\n)", code):
        if not code[found.end():].lstrip().startswith("else"):
            yield Mutant("dropped guard", found.end(1), found.end(), "")


STATEMENT = re.compile(r"(?<=[;{}])(\s*\n\s*)((?!return|break|continue|throw|using|goto|case|delete|default|else|static_assert)"
                       r"(?:[A-Za-z_][\w.:]*(?:->[\w.]+|\[[^\]\n]*\])*(?:\([^\n]*\)| (?:[-+*|&]?=) [^\n]*)|(?:\+\+|--)[^;\n]*));(?=\n)")


def dropped_statement(code):
    for found in STATEMENT.finditer(code):
        yield Mutant("dropped statement", found.start(2), found.end(), "")


OPERATORS = {
    "boundary": swapped("boundary", {"<": "<=", ">": ">="}),
    "turned equality": swapped("turned equality", {"==": "!="}),
    "and for or": swapped("and for or", {"&&": "||"}),
    "wrong sign": swapped("wrong sign", {"+": "-", "+=": "-="}),
    "wrong product": swapped("wrong product", {"*": "/"}, r"(?<=[\w)] )({})(?= [\w(])"),
    "wrong truth": swapped("wrong truth", {"true": "false"}, r"\b({})\b"),
    "wrong extreme": swapped("wrong extreme", {"min": "max"}, r"(?<=std::)({})(?=[(<])"),
    "off-by-one": off_by_one,
    "wrong unit": wrong_unit,
    "turned condition": turned_condition,
    "dropped condition": dropped_operand,
    "dropped guard": dropped_guard,
    "dropped statement": dropped_statement,
}
# What only a device does, what is checked while compiling, and what is there for the eyes of a compiler.
LEFT_OUT = re.compile(r"[Cc]uda|[Dd]evice|\bstream\b|static_assert|constexpr std::array|\btemplate\b|lock_guard|unique_lock|\boperator\b|"
                      r"reserve\(|\[\[|noexcept")


FEW_PLACES = 15


def mutants_of(text):
    """Every mistake that some operator can make in this text, by operator."""
    code = masked(text)
    found = {}
    for name, places in OPERATORS.items():
        for one in places(code):
            begin, end = code.rfind("\n", 0, one.begin) + 1, code.find("\n", one.end)
            if not LEFT_OUT.search(code[begin:end]):
                found.setdefault(name, []).append(one)
    return found


def draws(texts, seed):
    """(name, mutant) of these texts by name, in an order that the seed gives, each once: an operator, then one of its places."""
    chance = random.Random(seed)
    places = {}
    for name in sorted(texts):
        for operator, mutants in mutants_of(texts[name]).items():
            places.setdefault(operator, []).extend((name, one) for one in mutants)
    while places:
        names = sorted(places)
        # One with few places does not come as often as one with many.
        [operator] = chance.choices(names, [min(len(places[name]), FEW_PLACES) for name in names])
        yield places[operator].pop(chance.randrange(len(places[operator])))
        if not places[operator]:
            del places[operator]
