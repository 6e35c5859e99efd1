"""The generated JSON schema accepts good graphs and refuses misspelt ones, as an editor would see it."""
import copy
import json
import os
import pathlib
import subprocess

import jsonschema
import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "config"
SCHEMA = json.loads((DATA / "schema.json").read_text())
GOOD = yaml.safe_load((DATA / "good.yaml").read_text())
# Mistakes that a schema can see; duplicate names, cycles and mismatched ports are the loader's alone.
SEEN_BY_SCHEMA = ["unknown_names", "missing_keys", "launch_line", "bad_values", "wrong_sections", "not_a_map", "wrong_from"]


def errors(graph, schema=SCHEMA):
    return [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(graph)]


def test_the_schema_is_itself_valid():
    jsonschema.Draft7Validator.check_schema(SCHEMA)


def test_a_good_graph_is_accepted():
    assert errors(GOOD) == []


@pytest.mark.parametrize("name", SEEN_BY_SCHEMA)
def test_a_wrong_graph_is_refused(name):
    assert errors(yaml.safe_load((DATA / f"{name}.yaml").read_text())) != []


def change(path, value):
    graph = copy.deepcopy(GOOD)
    at = graph
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return graph


@pytest.mark.parametrize("path, value, word", [
    (["stages", 0, "sigmaa"], 1, "sigmaa"),
    (["stages", 0, "sigma"], 51, "51"),
    (["stages", 0, "sigma"], "1", "'1'"),
    (["stages", 0, "edge"], "wrapp", "wrapp"),
    (["stages", 0, "resize"], [1, 2, 3], "too long"),
    (["stages", 1, "type"], "clasify", "clasify"),
    (["stages", 4, "from", "frames"], "source", "frames"),
    (["classes", 0, "colour"], "red", "red"),
    (["classes", 0, "levle"], 0.5, "levle"),
    (["classes", 0, "ranges", 0, "hue"], [0, 361], "361"),
    (["pipeline", "slots"], 0, "0"),
    (["sinks", 0, "pth"], "x", "pth"),
    (["sink"], [], "sink"),
    (["source", "locaton"], "x", "locaton"),
])
def test_one_mistake_gives_a_message_that_names_it(path, value, word):
    found = errors(change(path, value))
    assert found and any(word in message for message in found), found


def test_the_program_prints_a_schema_that_accepts_the_example_graphs():
    program = os.environ.get("CONTORNO_BIN")
    if not program:
        pytest.skip("CONTORNO_BIN is not set")
    schema = json.loads(subprocess.run([program, "schema"], check=True, capture_output=True).stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    assert (schema["version"], schema["$id"]) == (version, f"urn:contorno:graph:{version}")
    assert list(schema)[:3] == ["$schema", "$id", "version"]
    for path in sorted((ROOT / "config" / "examples").glob("*.yaml")):
        assert errors(yaml.safe_load(path.read_text()), schema) == [], path.name
