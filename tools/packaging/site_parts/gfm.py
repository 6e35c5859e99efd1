"""Pages are written for the Markdown of forges (GitHub's), the site's generator reads Python-Markdown: the same text with what the
latter wants, and the anchors of the former."""
import re

LIST = re.compile(r"(?:[*-]|\d+\.) ")
TABLE = re.compile(r"\|.*\|\s*$")
FENCE = re.compile(r"(?:```|~~~)")


def kind_of(line, before):
    """What a line begins or goes on with: "list", "table", "code" (indented by four or more), "text" or "blank"."""
    if not line.strip():
        return "blank"
    if LIST.match(line):
        return "list"
    if TABLE.match(line):
        return "table"
    if before == "list":  # the item goes on, also in a line that is not indented
        return "list"
    return "code" if line.startswith("    ") and before in ("blank", "code") else "text"


def for_python_markdown(text):
    """Puts the blank lines before lists, tables and blocks of code that a forge does without, and indents what belongs to an item
    of a list by four, as lists in lists want it."""
    lines, before, fenced, offset = [], "blank", False, 0
    for line in text.splitlines():
        if FENCE.match(line):
            fenced = not fenced
            if fenced and before != "blank":
                lines.append("")
            lines += [line] if fenced else [line, ""]
            before, offset = "blank", 0
            continue
        if fenced:
            lines.append(line)
            continue
        kind = kind_of(line, before)
        if kind in ("list", "table") and before not in (kind, "blank") or kind == "text" and before == "table":
            lines.append("")
        if LIST.match(line):
            offset = LIST.match(line).end()
        elif kind == "list" and line.startswith(" " * offset):
            line = " " * (4 - offset) + line
        elif kind not in ("list", "blank"):
            offset = 0
        lines.append(line)
        before = "blank" if line.startswith("#") else kind
    return "\n".join(lines) + "\n"


def slug(text, separator):
    """The anchor of a heading as forges make it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", separator)
