"""Packages as they are not built: of another version, or with a fault.

  changed.py --version VERSION FOLDER FILE.deb...   the same packages of another version, in FOLDER
Needs dpkg-deb."""
import pathlib
import re
import subprocess
import sys
import tempfile


def changed_deb(deb, folder, change):
    """Packs a package again into a folder after change(tree), which gets its unpacked files; returns the new file."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch) / "tree"
        subprocess.run(["dpkg-deb", "-R", deb, tree], check=True)
        change(tree)
        done = subprocess.run(["dpkg-deb", "-Zgzip", "-z1", "--root-owner-group", "-b", tree, folder], check=True, capture_output=True,
                              text=True)
    return pathlib.Path(re.search(r"in '(.+)'", done.stdout)[1])


def set_version(version):
    """A change: the package is of that version, and wants our others of it."""
    def change(tree):
        control = tree / "DEBIAN" / "control"
        text = control.read_text()
        own = re.search(r"^Version: (.+)$", text, re.M)[1]
        control.write_text(text.replace(own, version))
    return change


if __name__ == "__main__":
    option, new_version, made, *debs = sys.argv[1:]
    assert option == "--version"
    pathlib.Path(made).mkdir(parents=True, exist_ok=True)
    for path in debs:
        changed_deb(path, made, set_version(new_version))
