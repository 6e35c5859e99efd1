"""Waiting for what another process does."""
import time


def wait_for(condition, seconds=120):
    """Long enough for a machine on which many others compute; what never comes is a failure all the same."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def has_lines(path):
    return lambda: path.exists() and path.stat().st_size > 0
