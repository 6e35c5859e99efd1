"""What the program says of graphs that are wrong or odd, word for word: every rule of reading values, steps, references, classes and
settings has a line here. The sentences lie in tests/data/config/messages.txt; `messages_test.py --write` writes them again, to be read
before they are committed."""
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from tests.conftest import ROOT, run_contorno  # noqa: E402

WRITTEN = ROOT / "tests" / "data" / "config" / "messages.txt"
SOURCE = "source: {type: synthetic, maps_size: [48, 32], classes: 2, frames: 3}\n"
CLASSES = "classes: [{name: a}, {name: b}]\n"
HEAD = SOURCE + CLASSES


def stages(*lines):
    return "stages:\n" + "".join(f"  - {line}\n" for line in lines)


FOUND = ("marching_squares", "contour_assembly")
PLAIN = HEAD + stages(*FOUND)
STEPS = HEAD + stages(*FOUND, "{type: contour_prep, steps: [drop_small, largest_first]}")
LONG = "n" * 64
CASES = {
    # Values.
    "flag as a word": (HEAD + stages("{type: classify, smooth: 1}", "marching_squares", "{type: contour_assembly, parts: yes}"),),
    "flags": (HEAD + stages(*FOUND, "{type: overlay, counts: on}", "{type: overlay, counts: off}", "{type: overlay, counts: 1}",
                            "{type: overlay, counts: 'true'}", "{type: overlay, counts: maybe}", "{type: overlay, counts: [true]}"),),
    "integers": (HEAD + stages("marching_squares", *(f"{{type: contour_assembly, min_points: {value}}}" for value in (
        "-1", "1.5", "0x10", "1e3", "'4'", "four", "010", "1_000", "[4]", "99999999999999999999", "+5", "5.", ".5", "1,000", ""))),),
    "numbers": (HEAD + stages(*FOUND, *(f"{{type: overlay, line_width: {value}}}" for value in (
        "-0.5", "nan", ".inf", "1e400", "'2'", "two", "1,5", "2px", "50%", "1/2", "[1, 2]", "{a: 1}", ""))),),
    "choices": (HEAD + stages(*FOUND, *(f"{{type: overlay, legend: {value}}}" for value in (
        "top_lef", "[top_left]", "1", "''", "null"))),),
    "colours": (SOURCE + "classes: [{name: a, colour: e63946}, {name: b, colour: '#12345'}, {name: c, colour: redd}, "
                "{name: d, colour: 123456}, {name: e, colour: [1, 2]}, {name: f, colour: e6394}, {name: g, colour: 12345678}]\n" + stages(*FOUND),),
    "a colour that is a comment": (SOURCE + "classes:\n  - name: a\n    colour: #ffffff\n  - {name: b}\n" + stages(*FOUND),),
    "lists of numbers": ("source: {type: synthetic, classes: 2, maps_size: [48]}\n" + CLASSES + stages(*FOUND),),
    "lists that are too long": ("source: {type: synthetic, classes: 2, maps_size: [48, 32, 3]}\n" + CLASSES + stages(*FOUND),),
    "lists with wrong items": ("source: {type: synthetic, classes: 2, maps_size: [48, x]}\n" + CLASSES + stages(*FOUND),),
    "lists with items out of range": ("source: {type: synthetic, classes: 2, maps_size: [0, 99999999]}\n" + CLASSES + stages(*FOUND),),
    "lists without a value": ("source: {type: synthetic, classes: 2, maps_size: , frame_size: ~}\n" + CLASSES + stages(*FOUND),),
    "a mistake behind a password and letters of several bytes": (
        "source: {type: video, location: \"rtsp://\u00e4nn\u00e9:geh\u00e4\u00fcm\u20ac@h/\u00e4\", seed: 3}\n" + CLASSES + stages(*FOUND),),
    "text": ("source: {type: dataset, location: [a]}\n" + CLASSES + stages(*FOUND),),
    "text that is a number": ("source: {type: dataset, location: 1.50}\n" + CLASSES + stages(*FOUND),),
    "text that is a truth value": (SOURCE + "classes: [{name: no}, {name: .nan}, {name: 'no'}, {name: 7}, {name: 007}, {name: ~}]\n" + stages(*FOUND),),
    "a key that is missing": ("source: {type: dataset}\n" + CLASSES + stages(*FOUND),),
    "a mask that is missing": (HEAD + stages(*FOUND, "{type: contour_prep, steps: [{type: exclude, mask: none.png}]}"),),
    # The command line.
    "settings": (PLAIN, "--set", "contour_assembly.min_points=5", "--set", "x", "--set", "=3", "--set", ".a=3", "--set", "a.=3",
                 "--set", "contour_assembly=3"),
    "settings of what is not there": (PLAIN, "--set", "contour_assemby.min_points=5", "--set", "clases.a.level=1", "--set",
                                      "classes.c.level=1", "--set", "sourc.seed=1", "--set", "pipelin.slots=1", "--set", "zzz.y=1"),
    "settings with wrong values": (PLAIN, "--set", "contour_assembly.min_points=many", "--set", "source.maps_size=48,x", "--set",
                                   "source.maps_size=[48", "--set", "source.maps_size={a: 1}", "--set", "classes.a.colour=#12",
                                   "--set", "pipeline.slots=0", "--set", "classes.b.level=x=y"),
    "settings of steps": (STEPS, "--set", "contour_prep_drop_small.min_points=x", "--set", "contour_prep.min_points=3", "--set",
                          "contour_prep_largest.limit=3", "--set", "contour_prep_largest_first.limits=3"),
    "steps by the command line": (STEPS, "--set", "contour_prep.steps=[drop_smal, {type: smooth, terms: 0}]"),
    "good settings": (STEPS, "--set", "source.maps_size= 64 , 48", "--set", "pipeline.slots=3", "--set", "classes.a.level=0.25",
                      "--set", "contour_prep_largest_first.limit=7", "--set", "contour_assembly.min_points=9"),
    "a list of steps by the command line": (STEPS, "--set", "contour_prep.steps=smooth,drop_small", "--set",
                                            "contour_prep_smooth.terms=5"),
    # Steps.
    "steps": (HEAD + stages(*FOUND, "{type: contour_prep, steps: [drop_smal, {type: smooth, terms: none}, 5, [a], {terms: 3}]}"),),
    "no steps": (HEAD + stages(*FOUND, "contour_prep", "{type: contour_prep, steps: []}", "{type: contour_prep, steps: }"),),
    "steps that say where from": (HEAD + stages(*FOUND, "{type: contour_prep, steps: [{type: smooth, from: contour_assembly}, {type: "
                                                "drop_small, from: x}]}"),),
    "steps with a name": (HEAD + stages(*FOUND, "{type: contour_prep, steps: [{type: smooth, name: s}]}"),),
    "names of steps": (HEAD + stages(*FOUND, f"{{type: contour_prep, name: {LONG}, steps: [drop_small, drop_small, largest_first]}}"),),
    "names of steps that are taken": (HEAD + stages(*FOUND, "{type: smooth_it, name: x}"),),
    "steps that read maps": (HEAD + stages(*FOUND, "{type: contour_prep, steps: [drop_small, {type: measure_map, from: {maps: source.maps}}]}"),),
    "steps that read contours and maps": (HEAD + stages(*FOUND, "{type: contour_prep, steps: [{type: measure_map, from: {contours: "
                                                        "contour_assembly}}]}"),),
    "a list of steps with a wrong from": (HEAD + stages(*FOUND, "{type: contour_prep, from: {contour: contour_assembly}, steps: [smooth]}"),),
    # References.
    "from": (HEAD + stages(*FOUND, "{type: overlay, from: contour_assembl}", "{type: overlay, from: [a, b, c]}", "{type: overlay, from: "
                           "{contors: contour_assembly}}", "{type: overlay, from: source.map}", "{type: overlay, from: 5}",
                           "{type: overlay, from: []}"),),
    "from itself": (HEAD + stages(*FOUND, "{type: overlay, name: o, from: {contours: p}}", "{type: contour_prep, name: p, from: q, steps: "
                                  "[smooth]}", "{type: contour_prep, name: q, from: p, steps: [smooth]}"),),
    "the wrong kind": (HEAD + stages("marching_squares", "contour_assembly", "{type: overlay, from: {contours: source.maps}}",
                                     "{type: morphology, from: contour_assembly}"),),
    "halves": (HEAD + stages("contour_assembly"),),
    "two first halves": (HEAD + stages("marching_squares", "{type: marching_squares, name: again}", "contour_assembly"),),
    "half alone": (HEAD + stages("marching_squares"),),
    "sinks": (PLAIN + "sinks: [{type: jsonl, path: a.jsonl, from: nobody}, {type: jsonlines, path: b}, {type: jsonl}, 5]\n",),
    "names": (HEAD + stages("{type: marching_squares, name: 'a b'}", "{type: contour_assembly, name: source}", "{type: overlay, name: ''}",
                            "{type: overlay, name: o}", "{type: colour_map, name: o}"),),
    # Sections.
    "sections": ("sourc: {type: synthetic}\nstage: []\nclases: []\nsinks: 5\n",),
    "sections of the wrong kind": ("source: [1]\nclasses: {a: 1}\nstages: contours\nsinks: {}\npipeline: 5\n",),
    "no source": (CLASSES + stages(*FOUND),),
    "no stages": (HEAD,),
    "an unknown source": ("source: {type: synthetik}\n" + CLASSES + stages(*FOUND),),
    "an unknown stage": (HEAD + stages("marching_square", "contour_assembly", "{typ: overlay}", "{name: x}", "[a]"),),
    "the pipeline": (PLAIN + "pipeline: {slots: 010, on_full: block, deadline: 5, threads: -1, on_ful: drop}\n",),
    # Classes.
    "classes": (SOURCE + "classes: [{name: a, level: x}, {name: a}, {levle: 0.5}, {name: b, levels: [1, x]}, {name: c, levels: [3, 2]}, 5]\n" +
                stages(*FOUND),),
    "spaced levels": (SOURCE + "classes: [{name: a, levels: {from: 0, to: 1, step: 0}}, {name: b, levels: {from: 1, to: 0, step: 0.1}}, {name: c, "
                      "levels: {from: 0, to: 1}}, {name: d, levels: {from: 0, to: 1, step: 1e-9}}]\n" + stages(*FOUND),),
    "good levels": (SOURCE + "classes: [{name: a, levels: {from: 0.1, to: 0.4, step: 0.1}}, {name: b, levels: [0.25, 0.75]}]\n" + stages(*FOUND),),
    "automatic classes": ("source: {type: dataset, location: x.npy}\nclasses: autom\n" + stages(*FOUND),),
    "no classes": (SOURCE + "classes: []\n" + stages(*FOUND),),
    "colours to look for": (SOURCE + "classes: [{name: a, references: ['#ff0000']}, {name: b, references: [red, 5]}]\n" + stages(*FOUND),),
    # YAML.
    "a tab": ("source:\n\ttype: synthetic\n",),
    "a tab in the first line": ("\tsource: {type: synthetic}\n",),
    "a tab a line before its error": ("source: {type: synthetic}\nclasses:\n  - name: a\n\t\n    level: 0.5\n",),
    "a tab two lines before an error": ("source: {type: synthetic}\n\t\nclasses: [\n  a\n] b\n",),
    "a tab before a key": ("source:\n  type: synthetic\n\tframes: 3\nstages: []\n",),
    "a tab behind a dash": ("stages:\n  -\tmarching_squares\n" + HEAD,),
    "a tab behind a colon": ("source: {type: synthetic,\tclasses: 2, maps_size: [48, 32], frames: 3}\n" + CLASSES + stages(*FOUND),),
    "a long line": (HEAD + "stages: [" + "marching_squares, " * 9 + "{type: overlay, nonsense: 5}, " + "contour_assembly, " * 9 + "overlay]\n",),
    "the end of a long line": (HEAD + stages(*FOUND) + "sinks: [" + "{type: jsonl, path: a.jsonl}, " * 6 + "{type: jsonlx}]\n",),
    "twice the same key": (PLAIN + "classes: []\n",),
    "an open bracket": (HEAD + "stages: [marching_squares\n",),
    "an open quote": (HEAD + "stages: ['marching_squares]\n",),
    "an alias": ("source: &s {type: synthetic}\nstages: *s\n",),
    "aliases in place of values, each the only mistake": (
        "source: {type: &a synthetic, seed: *a, frames: 3, maps_size: [48, *a], classes: 2}\n"
        "classes: [{name: a, level: *a, colour: red}, *a, {name: b}]\nstages: [*a, contours]\nsinks: *a\npipeline: {slots: 2}\n",),
    "nothing": ("",),
    "a list": ("- a\n- b\n",),
    "a drawing": (PLAIN + "sinks: [{type: jsonl, path: a.jsonl}]\n", "--dot", "-"),
    "a drawing of steps": (STEPS + "sinks: [{type: jsonl, path: a.jsonl}, {type: svg, path: '{frame}.svg', from: contour_assembly}]\n", "--dot", "-"),
    "a drawing of two inputs": (HEAD + stages(*FOUND, "{type: contour_prep, steps: [smooth, measure_map]}", "overlay"), "--dot", "-"),
    "all values": (PLAIN, "--all"),
    "other letters": (HEAD + stages("marching_squares", "{type: contour_assembly, ünïcode: 3}"),),
}


