"""The manual pages: no tool complains of them, they have all that --help, the schema and the sources have, and they are the
same whenever they are made."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from tests.conftest import PROGRAM, ROOT

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The folder with all pages."""
    folder = tmp_path_factory.mktemp("man")
    subprocess.run([PROGRAM, "man", "--all", folder], check=True, env=ENVIRONMENT)
    return folder


def plain(roff):
    """The text of a page, as far as names are looked for: without fonts and escapes."""
    text = re.sub(r"\\f[BIR]", "", roff)
    for escape, character in (("\\-", "-"), ("\\(aq", "'"), ("\\(ga", "`"), ("\\(ha", "^"), ("\\(ti", "~"), ("\\(dq", '"'),
                              ("\\e", "\\"), ("\\&", "")):
        text = text.replace(escape, character)
    return text


def command_names():
    listed = subprocess.run([PROGRAM, "--help"], check=True, capture_output=True, text=True).stdout
    return re.findall(r"^  ([a-z-]+) ", listed.partition("Subcommands:")[2], re.M)


def options_of_help(command):
    """The words that `contorno COMMAND --help` lists: options, arguments, and what each may be."""
    text = subprocess.run([PROGRAM, *command, "--help"], check=True, capture_output=True, text=True).stdout
    lines = [line for line in text.splitlines() if re.match(r"  \S", line)]
    words = set()
    for line in lines if not command else [line for line in lines if line.strip()]:
        name, _, rest = line.strip().partition(" ")
        if command or name.startswith("-"):
            words |= set(name.split(","))
            words |= {word for choices in re.findall(r"^\S*\{([^}]*)\}", rest) for word in choices.split(",")}
    return words


def absent(words, roff):
    return sorted(word for word in words if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", plain(roff)))


def test_there_is_a_page_for_each_command(pages):
    names = {f"man1/contorno-{name}.1" for name in command_names()} | {"man1/contorno.1", "man5/contorno-graph.5",
                                                                       "man7/contorno-stages.7"}
    assert len(names) > 15
    assert {str(path.relative_to(pages)) for path in pages.rglob("*") if path.is_file()} == names


def test_every_option_of_the_help_is_in_its_page(pages):
    for name in command_names():
        words = options_of_help([name])
        assert "--help" in words
        assert absent(words, (pages / f"man1/contorno-{name}.1").read_text()) == [], name
    assert absent(options_of_help([]) | set(command_names()), (pages / "man1/contorno.1").read_text()) == []


def test_a_page_that_lacks_an_option_would_be_found(pages):
    page = (pages / "man1/contorno-run.1").read_text()
    planted = re.sub(r"^\.TP\n\\fB\\-\\-report.*\n.*\n", "", page, flags=re.M)
    assert planted != page and absent(options_of_help(["run"]), planted) == ["--report"]


def test_stages_and_graphs_have_every_parameter(pages):
    schema = json.loads(subprocess.run([PROGRAM, "schema"], check=True, capture_output=True).stdout)
    page = (pages / "man7/contorno-stages.7").read_text()
    sections = {}
    for kind, text in re.findall(r"^\.SH \"(SOURCES|STAGES|SINKS)\"\n(.*?)(?=^\.SH )", page, re.M | re.S):
        for name, part in re.findall(r"^\.SS \"(.*?)\"\n(.*?)(?=^\.SS |\Z)", text, re.M | re.S):
            sections[kind.lower()[:-1] + "_" + name] = part
    parts = {"stage_marching_squares", "stage_contour_assembly"}  # of contours, which is where they are explained
    nodes = {name for name in schema["definitions"] if not name.startswith(("step_", "camera_"))} - parts
    assert set(sections) == nodes
    for name in nodes:
        keys = set(schema["definitions"][name]["properties"]) - {"type", "name", "from"}
        assert absent(keys, sections[name]) == [], name
    graph = (pages / "man5/contorno-graph.5").read_text()
    keys = set(schema["properties"]) | set(schema["properties"]["pipeline"]["properties"])
    keys |= set(schema["properties"]["classes"]["then"]["items"]["properties"])
    assert absent(keys, graph) == []


def run_tool(name, *arguments, **options):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return subprocess.run([name, *map(str, arguments)], capture_output=True, text=True, **options)


def test_mandoc_has_nothing_to_say(pages):
    for page in sorted(pages.rglob("*.[157]")):
        done = run_tool("mandoc", "-Tlint", "-W", "warning", page)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), page.name


