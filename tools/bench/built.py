"""The programs of contorno that the scripts here start: built before they are measured, so that none is an old one."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def built(*names, folder=None):
    """Builds programs in a build folder (default: build/release or build/cpu) and returns its folder of programs. One
    that was carried here without its build is taken as it is."""
    folders = [pathlib.Path(folder)] if folder else [ROOT / "build/release", ROOT / "build/cpu"]
    for build in folders:
        if (build / "build.ninja").exists():
            subprocess.run(["cmake", "--build", build, "--target", *names], check=True, stdout=sys.stderr)
        if all((build / "bin" / name).exists() for name in names):
            return build / "bin"
    raise SystemExit(f"{', '.join(names)}: there is no build in {' or '.join(map(str, folders))}; first: cmake --preset cpu")
