"""A notebook of a script: its docstring and those of its functions as text, the functions and what main() does as cells, and the
picture that it draws at the end."""
import ast
import json
import textwrap

KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}


def cell(kind, text):
    """A cell of the notebook's format 4."""
    made = {"cell_type": kind, "metadata": {}, "source": text.strip("\n").splitlines(keepends=True)}
    return {**made, "execution_count": None, "outputs": []} if kind == "code" else made


def source_of(text, nodes):
    """The lines of some statements that follow each other."""
    first = min([nodes[0].lineno, *(one.lineno for one in getattr(nodes[0], "decorator_list", []))])
    return "\n".join(text.splitlines()[first - 1:nodes[-1].end_lineno])


def ends_cell(node):
    """Whether what a statement says, or a loop of such, is worth to be seen before the next one."""
    return isinstance(node, (ast.For, ast.Assert)) or isinstance(node, ast.Expr) and ast.unparse(node).startswith("print(")


def draws(node):
    """The statement of main() that draws where the command line names a file."""
    return isinstance(node, ast.If) and "sys.argv" in ast.unparse(node.test)


def cells_of_main(text, main):
    """The statements of main(), a few a cell; in place of the file that the command line names the picture is shown."""
    cells, group = [], []
    for node in main.body:
        if draws(node):
            call = next(one for one in node.body if ast.unparse(one).startswith("draw("))
            drawn = ast.unparse(call).replace("sys.argv[1]", "'picture.svg'")
            group and cells.append(cell("code", textwrap.dedent(source_of(text, group))))
            cells.append(cell("code", f"from IPython.display import SVG\n{drawn}\nSVG('picture.svg')"))
            group = []
            continue
        group.append(node)
        if ends_cell(node):
            cells.append(cell("code", textwrap.dedent(source_of(text, group))))
            group = []
    return cells + ([cell("code", textwrap.dedent(source_of(text, group)))] if group else [])


def notebook_of(text, title):
    """The notebook of a script's text, as JSON reads it."""
    tree = ast.parse(text)
    cells = [cell("markdown", f"# {title}\n\n" + ast.get_docstring(tree).partition("\n\n")[0])]
    cells.append(cell("code", source_of(text, [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))])))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name != "main":
            cells.append(cell("code", source_of(text, [node])))
        elif isinstance(node, ast.FunctionDef):
            cells += cells_of_main(text, node)
    for number, one in enumerate(cells):
        one["id"] = f"cell-{number}"
    return {"cells": cells, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}


def executed(notebook, folder):
    """The notebook with what its cells give, run in `folder`. Raises ImportError without nbclient or ipykernel."""
    import ipykernel  # noqa: F401, the kernel that nbclient starts
    import nbclient
    import nbformat
    run = nbformat.reads(json.dumps(notebook), as_version=4)
    nbclient.NotebookClient(run, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    return json.loads(nbformat.writes(run))


def markdown_of(notebook, folder, name):
    """The notebook as a page; pictures are written into `folder` as NAME-1.svg and so on."""
    parts, pictures = [], 0
    for one in notebook["cells"]:
        text = "".join(one["source"])
        parts.append(text if one["cell_type"] == "markdown" else f"```python\n{text}\n```")
        for output in one.get("outputs", []):
            if output["output_type"] == "stream" and output["name"] == "stdout":
                parts.append("```text\n" + "".join(output["text"]).rstrip("\n") + "\n```")
            if "image/svg+xml" in output.get("data", {}):
                pictures += 1
                (folder / f"{name}-{pictures}.svg").write_text("".join(output["data"]["image/svg+xml"]))
                parts.append(f"![what the cell above draws]({name}-{pictures}.svg)")
    return "\n\n".join(parts) + "\n"