def test_man_has_nothing_to_warn_of_and_reads_the_titles(pages):
    for page in sorted(pages.rglob("*.[157]")):
        done = run_tool("man", "--warnings", "-l", page, env={**ENVIRONMENT, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
        assert (done.returncode, done.stderr) == (0, ""), page.name
        assert "…" not in done.stdout and len(done.stdout) > 500
        title = run_tool("lexgrog", page).stdout
        assert re.fullmatch(rf'.*: "{page.stem} - [^"]*[^".]"\n', title), title


def test_the_date_is_that_of_the_commit_or_as_the_environment_says(contorno):
    def date(**environment):
        text = subprocess.run([PROGRAM, "man"], check=True, capture_output=True, text=True, env={**ENVIRONMENT, **environment}).stdout
        return text.split('"')[5]
    assert date(SOURCE_DATE_EPOCH="86400") == "1970-01-02"
    assert date(SOURCE_DATE_EPOCH="1767225599") == "2025-12-31"
    assert re.fullmatch(r"(\d{4}-\d\d-\d\d)?", date()) and date() == date(TZ="Asia/Tokyo")
    for wrong in ("yesterday", "-1", "99999999999999"):
        done = contorno("man", check=False, env={"SOURCE_DATE_EPOCH": wrong})
        assert done.returncode == 2 and f"SOURCE_DATE_EPOCH is '{wrong}', allowed a whole number of seconds" in done.stderr


def test_every_name_leads_to_its_page(contorno, pages, tmp_path):
    def title(*name):
        return contorno("man", *name, env={"LC_ALL": "C"}).stdout.split('"')[1:4:2]
    assert title() == title("contorno") == ["CONTORNO", "1"]
    assert title("run") == title("contorno-run.1") == ["CONTORNO\\-RUN", "1"]
    assert title("stages") == ["CONTORNO\\-STAGES", "1"] and title("contorno-stages.7") == ["CONTORNO\\-STAGES", "7"]
    assert title("graph") == ["CONTORNO\\-GRAPH", "5"]
    assert title("morphology") == ["CONTORNO\\-MORPHOLOGY", "7"] and title("contour_assembly") == ["CONTORNO\\-CONTOURS", "7"]
    done = contorno("man", "morpholgy", check=False)
    assert done.returncode == 2 and "there is no page 'morpholgy' (did you mean 'morphology'?)" in done.stderr
    done = contorno("man", "run", "--all", tmp_path, check=False)
    assert done.returncode == 2 and "leave NAME out" in done.stderr
    (tmp_path / "file").touch()
    assert contorno("man", "--all", tmp_path / "file", check=False).returncode == 73


def test_exit_codes_are_those_of_the_architecture(pages):
    table = re.findall(r"^\| ([\d, ]+) \| (.*) \|$", (ROOT / "docs/architecture.md").read_text(), re.M)
    told = [(codes, re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).replace("`", "")) for codes, text in table]
    text = plain((pages / "man1/contorno.1").read_text()).partition('.SH "EXIT STATUS"')[2].partition(".SH")[0]
    assert [(codes, sentence.rstrip(".")) for codes, sentence in re.findall(r"^\.TP\n(.*)\n(.*)$", text, re.M)] == told
    values = re.findall(r"^  \w+ = (\d+),", (ROOT / "base/error.h").read_text(), re.M)
    assert {int(value) for value in values} <= {int(code) for codes, _ in told for code in codes.split(",")}


def test_variables_of_the_environment_are_those_of_the_sources(pages):
    sources = [path for folder in ("base", "cuda", "pipeline", "stages", "config", "plugins", "tools")
               for path in (ROOT / folder).rglob("*.cpp")]
    read = {name for path in sources for name in re.findall(r'"(CONTORNO_[A-Z]+)"', path.read_text())}
    text = (pages / "man1/contorno.1").read_text().partition('.SH "ENVIRONMENT"')[2].partition(".SH")[0]
    assert len(read) > 2
    assert {name for name in re.findall(r"CONTORNO_\w+", text)} == read


def test_the_build_has_made_the_same_pages(pages):
    built = pathlib.Path(PROGRAM).parent.parent / "pages" / "man"
    if not built.exists():
        pytest.skip("this build makes no manual pages")
    if "SOURCE_DATE_EPOCH" in os.environ:
        pytest.skip("the date of the pages was given to the build")
    assert {path.name: path.read_bytes() for path in built.rglob("*.[157]")} == \
        {path.name: path.read_bytes() for path in pages.rglob("*.[157]")}
