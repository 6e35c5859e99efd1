"""Says which library of a file of ours belongs to no package that ours depends on, in a root where they are installed.

  libraries.py ROOT
A line for each, and exit status 1 where there is one. Looks into the list of packages of the root, and needs readelf."""
import pathlib
import re
import subprocess
import sys


def installed(root):
    """The fields of each package."""
    packages = {}
    for paragraph in (root / "var/lib/dpkg/status").read_text().split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): (.*(?:\n .*)*)", paragraph, re.M))
        if fields.get("Status", "").endswith(" ok installed"):
            packages[fields["Package"]] = fields
    return packages


def files_of(root, package, fields):
    info = root / "var/lib/dpkg/info"
    plain, multi = info / f"{package}.list", info / f"{package}:{fields['Architecture']}.list"
    return (multi if multi.exists() else plain).read_text().splitlines()


def needed_by(path):
    if path.is_symlink() or not path.is_file():
        return []
    with path.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return []
    text = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", text)


def faults(root):
    packages = installed(root)
    owners = {}
    for package, fields in packages.items():
        for file in files_of(root, package, fields):
            owners.setdefault(file.rpartition("/")[2], set()).add(package)
    ours = [package for package in packages if "contorno" in package and not package.endswith("-dbgsym")]
    assert ours, "no package of ours is installed"
    for package in ours:
        wanted = packages[package].get("Depends", "") + ", " + packages[package].get("Recommends", "")
        for name in re.findall(r"[\w.+-]*(?:nvidia|cuda|nvjpeg)[\w.+-]*", wanted):
            yield f"{package} asks for {name}"
        depends = set(re.findall(r"(?:^|[,|] *)([a-z0-9][a-z0-9.+-]+)", packages[package].get("Depends", "")))
        for file in files_of(root, package, packages[package]):
            for library in needed_by(root / file.lstrip("/")):
                if not owners.get(library, set()) & (depends | {package}):
                    owner = ", ".join(sorted(owners.get(library, {"no package"})))
                    yield f"{package}: {file} needs {library} (of {owner}), on which the package does not depend"


if __name__ == "__main__":
    found = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(found))
    sys.exit(bool(found))
