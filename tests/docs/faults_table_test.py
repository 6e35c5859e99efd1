"""The table of faults (docs/reference/faults.md): every row has its number once, and a test that exists or a reason."""
import functools
import re

import pytest
from tests.conftest import ROOT

TABLE = ROOT / "docs" / "reference" / "faults.md"
ROWS = 78


def entries():
    """Pairs of a row's first words and its items: what covers it, or why nothing does."""
    found = []
    for line in TABLE.read_text().splitlines():
        if match := re.match(r"(\d+\.|\*) \*\*(.+?)\*\*", line):
            found.append((f"{match[1]} {match[2]}", []))
        elif match := re.match(r" +- (.+)", line):
            found[-1][1].append(match[1])
        elif found and found[-1][1] and line.startswith("  "):
            found[-1][1][-1] += " " + line.strip()
    return found


@functools.cache
def names_in(path):
    """The names of the tests of a file."""
    text = path.read_text()
    if path.suffix == ".py":
        return set(re.findall(r"^def (test_\w+)\(", text, re.M))
    return set(re.findall(r'TEST_CASE\(\s*"(.+?)"\)', text))


def test_every_row_has_its_number_once():
    numbers = [int(row.split(".")[0]) for row, _ in entries() if row[0].isdigit()]
    assert numbers == list(range(1, ROWS + 1))


@pytest.mark.parametrize("row, items", entries(), ids=[row for row, _ in entries()])
def test_a_row_names_tests_that_exist_or_a_reason(row, items):
    assert items
    for item in items:
        file, _, name = item.partition(": ")
        if file == "not covered":
            assert len(items) == 1 and len(name.split()) > 3
            continue
        path = ROOT / file
        assert path.is_file(), item
        if re.search(r"_test\.(py|cpp)$", file):
            assert name in names_in(path), item
        else:
            assert name == "", item
