"""The site: every page at its place, every link of the pages kept, nothing asked of other machines, nothing wider than a screen."""
import functools
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

import pytest
from tests.conftest import PROGRAM, ROOT
from tests.docs.docs_test import PAGES, links_of, prose_of, target_of
from tools.library.list_headers import ENTRIES

SITE = ROOT / "tools" / "packaging" / "site"
sys.path.insert(0, str(ROOT / "tools" / "packaging" / "site_parts"))
import gfm  # noqa: E402

MEASURE = """<!DOCTYPE html><body><pre id="found"></pre><script>
(async () => {
  const found = [];
  let measured = 0;
  const frame = document.createElement("iframe");
  for (const page of %s) {
    frame.style = "width: 390px; height: 900px";
    frame.src = page;
    await new Promise(done => { frame.onload = done; document.body.append(frame); });
    for (const width of [390, 1400]) {
      frame.style.width = width + "px";
      await new Promise(done => setTimeout(done, 50));
      const inner = frame.contentDocument.documentElement;
      if (inner.scrollWidth > frame.contentWindow.innerWidth) found.push(page + " takes " + inner.scrollWidth + " of " + width + " px");
      measured += 1;
    }
    frame.remove();
  }
  await new Promise(done => setTimeout(done, 1000));
  document.getElementById("found").textContent = "measured " + measured + " " + JSON.stringify(found);
})();
</script>"""


@pytest.mark.parametrize("text, wanted", [
    ("Guides:\n* one\n* two\n", "Guides:\n\n* one\n* two\n"),
    ("Guides:\n\n* one\n  goes on\n* two\nand on\n\nText\n", "Guides:\n\n* one\n    goes on\n* two\nand on\n\nText\n"),
    ("9. one\n   - in it\n     goes on\n10. two\n    - in it\n", "9. one\n    - in it\n      goes on\n10. two\n    - in it\n"),
    ("Figures:\n| a | b |\n|---|---|\n| 1 | 2 |\nText\n", "Figures:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nText\n"),
    ("Say\n```sh\n* no list\n```\nthen\n", "Say\n\n```sh\n* no list\n```\n\nthen\n"),
    ("Say:\n\n    * code\n    | code |\n", "Say:\n\n    * code\n    | code |\n"),
    ("# Title\n* one\n", "# Title\n* one\n"),
    ("1. one\n2. two\n", "1. one\n2. two\n"),
])
def test_pages_get_the_blank_lines_that_the_generator_wants(text, wanted):
    assert gfm.for_python_markdown(text) == wanted


def test_pages_change_in_blanks_alone():
    for page in PAGES:
        lines = [line.strip() for line in page.read_text().splitlines() if line.strip()]
        assert [line.strip() for line in gfm.for_python_markdown(page.read_text()).splitlines() if line.strip()] == lines, page


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    """The folder of the whole site."""
    if not (ROOT / "build" / "venv-site" / "list.txt").exists():
        pytest.skip("MkDocs Material is not fetched: tools/packaging/venv site")
    if shutil.which("doxygen") is None:
        pytest.skip("doxygen is not installed")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, SITE, "--output", folder, "--build", pathlib.Path(PROGRAM).parent.parent], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


def page_in(html, page):
    path = html / page.relative_to(ROOT)
    return path.with_name("index.html") if path.name == "README.md" else path.with_suffix(".html")


@functools.cache
def anchors_in(path):
    return set(re.findall(r' id="([^"]+)"', path.read_text()))


def test_every_page_is_there_with_all_its_links(html):
    for page in PAGES:
        made = page_in(html, page)
        assert made.is_file(), page
        for path, anchor in links_of(page):
            target = target_of(page, path)
            there = page_in(html, target) if target.suffix == ".md" else html / target.relative_to(ROOT)
            assert there.is_file(), (page, path)
            assert not anchor or anchor in anchors_in(there), (page, path, anchor)


def test_lists_and_tables_are_lists_and_tables(html):
    for page in PAGES:
        made = page_in(html, page).read_text().partition("<article")[2].partition("</article>")[0]
        prose = re.sub(r"^ {4,5}[^- ].*$", "", prose_of(page), flags=re.M)
        inner = "| {2,4}-" if page.name == "faults.md" else ""  # the page that has lists in lists
        items = re.findall(rf"^(?:[*-]|\d+\.{inner}) ", prose, re.M)
        assert made.count("<li>") == len(items), page
        if page.name == "faults.md":
            assert made.count("</ul>\n</li>") == len(re.findall(r"^(?:[*-]|\d+\.) ", prose, re.M)), "each fault has the list of its tests"
        assert made.count("<table>") == len(re.findall(r"^\|(?: *:?-+:? *\|)+$", prose, re.M)), page


