"""What every parameter of a graph may be, and is when it is left out: the list that is written down, compared line by line.
`/usr/bin/python3 tests/config/ranges_test.py --write` writes it."""
import difflib
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from tests.conftest import PROGRAM, ROOT  # noqa: E402

RANGES = ROOT / "tests" / "data" / "config" / "ranges.txt"
SAID = ("type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum", "const", "pattern", "minItems", "maxItems", "maxLength",
        "default")


def lines(schema, path=""):
    """A line for each place of a schema that says what a value may be."""
    if isinstance(schema, list):
        schema = {str(number): one for number, one in enumerate(schema)}
    if not isinstance(schema, dict):
        return
    said = {key: schema[key] for key in SAID if key in schema and not isinstance(schema[key], dict)}
    if said:
        yield f"{path}: {json.dumps(said)}"
    for key, value in schema.items():
        if key not in said and key not in ("description", "examples", "$id", "version", "title"):
            yield from lines(value, f"{path}/{key}")


def ranges():
    done = subprocess.run([PROGRAM, "schema"], capture_output=True, text=True, check=True, timeout=60)
    return list(lines(json.loads(done.stdout)))


def test_every_parameter_may_be_what_was_written_down():
    differing = [line for line in difflib.unified_diff(RANGES.read_text().splitlines(), ranges(), lineterm="", n=0)
                 if not line.startswith(("---", "+++", "@@"))]
    assert differing == []


if __name__ == "__main__" and "--write" in sys.argv:
    RANGES.write_text("\n".join(ranges()) + "\n")
