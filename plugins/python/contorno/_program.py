"""Finds the program contorno, for the modules that run it."""
import os
import shutil


def find_program():
    """The path of the program: what the environment variable CONTORNO_BIN names, else `contorno` on PATH. Raises
    FileNotFoundError where there is neither."""
    program = os.environ.get("CONTORNO_BIN") or shutil.which("contorno")
    if program is None:
        raise FileNotFoundError("the program contorno is not on PATH; the environment variable CONTORNO_BIN may name it")
    return program
