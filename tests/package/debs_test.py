"""Debian packages: what judges them, and faults that are planted in packages, each of which the trial in a clean root finds."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from tests.conftest import ROOT

PARTS = ROOT / "tools" / "packaging" / "deb_parts"
sys.path.insert(0, str(PARTS))
import changed  # noqa: E402
import libraries  # noqa: E402

OURS = """Package: contorno-zarr
Status: install ok installed
Architecture: amd64
Version: 0.1.0-1
Depends: {depends}
Recommends: {recommends}
Description: of contorno

Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36
Description: of others

"""


def faults(root, depends, recommends="libgdal32"):
    """What is told of a root with a package of ours whose one program needs libc.so.6."""
    info = root / "var" / "lib" / "dpkg" / "info"
    info.mkdir(parents=True, exist_ok=True)
    (root / "var/lib/dpkg/status").write_text(OURS.format(depends=depends, recommends=recommends))
    (info / "contorno-zarr.list").write_text("/.\n/usr\n/usr/bin\n/usr/bin/program\n")
    (info / "libc6:amd64.list").write_text("/.\n/lib\n/lib/libc.so.6\n")
    (root / "usr" / "bin").mkdir(parents=True, exist_ok=True)
    shutil.copy("/bin/true", root / "usr" / "bin" / "program")
    return list(libraries.faults(root))


def test_a_library_belongs_to_a_package_that_ours_depends_on(tmp_path):
    assert faults(tmp_path, "libgdal32 (>= 3), libc6 (>= 2.34)") == []
    assert faults(tmp_path, "libgdal32 | libc6 (>= 2.34)") == []
    assert faults(tmp_path, "libc6-dev (>= 2.34)") == [
        "contorno-zarr: /usr/bin/program needs libc.so.6 (of libc6), on which the package does not depend"]


def test_no_package_of_nvidia_is_asked_for(tmp_path):
    assert faults(tmp_path, "libc6, libcudart12 (>= 12)") == ["contorno-zarr asks for libcudart12"]
    assert faults(tmp_path, "libc6", "nvidia-driver-libs") == ["contorno-zarr asks for nvidia-driver-libs"]


def small_package(folder, version="0.1.0-1"):
    control = folder / "tree" / "DEBIAN" / "control"
    control.parent.mkdir(parents=True)
    control.write_text(f"Package: contorno\nVersion: {version}\nArchitecture: all\nMaintainer: nobody <a@b>\n"
                       f"Depends: libcontorno0.1 (= {version}), libc6 (>= 2.36)\nDescription: program\n")
    (folder / "tree" / "file").write_text("here\n")
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", folder / "tree", folder / "small.deb"], check=True, capture_output=True)
    return folder / "small.deb"


def field(deb, name):
    return subprocess.run(["dpkg-deb", "-f", deb, name], capture_output=True, text=True, check=True).stdout.strip()


def test_another_version_wants_our_others_of_it(tmp_path):
    (tmp_path / "old").mkdir()
    old = changed.changed_deb(small_package(tmp_path), tmp_path / "old", changed.set_version("0.1.0-0older"))
    assert old == tmp_path / "old" / "contorno_0.1.0-0older_all.deb"
    assert field(old, "Version") == "0.1.0-0older"
    assert field(old, "Depends") == "libcontorno0.1 (= 0.1.0-0older), libc6 (>= 2.36)"


def without_dependency(name):
    def change(tree):
        control = tree / "DEBIAN" / "control"
        text, count = re.subn(rf"^(Depends: .*?)(?:, )?{re.escape(name)}(?: \([^)]*\))?", r"\1", control.read_text(), flags=re.M)
        assert count == 1, f"it does not depend on {name}"
        control.write_text(text)
    return change


def leaves_a_file(tree):
    """What a script of the package makes, dpkg does not know."""
    script = tree / "DEBIAN" / "postinst"
    script.write_text("#!/bin/sh\nset -e\nmkdir -p /usr/share/numbers\necho 7 >/usr/share/numbers/seven\n")
    script.chmod(0o755)


def recommends_cuda(tree):
    control = tree / "DEBIAN" / "control"
    control.write_text(re.sub(r"^Depends:", "Recommends: libcudart12\nDepends:", control.read_text(), flags=re.M))


def without_pages(tree):
    shutil.rmtree(tree / "usr" / "share" / "man")


# The package, its fault, the check of try-debs that fails, and what that says.
FAULTS = [
    ("contorno-arrays", without_dependency("libtiff6"), "every library is of a package that ours depend on",
     r"contorno-arrays: \S+/tiff\.so needs libtiff\.so\.6 \(of libtiff6\)"),
    ("gstreamer1.0-contorno", recommends_cuda, "every library is of a package that ours depend on",
     "gstreamer1.0-contorno asks for libcudart12"),
    ("contorno-zarr", leaves_a_file, "nothing of ours is left", "> usr/share/numbers/seven"),
    ("contorno", without_pages, "there is a manual page", r"test -s \S+contorno\.1\.gz"),
]


def packages():
    """The folder of a suite with packages, where `tools/test packages` names it."""
    named = os.environ.get("CONTORNO_DEBS")
    if named is None:
        pytest.skip("packages, clean roots and the network are used by tools/test packages alone")
    if os.getuid() != 0 or shutil.which("mmdebstrap") is None:
        pytest.skip("needs root and mmdebstrap (tools/setup package)")
    found = [suite for suite in ("bookworm", "trixie") if list((pathlib.Path(named) / suite).glob("contorno_*.deb"))]
    if not found:
        pytest.skip(f"there are no packages in {named}")
    return pathlib.Path(named) / found[0]


def test_every_planted_fault_is_found(tmp_path):
    """All at once, each in a package of its own: one trial takes minutes. What else fails is named."""
    good = packages()
    bad = tmp_path / "debs" / good.name
    bad.mkdir(parents=True)
    changes = {name: change for name, change, _, _ in FAULTS}
    for deb in good.glob("*.deb"):
        change = changes.pop(deb.name.split("_")[0], None)
        if change is None:
            shutil.copy(deb, bad)
        else:
            changed.changed_deb(deb, bad, change)
    assert changes == {}
    done = subprocess.run([ROOT / "tools" / "package", "try-debs", "--suite", good.name, "--from", bad.parent, "--without-autopkgtest"],
                          capture_output=True, text=True)
    said = done.stdout
    failed = re.findall(rf"^FAILED: {good.name}: (.*) \(log: ", said, re.M)
    assert done.returncode == 1 and set(failed) - {"lintian has nothing to say"} == {check for _, _, check, _ in FAULTS}, said
    log = (ROOT / "build" / "roots" / f"{good.name}-try.log").read_text()
    for _, _, check, sentence in FAULTS:
        part = log[log.index(f"== {check}\n"):].split("\n== ")[0]
        assert re.search(sentence, part), part
