"""The command `contorno` of a wheel: it becomes the program in the package beside this file, without importing the package, which
takes longer than the program itself. `contorno._program` finds the program for Python."""
import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "contorno", "bin", "contorno")
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"contorno: {program} cannot be run: {error.strerror}; install the package contorno again")
