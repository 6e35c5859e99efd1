"""The settings of the site's generators: MkDocs with the theme Material, and Doxygen."""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from tools.library import list_headers  # noqa: E402

EXAMPLES = "docs/examples"  # pages are made of some that lie there
COMMANDS_OF_DOXYGEN = """
PROJECT_NAME = contorno
PROJECT_NUMBER = {version}
PROJECT_BRIEF = "The C++ library"
INPUT = {headers}
OUTPUT_DIRECTORY = {folder}
HTML_OUTPUT = cpp
GENERATE_LATEX = NO
EXTRACT_ALL = YES
EXTRACT_STATIC = NO
HIDE_UNDOC_RELATIONS = YES
JAVADOC_AUTOBRIEF = YES
MARKDOWN_SUPPORT = YES
FULL_PATH_NAMES = YES
STRIP_FROM_PATH = {root} {folder}
STRIP_FROM_INC_PATH = {root}
BUILTIN_STL_SUPPORT = YES
ENABLE_PREPROCESSING = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = CONTORNO_HD= CONTORNO_HOST_DEVICE=
HTML_TIMESTAMP = NO
HTML_EXTRA_STYLESHEET = {style}
HTML_COLORSTYLE_HUE = 231
HTML_COLORSTYLE_SAT = 60
DISABLE_INDEX = NO
GENERATE_TREEVIEW = NO
SEARCHENGINE = YES
SERVER_BASED_SEARCH = NO
HAVE_DOT = NO
CLASS_GRAPH = NO
SHOW_NAMESPACES = NO
VERBATIM_HEADERS = NO
SORT_MEMBER_DOCS = NO
QUIET = YES
WARNINGS = YES
WARN_IF_UNDOCUMENTED = NO
"""


MAIN_PAGE = """/** @mainpage
The classes and functions of contorno's library, by their headers, which programs include as `<contorno/...>`. The
<a href="../docs/guide/cpp.html">guide</a> begins with whole programs; <a href="../index.html">the other pages</a> say what is computed.

{headers}*/
"""


def comment_of(header):
    """What the first lines of a header say of it, for Doxygen; lines that are indented are kept as they are."""
    text, is_kept = "", False
    for line in re.match(r"(?://.*\n)*", header.read_text())[0].splitlines():
        line = line.removeprefix("//").removeprefix(" ")
        if line.startswith("  ") != is_kept and line:
            is_kept = not is_kept
            text += "@verbatim\n" if is_kept else "@endverbatim\n"
        text += (line if is_kept else line.replace("<", "&lt;").replace(">", "&gt;")) + "\n"
    return text + ("@endverbatim\n" if is_kept else "")


def first_sentence(text):
    """Without its full stop, and without what follows the colon before a list or lines of code."""
    paragraph = re.split(r"\n\n|\n@verbatim", text.strip())[0].replace("\n", " ")
    return re.split(r"\. (?=[A-Z(`]|docs/)", paragraph)[0].rstrip(".:")


def of_main_page(root):
    """The headers that others are told to include, each with a sentence."""
    text = ""
    for title, headers in list_headers.GROUPS.items():
        text += f"<h2>{title}</h2>\n<dl class=\"headers\">\n"
        for header in headers:
            text += f'<dt>@ref {header} "{header}"</dt><dd>{first_sentence(comment_of(root / header))}</dd>\n'
        text += "</dl>\n"
    return text


def doxyfile(headers, version, folder, parts):
    root = parts.parents[2]
    main = folder.parent / "main.dox"
    comments = "".join(f"/** @file {path}\n{comment_of(root / path)} */\n" for path in headers)
    main.write_text(MAIN_PAGE.format(headers=of_main_page(root)) + comments)
    headers = [*(root / path for path in headers), main]
    return COMMANDS_OF_DOXYGEN.format(version=version, headers=" ".join(map(str, headers)), folder=folder, root=root,
                                      style=parts / "narrow.css")


def title_of(page):
    return re.search(r"^# (.+)$", page.read_text(), re.M)[1].replace("`", "")


def linked(root, folder):
    """The pages of a folder of docs/, in the order in which the README names them, then the others."""
    named = re.findall(rf"\]\((docs/{folder}/[\w-]+\.md)", (root / "README.md").read_text())
    pages = [*dict.fromkeys(named), *sorted(f"docs/{folder}/{path.name}" for path in (root / "docs" / folder).glob("*.md"))]
    return [{title_of(root / page): page} for page in dict.fromkeys(pages)]


def mkdocs(root, version, has_python, has_notebook):
    """The text of mkdocs.yml, which lies beside pages/ and html/."""
    library = [{"C++": "cpp/index.html"}] + ([{"Python": "python/index.html"}] if has_python else [])
    notebook = [{"Coins, a notebook": f"{EXAMPLES}/coins.md"}] if has_notebook else []
    nav = [{"contorno": "README.md"}, {"Guides": linked(root, "guide") + notebook},
           {"Reference": [{"Architecture": "docs/architecture.md"}, *linked(root, "reference")]}, {"Interfaces": library},
           {"Performance": [{"Figures": "docs/performance.md"}, *linked(root, "lab")]},
           {"Project": [{"Contributing": "CONTRIBUTING.md"}, {"Changelog": "CHANGELOG.md"}, {"Security": "SECURITY.md"},
                        {"Pictures of others": "docs/pictures/NOTICE.md"}]}]
    settings = {
        "site_name": f"contorno {version}", "docs_dir": "pages", "site_dir": "html", "use_directory_urls": False, "nav": nav,
        "theme": {"name": "material", "font": False, "language": "en", "features": ["navigation.indexes", "navigation.top", "toc.follow",
                                                                                     "content.code.copy", "search.highlight"],
                  "palette": [{"media": "(prefers-color-scheme: light)", "scheme": "default", "primary": "indigo",
                               "toggle": {"icon": "material/weather-night", "name": "Dark"}},
                              {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "primary": "indigo",
                               "toggle": {"icon": "material/weather-sunny", "name": "Light"}}]},
        "extra_css": ["assets/style.css"], "extra": {"generator": False, "polyfills": ["assets/iframe-worker.js"]},
        "plugins": ["search", "offline"],
        "markdown_extensions": ["tables", "attr_list", "md_in_html", {"pymdownx.highlight": {"guess_lang": False}}, "pymdownx.superfences",
                                {"toc": {"permalink": True, "slugify": "SLUG"}}],
        "validation": {"nav": {"omitted_files": "warn"}, "links": {"not_found": "warn", "anchors": "warn", "unrecognized_links": "warn"}}}
    # JSON is YAML; a function has a tag of its own.
    return json.dumps(settings, indent=1).replace('"SLUG"', "!!python/name:gfm.slug")