def cleaned(text, folder):
    """Without what depends on the folder, the machine and the modules of the build."""
    text = re.sub(r"[^ ']*/graph.yaml", "graph.yaml", text.replace(str(folder) + "/", "").replace(str(folder), "."))
    text = re.sub(r"the (stages|sources|sinks) are .*", r"the \1 are ...", text)
    return re.sub(r"^ *# (runs on|a slot takes) .*\n", "", text, flags=re.M)


def said(folder, graph, *arguments):
    (folder / "graph.yaml").write_text(graph)
    done = run_contorno("check", "graph.yaml", *arguments, cwd=folder, check=False)
    return f"{done.returncode}\n{cleaned(done.stderr, folder)}{cleaned(done.stdout, folder)}"


def written():
    parts = re.split(r"^=== (.*)\n", WRITTEN.read_text(), flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def test_every_sentence_has_a_case():
    assert list(written()) == list(CASES)


@pytest.mark.parametrize("name", CASES)
def test_the_program_says_of_a_graph_what_it_said(tmp_path, name):
    assert said(tmp_path, *CASES[name]) == written()[name]


if __name__ == "__main__":
    import tempfile
    texts = []
    for case, graph in CASES.items():
        with tempfile.TemporaryDirectory() as path:
            texts.append(f"=== {case}\n" + said(pathlib.Path(path), *graph))
    WRITTEN.write_text("".join(texts))
