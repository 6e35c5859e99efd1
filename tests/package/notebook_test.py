"""The notebook of docs/examples/coins.py: it has all of the script, and gives the same when it is run."""
import ast
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from tests.conftest import PROGRAM, ROOT

SCRIPT = ROOT / "docs" / "examples" / "coins.py"
NOTEBOOK = ROOT / "tools" / "packaging" / "notebook"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(pathlib.Path(PROGRAM).parent.parent / "python")}


# The functions of the script without its clocks, with contorno alone.
MEASURED = """
import runpy, sys, numpy, contorno.skimage
script = runpy.run_path(sys.argv[1])
photograph = script["data"].coins()
image = script["filters"].gaussian(photograph.astype(float), 1.5, preserve_range=True)
image -= script["filters"].gaussian(image, 60, preserve_range=True)
with contorno.skimage.install():
    level, coins = script["measure_coins"](image, numpy.linspace(-20, 40, 61))
print(f"{len(coins)} coins at level {level:.0f}")
for number, (area, _) in enumerate(coins, 1):
    print(f"  {number:2}  {2 * numpy.sqrt(area / numpy.pi):5.1f} px across")
script["draw"](photograph, coins, sys.argv[2])
"""


def made(folder, *words):
    done = subprocess.run([sys.executable, NOTEBOOK, *words, SCRIPT, folder / "coins.ipynb"], capture_output=True, text=True,
                          env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "coins.ipynb").read_text())


def code_of(notebook):
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_it_has_all_of_the_script(tmp_path):
    notebook = made(tmp_path)
    assert notebook["nbformat"] == 4 and len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"]) > 6
    text = "".join(notebook["cells"][0]["source"])
    assert text.startswith("# Coins\n\nMeasures coins") and "PYTHONPATH" not in text
    wanted = ast.parse(SCRIPT.read_text())
    main = next(node for node in wanted.body if isinstance(node, ast.FunctionDef) and node.name == "main")
    statements = [node for node in wanted.body if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef)) and node is not main]
    statements += main.body[:-1]  # the last one draws where the command line names a file
    given = [ast.dump(node) for cell in code_of(notebook) for node in ast.parse(cell).body]
    assert given[:len(statements)] == [ast.dump(node) for node in statements]
    assert code_of(notebook)[-1].endswith("draw(photograph, coins, 'picture.svg')\nSVG('picture.svg')")


def test_it_gives_what_the_script_prints_and_its_picture(tmp_path):
    for name in ("nbclient", "ipykernel", "skimage"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    if not (pathlib.Path(PROGRAM).parent.parent / "python" / "contorno").exists():
        pytest.skip("this build has no package for Python")
    notebook = made(tmp_path, "--run", "--page", str(tmp_path / "page"))
    said = "".join("".join(output["text"]) for cell in notebook["cells"] for output in cell.get("outputs", [])
                   if output["output_type"] == "stream" and output["name"] == "stdout")
    script = subprocess.run([sys.executable, "-c", MEASURED, SCRIPT, tmp_path / "coins.svg"], check=True, capture_output=True, text=True,
                            env=ENVIRONMENT).stdout
    coins = script.splitlines()
    assert len(coins) > 20 and [line for line in said.splitlines() if line in coins] == coins
    page = (tmp_path / "page" / "coins.md").read_text()
    assert coins[0] in page and "](coins-1.svg)" in page
    outlines = [re.findall(r"<polyline points=\"(.*?)\"", (tmp_path / name).read_text()) for name in ("coins.svg", "page/coins-1.svg")]
    assert outlines[0] == outlines[1] and len(outlines[0]) == len(coins) - 1
