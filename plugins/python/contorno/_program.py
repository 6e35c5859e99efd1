"""Finds the program contorno, for the modules that run it."""
import os
import shutil


def find_program():
    """The path of the program: what the environment variable CONTORNO_BIN names, else the one that came with this package in a
    wheel, else `contorno` on PATH. Raises FileNotFoundError where there is none."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "contorno")
    program = os.environ.get("CONTORNO_BIN") or (own if os.access(own, os.X_OK) else shutil.which("contorno"))
    if program is None:
        raise FileNotFoundError("the program contorno is not on PATH; the environment variable CONTORNO_BIN may name it")
    return program
