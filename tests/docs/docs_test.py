"""The pages at the top and in docs: links lead somewhere, each is linked, lines end, and what files say of pages is true."""
import functools
import json
import re

import pytest
from tests.conftest import ROOT, run_contorno

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = (".ci", "config", "cuda", "docs", "pipeline", "plugins", "stages", "tests", "tools")
LONGEST_LINE = 120
# The pages of families, and what graphs call their nodes.
FAMILIES = {
    "background": ["stage_background"],
    "camera": ["source_camera"],
    "classify": ["stage_classify"],
    "colour-map": ["stage_colour_map"],
    "contour-prep": [f"stage_{header.parent.name}" for header in (ROOT / "stages/contour_prep").rglob("stage.h")],
    "diamond-square": ["stage_diamond_square", "source_diamond_square"],
    "marching-squares": ["stage_contours", "stage_marching_squares", "stage_contour_assembly"],
    "mean-shift": ["stage_mean_shift_filter", "stage_mean_shift_segment"],
    "mipmap": ["stage_mipmap"],
    "morphology": ["stage_morphology", "stage_hit_or_miss", "stage_reconstruction"],
    "network": ["stage_network"],
    "overlay": ["stage_overlay"],
    "preprocess": ["stage_preprocess"],
    "publish": ["sink_publish"],
    "synthetic": ["source_synthetic"],
}
OF_EVERY_NODE = {"type", "name", "from"}


def name_of(path):
    return str(path.relative_to(ROOT))


def prose_of(page):
    """The page without its blocks of code: what looks like a link or a heading in there is none."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.S | re.M)


@functools.cache
def anchors_of(page):
    """The anchors of a page's headings, as they are made for Markdown: lower case, no punctuation, hyphens for spaces."""
    headings = re.findall(r"^#+ (.+)$", prose_of(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links_of(page):
    """Pairs of the path and the anchor of all links and pictures of a page that lead into the repository."""
    links = re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", prose_of(page))
    return [(path, anchor) for path, anchor in links if not re.match(r"[a-z]+:", path)]


def target_of(page, path):
    return (page.parent / path).resolve() if path else page


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_and_anchors_lead_somewhere(page):
    dead = []
    for path, anchor in links_of(page):
        target = target_of(page, path)
        if not target.exists() or anchor and (target.suffix != ".md" or anchor not in anchors_of(target)):
            dead.append(f"{path}#{anchor}")
    assert dead == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_line_is_longer_than_a_reader_sees(page):
    lines = enumerate(page.read_text().splitlines(), start=1)
    assert [number for number, line in lines if len(line) > LONGEST_LINE] == []


def test_every_page_can_be_reached_from_the_readme():
    reached, ahead = set(), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in PAGES and page not in reached:
            reached.add(page)
            ahead += [target_of(page, path) for path, _ in links_of(page)]
    assert [name_of(page) for page in PAGES if page not in reached] == []


def test_pages_and_pictures_that_files_name_exist():
    wrong, named = [], 0
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    for path in [*ROOT.glob("*.*"), *files]:
        try:
            text = path.read_text()
        except (UnicodeDecodeError, OSError):
            continue
        for mention in re.findall(r"(?<![\w/.-])docs/[\w/-]+\.(?:md|jpg|svg|py)\b", text):
            named += 1
            if not (ROOT / mention).is_file():
                wrong.append(f"{name_of(path)} names {mention}")
    assert wrong == []
    assert named > 20


def test_files_that_pages_name_exist():
    wrong, named = [], 0
    for page in PAGES:
        paths = re.findall(r"(?<![\w/.-])((?:config|cuda|pipeline|plugins|stages|tests|tools)/[\w/.-]*\w(?![\w*]))", prose_of(page))
        named += len(paths)
        wrong += [f"{name_of(page)} names {path}" for path in paths if not (ROOT / path).exists()]
    assert wrong == []
    assert named > 100


def test_libraries_that_pages_name_exist():
    lists = "\n".join(path.read_text() for path in [ROOT / "CMakeLists.txt", *(path for folder in FOLDERS
                                                                               for path in (ROOT / folder).rglob("CMakeLists.txt"))])
    there = set(re.findall(r"(?:add_library|add_executable|add_custom_target|contorno_part)\((contorno_\w+)", lists))
    there |= {f"contorno_{family}" for family in re.findall(r"^contorno_family\((\w+)", lists, re.M)}
    named = set(re.findall(r"`(contorno_\w+)`", " ".join(page.read_text() for page in PAGES)))
    assert "contorno_modules" in named
    assert sorted(named - there - metrics_of_the_program() - {"contorno_family"}) == []


def metrics_of_the_program():
    """The names of samples, as the program writes them."""
    source = (ROOT / "tools" / "ops" / "line_state.cpp").read_text()
    suffixes = {"Counter": "_total", "Info": "_info"}
    return {name + suffixes.get(kind, "") for name, kind in re.findall(r'metrics\.begin\("(\w+)", Kind::(\w+)', source)}


def test_the_page_of_operation_names_every_metric():
    page = (ROOT / "docs" / "reference" / "operations.md").read_text()
    assert len(metrics_of_the_program()) > 15
    assert set(re.findall(r"`((?:contorno|process)_[a-z_]+)`", page)) == metrics_of_the_program()


@functools.cache
def node_types():
    return json.loads(run_contorno("schema").stdout)["definitions"]


def test_every_stage_belongs_to_a_family_with_a_page():
    stages = {name for name in node_types() if name.startswith("stage_")}
    assert len(stages) > 10
    assert stages <= {node for nodes in FAMILIES.values() for node in nodes}


def test_every_step_on_contours_has_a_section():
    steps = {node.removeprefix("stage_") for node in FAMILIES["contour-prep"]}
    assert steps <= anchors_of(ROOT / "docs" / "reference" / "contour-prep.md")


@pytest.mark.parametrize("family", FAMILIES)
def test_the_page_of_a_family_has_its_parts_and_names_every_parameter(family):
    page = ROOT / "docs" / "reference" / f"{family}.md"
    assert {"parameters", "memory", "errors", "source"} <= anchors_of(page)
    code = " ".join(re.findall(r"`[^`\n]+`", page.read_text()))
    parameters = {key for node in FAMILIES[family] for key in node_types()[node]["properties"]} - OF_EVERY_NODE
    assert sorted(key for key in parameters if not re.search(rf"\b{key}\b", code)) == []
