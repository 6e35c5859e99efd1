"""The programs of contorno that the scripts here start: built before they are measured, so that none is an old one but what
was carried here without its build."""
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
    make = f"cmake --preset release -B {folder}" if folder else "cmake --preset release (or cpu)"
    raise SystemExit(f"{', '.join(names)}: there is no build in {' or '.join(map(str, folders))}; first: {make}")


def print_conditions(program, repeated):
    """Prints the conditions of measuring and how often it is repeated, for scripts that start no program of this folder: those
    print the conditions by themselves. `program` is contorno; one that is absent or too old for it says nothing of them."""
    conditions = ""
    if pathlib.Path(program).exists():
        conditions = subprocess.run([program, "bench", "conditions"], capture_output=True, text=True).stdout.partition("\n")[0]
    print(f"{conditions or 'conditions: unknown'}, {repeated}", flush=True)