def test_pages_ask_nothing_of_other_machines(html):
    asked = []
    for path in html.rglob("*.html"):
        tags = re.findall(r"<(?:script|link|img|iframe|source)\b[^>]*>", path.read_text())
        asked += [(path.name, tag) for tag in tags if re.search(r'(?:src|href)="?(?:https?:)?//', tag) and 'rel="canonical"' not in tag]
    for path in html.rglob("*.css"):
        asked += [(path.name, link) for link in re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//[^)]*", path.read_text())]
    assert asked == []


def test_headers_and_functions_have_pages(html):
    main, runner = ((html / "cpp" / name).read_text() for name in ("index.html", "runner_8h.html"))
    assert "../docs/guide/cpp.html" in main
    for name in ENTRIES:
        assert re.search(rf'<a class="el" href="\w+\.html">{name}</a></dt>', main), name
    assert ">contorno/base/error.h</a>&gt;" in runner and "#include &lt;memory&gt;" in runner and "&quot;<a" not in runner
    if (pathlib.Path(PROGRAM).parent.parent / "python" / "contorno").exists():
        text = (html / "python" / "contorno.html").read_text()
        assert 'id="find_contours"' in text and 'id="apply"' in text


def test_the_notebook_is_there_with_its_picture(html):
    page = html / "docs" / "examples" / "coins.html"
    if not page.exists():
        pytest.skip("the notebook was not run: nbclient, ipykernel or the Python package is not there")
    text = page.read_text()
    assert "coins at level" in text and 'src="coins-1.svg"' in text and (page.parent / "coins.ipynb").exists()


def chromium(*words):
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not installed")
    with tempfile.TemporaryDirectory() as profile:  # with one that they share, browsers that run at once wait for each other
        done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                               "--disable-component-update", f"--user-data-dir={profile}", "--virtual-time-budget=600000",
                               "--dump-dom", *words], capture_output=True, text=True, timeout=600)
    return done.stdout


class Handler(http.server.SimpleHTTPRequestHandler):
    """Gives the files of a folder, whose pages may ask for nothing else: the browser reports what they try to get."""

    def log_message(self, *_):
        pass

    def end_headers(self):
        own = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; report-uri /asked"
        self.send_header("Content-Security-Policy", own)
        super().end_headers()

    def do_POST(self):
        report = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(report["csp-report"]["blocked-uri"])
        self.send_response(204)
        self.end_headers()


def looked_at(html, pages):
    """In a browser: the pages that are wider than 390 or 1400 px, each with its width, and what was asked of other machines."""
    (html / "measure.html").write_text(MEASURE % json.dumps(pages))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(html))) as server:
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        text = chromium("--window-size=1500,1000", f"{address}/measure.html")
        server.shutdown()
    (html / "measure.html").unlink()
    found = re.search(rf"measured {2 * len(pages)} (\[.*?\])</pre>", text)
    assert found, text[-2000:]
    return json.loads(found[1]), server.asked


def test_nothing_is_wider_than_the_screen_or_asked_of_other_machines(html):
    """Every page, but for the lists that Doxygen's search opens in a frame."""
    pages = sorted(str(path.relative_to(html)) for path in html.rglob("*.html") if path.parent.name != "search")
    assert len(pages) > 500 and "docs/reference/faults.html" in pages and "cpp/runner_8h.html" in pages
    assert looked_at(html, pages) == ([], [])


def test_a_wide_page_and_one_that_asks_others_are_found(tmp_path):
    for name, width in (("narrow", 300), ("middle", 900), ("wide", 1600)):
        (tmp_path / f"{name}.html").write_text(f'<!DOCTYPE html><body style="margin: 0"><div style="width: {width}px">page</div>')
    (tmp_path / "asks.html").write_text("<!DOCTYPE html><script>fetch('http://example.com/a'); fetch('https://example.com/b')</script>")
    assert looked_at(tmp_path, ["narrow.html", "middle.html", "wide.html"]) == (
        ["middle.html takes 900 of 390 px", "wide.html takes 1600 of 390 px", "wide.html takes 1600 of 1400 px"], [])
    wide, asked = looked_at(tmp_path, ["asks.html"])
    assert wide == [] and sorted(asked) == ["http://example.com/a", "https://example.com/b"]


def test_the_search_works_without_a_server(html):
    text = chromium(f"file://{html}/docs/guide/shell.html?q=mipmap")
    assert re.search(r"\d+ matching documents", text)
    assert "docs/reference/mipmap.html" in re.findall(r'(docs/[\w/-]+\.html)[^"]*" class="md-search-result__link', text)
