"""Completion: what shells offer is what --help and the schema list, files by their endings, and keys of the graph at hand."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from tests.conftest import LIBRARY, PROGRAM, ROOT, run_contorno

# What bash does before it asks: words are broken at = and : too, and what was asked for is printed, a line each.
IN_BASH = """
source "$1"; shift
[[ $(complete -p contorno) == *"-F _contorno"* ]] || exit 9
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
_contorno
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """The folder with a script for each shell."""
    folder = tmp_path_factory.mktemp("scripts")
    for shell in ("bash", "zsh", "fish"):
        (folder / shell).write_text(run_contorno("completion", shell).stdout)
    return folder


@pytest.fixture
def bash(scripts, tmp_path):
    def complete(*words):
        """What bash offers for the last word, in an empty folder with what the test has put there."""
        broken = [part for word in words for part in (re.findall(r"[=:]|[^=:]+", word) or [""])]
        if words[-1].endswith("=") and len(words[-1]) > 1:
            assert broken[-1] == "="
        done = subprocess.run(["bash", "--norc", "-c", IN_BASH, "bash", scripts / "bash", PROGRAM, *broken], cwd=tmp_path,
                              capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return sorted(done.stdout.split("\n")[:-1]) if done.stdout != "\n" else []
    return complete


def commands():
    return re.findall(r"^  ([a-z-]+) ", run_contorno("--help").stdout.partition("Subcommands:")[2], re.M)


def options(command):
    """The options of a command by its help: their long names, and the words that each may be."""
    found = re.findall(r"^  (?:-\w,)?(--[\w-]+)(?: \S*?\{([^}]*)\})?", run_contorno(command, "--help").stdout, re.M)
    return {name: sorted(words.split(",")) if words else [] for name, words in found}


@pytest.fixture(scope="module")
def schema():
    return json.loads(run_contorno("schema").stdout)


def nodes(schema, kind):
    return {name.removeprefix(kind + "_") for name in schema["definitions"] if name.startswith(kind + "_")}


def test_commands_and_options_are_those_of_the_help(bash):
    assert bash("") == sorted(commands()) and len(commands()) > 15
    assert bash("re") == ["record", "replay"]
    for command in commands():
        assert [word for word in bash(command, "--")] == sorted(options(command)), command
    assert bash("--") == ["--help", "--load", "--version"]


def test_stages_of_loaded_files_are_known(bash, tmp_path):
    extension = LIBRARY.parent / "examples" / "own_stage.so"
    if not extension.exists():
        pytest.skip("needs the target example_extension")
    assert bash("help", "stee") == [] and bash("--load", str(extension), "help", "stee") == ["steepen"]
    assert bash("--load", str(tmp_path / "none.so"), "help", "morph") == bash("help", "morph") == ["morphology"]


def test_words_of_options_are_those_of_the_help(bash):
    seen = 0
    for command in commands():
        for option, words in options(command).items():
            if words:
                seen += 1
                assert bash(command, option, "") == words == bash(command, f"{option}="), (command, option)
                assert bash(command, option, words[0][:1]) == [word for word in words if word[0] == words[0][0]]
    assert seen > 10
    assert bash("bench", "") == sorted(re.search(r"PART.*?\{(.*?)\}", run_contorno("bench", "--help").stdout)[1].split(","))


def test_an_option_is_offered_again_only_where_it_may_be_repeated(bash):
    assert "--quiet" not in bash("run", "graph.yaml", "--quiet", "--")
    assert "--set" in bash("run", "--set", "a.b=1", "--") and "--report" not in bash("run", "--report=x.json", "--")


def test_stages_sources_and_sinks_are_those_of_the_schema(bash, schema):
    halves = {"marching_squares", "contour_assembly"}
    stages = nodes(schema, "stage") - halves
    assert set(bash("apply", "")) == stages
    parts = stages | nodes(schema, "source") | nodes(schema, "sink") | {"graph", "pipeline", "classes", "sources", "live", "ops"}
    assert set(bash("stages", "")) == parts
    assert set(bash("help", "")) == set(bash("man", "")) == parts | set(commands())
    assert set(bash("clean", "in.jsonl", "out.jsonl", "--step", "")) == nodes(schema, "step")


def test_parameters_of_the_stage_that_is_applied(bash, schema):
    keys = {f"--{key}" for key in schema["definitions"]["stage_morphology"]["properties"]} - {"--type", "--name", "--from"}
    assert set(bash("apply", "morphology", "in.png", "out.png", "--")) == keys | set(options("apply"))
    assert set(bash("apply", "morphology", "in.png", "out.png", "--border", "")) == \
        set(schema["definitions"]["stage_morphology"]["properties"]["border"]["enum"])
    assert bash("apply", "morphology", "in.png", "out.png", "--non_flat=") == ["false", "true"]
    assert bash("apply", "reconstruction", "in.png", "out.png", "--ma") == ["--mask"], "its second input"


def test_keys_of_set_without_a_graph_are_those_of_the_catalogue(bash, schema):
    halves = {"marching_squares", "contour_assembly"}
    names = (nodes(schema, "stage") - halves) | nodes(schema, "sink") | {"source", "pipeline"}
    assert set(bash("run", "--set", "")) == {name + "." for name in names}
    keys = set(schema["definitions"]["stage_mipmap"]["properties"]) - {"type", "name", "from"}
    assert set(bash("run", "--set", "mipmap.")) == {f"mipmap.{key}=" for key in keys}
    keys = {key for source in nodes(schema, "source") for key in schema["definitions"][f"source_{source}"]["properties"]} - {"type"}
    assert set(bash("record", "--set", "source.")) == {f"source.{key}=" for key in keys}
    assert bash("run", "--set", "pipeline.backend=") == ["auto", "cpu", "cuda", "cuda:all"]
    assert bash("run", "--set", "pipeline.backend=cu") == ["cuda", "cuda:all"]


def test_keys_of_set_are_those_of_the_graph_on_the_line(bash, tmp_path):
    (tmp_path / "line.yaml").write_text("""source: {type: synthetic, frames: 2}
classes: [{name: rot}, {name: top side}]
stages: [contours, {type: morphology, name: clean, from: source.frame}, overlay]
sinks: [{type: jsonl, name: lines, path: c.jsonl}]
""")
    assert set(bash("run", "line.yaml", "--set", "")) == {"source.", "pipeline.", "classes.rot.", "classes.top\\ side.",
                                                          "contours.", "clean.", "overlay.", "lines."}
    assert bash("run", "line.yaml", "--set", "clean.oper") == ["clean.operation="]
    assert "opening" in bash("run", "line.yaml", "--set", "clean.operation=")
    assert bash("run", "line.yaml", "--set", "lines.on_full=drop") == ["drop_oldest"]
    assert bash("run", "line.yaml", "--set", "classes.rot.lev") == ["classes.rot.level=", "classes.rot.levels="]
    assert bash("run", "line.yaml", "--set", "classes.top\\ side.fi") == ["classes.top\\ side.fill="]
    assert bash("run", "line.yaml", "--set", "nothing.") == []
    (tmp_path / "line.yaml").write_text("stages: [")
    assert "morphology." in bash("run", "line.yaml", "--set", ""), "a wrong graph is as none"


def test_files_are_offered_by_their_endings(bash, tmp_path):
    for name in ("a.yaml", "b.yml", "c.json", "d.npy", "e.svg", "f.mp4", "g.jsonl"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    every = sorted(path.name for path in tmp_path.iterdir())
    assert bash("run", "") == every
    assert bash("gst", "") == ["a.yaml", "b.yml", "c.json", "folder"]
    assert bash("mean-shift", "d.npy", "") == ["d.npy", "folder"]
    assert bash("mean-shift", "d.npy", "l.npy", "--plot", "") == bash("mean-shift", "--plot=") == ["e.svg", "folder"]
    assert bash("clean", "") == ["c.json", "folder", "g.jsonl"]
    assert bash("run", "a.yaml", "--output", "") == ["folder"]
    assert bash("find-contours", "d.npy", "") == []


def test_files_to_load_are_offered_by_absolute_paths(bash, tmp_path):
    """As the option takes them; what is no path yet becomes that of the current folder."""
    for name in ("mine.so", "mine.cpp", "mine.so.1"):
        (tmp_path / name).touch()
    (tmp_path / "more").mkdir()
    here = f"{tmp_path}/"
    for words in (["--load"], ["--load", "/no/such.so", "--load"]):
        assert bash(*words, "") == [here]
        assert bash(*words, here) == bash(*words[:-1], f"--load={here}") == [f"{here}mine.so", f"{here}more"]
        assert bash(*words, "mi") == bash(*words, "./") == []
    assert bash("--load=") == [here]
    assert bash("--load", f"{here}mine.so", "chec") == bash(f"--load={here}mine.so", "chec") == ["check"]
    assert bash("--load", f"{here}mine.so", "check", "--sv") == ["--svg"] and bash("--unknown", "check", "--sv") == ["--svg"]


def test_what_is_wrong_before_does_not_matter(bash):
    assert bash("nonsense", "--") == []
    assert bash("run", "--nonsense", "a", "b", "--q") == ["--quiet"]
    assert bash("run", "--frames", "many", "--q") == ["--quiet"]
    done = run_contorno("completion", "words", "\x01", "\n", "--set", "=.=.=")
    assert done.stdout == done.stderr == ""


def test_a_shell_that_is_not_known_is_refused():
    done = run_contorno("completion", "csh", check=False)
    assert done.returncode == 2 and "csh" in done.stderr and "bash" in done.stderr


def shell(name):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_the_scripts_are_right_in_their_shells(scripts, name):
    done = subprocess.run([shell(name), "-n", scripts / name], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_fish_offers_the_same_with_what_they_are(scripts, tmp_path):
    (tmp_path / "a.yaml").touch()
    path = f"{pathlib.Path(PROGRAM).resolve().parent}:{os.environ['PATH']}"

    def complete(line):
        done = subprocess.run([shell("fish"), "--no-config", "-c", f"source {scripts / 'fish'}; complete -C '{line}'"], cwd=tmp_path,
                              capture_output=True, text=True, env={**os.environ, "PATH": path, "HOME": str(tmp_path)})
        assert (done.returncode, done.stderr) == (0, "")
        return dict(entry.partition("\t")[::2] for entry in done.stdout.splitlines())
    assert set(complete("contorno ")) == set(commands())
    assert complete("contorno run --backend ") == {"auto": "", "cpu": "", "cuda": "", "cuda:all": ""}
    assert complete("contorno run --qui") == {"--quiet": "No progress and no closing message"}
    assert set(complete("contorno gst ")) == {"a.yaml"}
    for name in ("mine.so", "mine.cpp", "so"):
        (tmp_path / name).touch()
    (tmp_path / "more").mkdir()
    here = f"{tmp_path}/"
    assert set(complete("contorno --load ")) == {here}
    assert set(complete(f"contorno --load {here}")) == {f"{here}mine.so", f"{here}more/"}
    assert set(complete(f"contorno --load={here}m")) == {f"--load={here}mine.so", f"--load={here}more/"}
    assert set(complete("contorno run --set pipeline.waiting=")) == {"pipeline.waiting=adaptive", "pipeline.waiting=block"}


def test_zsh_offers_the_same_with_what_they_are(scripts, tmp_path):
    code = """compdef() { : }
_describe() { print -l "described" "${(@P)4}" "${@:5}" }
_files() { print -r -- "files" "$@" ${PREFIX:#} }
compset() { PREFIX=${PREFIX#${~2}} }
source "$1"; shift
words=("$@") CURRENT=$# PREFIX=${@[-1]}
_contorno
"""

    def complete(*words):
        done = subprocess.run([shell("zsh"), "-f", "-c", code, "zsh", scripts / "zsh", PROGRAM, *words], cwd=tmp_path,
                              capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()
    assert [line.partition(":")[0] for line in complete("")] == ["described", *commands()]
    assert complete("run", "--qui") == ["described", "--quiet:No progress and no closing message"]
    assert complete("gst", "") == ["files -g *.(yaml|yml|json)(-.)"]
    assert complete("run", "--output", "") == ["files -/"] and complete("run", "--output=/tm") == ["files -/ /tm"]
    assert complete("--load", "/tm") == complete("--load=/tm") == ["files -g *.(so)(-.) /tm"]
    assert complete("--load", "")[1] == f"{tmp_path}/:"
    assert complete("run", "--set", "pipeline.wai")[-2:] == ["-S", ""]


def test_the_build_has_made_the_same_scripts(scripts):
    built = pathlib.Path(PROGRAM).parent.parent / "pages" / "completion"
    if not built.exists():
        pytest.skip("this build makes no completion")
    for shell_name, file in (("bash", "contorno"), ("zsh", "_contorno"), ("fish", "contorno.fish")):
        assert (built / file).read_text() == (scripts / shell_name).read_text()
    installed = (ROOT / "tools" / "CMakeLists.txt").read_text()
    for folder in ("bash-completion/completions", "zsh/vendor-completions", "fish/vendor_completions.d"):
        assert folder in installed
