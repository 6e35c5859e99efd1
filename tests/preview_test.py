"""The preview on an X display without screen (Xvfb): the window, its name and its pixels; and what is said without a display."""
import os
import re
import shutil
import signal
import subprocess
import time
import types

import cv2
import numpy as np
import pytest
from conftest import PROGRAM

GRAPH = """
source: {{type: test, pattern: smpte75, width: 160, height: 120, rate: 30, live: true, frames: {frames}}}
sinks:
  - {{type: preview, title: "belt 7"}}
  - {{type: images, path: expected.png}}
"""
LIMIT = 60  # seconds that nothing here takes on a machine that works


@pytest.fixture
def display():
    """An X display that lives as long as the test: its name and its process."""
    if shutil.which("Xvfb") is None or shutil.which("xwininfo") is None or shutil.which("ffmpeg") is None:
        pytest.skip("needs the packages xvfb, x11-utils and ffmpeg (tools/setup test)")
    reader, writer = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writer), "-screen", "0", "320x240x24", "-nolisten", "tcp"],
                              pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writer)
    with os.fdopen(reader) as number:
        yield types.SimpleNamespace(name=f":{number.readline().strip()}", server=server)
    server.terminate()
    server.wait(LIMIT)


def environment(**variables):
    without = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return {**without, **variables}


def screenshot(display, path):
    subprocess.run(["ffmpeg", "-nostdin", "-y", "-v", "error", "-f", "x11grab", "-draw_mouse", "0", "-i", display,
                    "-frames:v", "1", str(path)], check=True, timeout=LIMIT)
    return cv2.imread(str(path))


def window_named(display, name):
    """(width, height, x, y) of the window of that name, or None."""
    tree = subprocess.run(["xwininfo", "-display", display, "-root", "-tree"], capture_output=True, text=True,
                          timeout=LIMIT).stdout
    found = re.search(rf'"{name}".*?(\d+)x(\d+)\+(-?\d+)\+(-?\d+)', tree)
    return tuple(map(int, found.groups())) if found else None


def run_preview(tmp_path, frames, **variables):
    graph = tmp_path / "graph.yaml"
    graph.write_text(GRAPH.format(frames=frames))
    return subprocess.Popen([PROGRAM, "run", str(graph), "--output", str(tmp_path / "out")], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**variables))


def test_the_preview_shows_the_pictures_in_a_window_of_its_name(display, tmp_path):
    still = tmp_path / "still.yaml"
    still.write_text(GRAPH.format(frames=1).replace("  - {type: preview, title: \"belt 7\"}\n", ""))
    subprocess.run([PROGRAM, "run", str(still), "--output", str(tmp_path)], check=True, capture_output=True, timeout=LIMIT)
    expected = cv2.imread(str(tmp_path / "expected.png"))
    run = run_preview(tmp_path, 0, DISPLAY=display.name)
    try:
        until = time.monotonic() + LIMIT
        shown, window = None, None
        while time.monotonic() < until and run.poll() is None and not (window and np.array_equal(shown, expected)):
            window = window_named(display.name, "belt 7 : contorno")
            if window is not None:
                width, height, x, y = window
                shown = screenshot(display.name, tmp_path / "shot.png")[y:y + height, x:x + width]
        assert run.poll() is None, run.communicate()
        assert window[:2] == (160, 120)
        np.testing.assert_array_equal(shown, expected)
    finally:
        run.send_signal(signal.SIGINT)
        said, errors = run.communicate(timeout=LIMIT)
    assert run.returncode == 130, errors
    assert re.search(r"preview \([1-9]\d* frames shown, \d+ left out\)", said + errors)


def test_a_display_that_goes_away_ends_the_preview_and_not_the_run(display, tmp_path):
    run = run_preview(tmp_path, 0, DISPLAY=display.name)
    try:
        until = time.monotonic() + LIMIT
        while time.monotonic() < until and run.poll() is None and window_named(display.name, "belt 7 : contorno") is None:
            time.sleep(0.1)
        display.server.kill()
        display.server.wait(LIMIT)
        time.sleep(0.5)  # the run goes on for some frames
        assert run.poll() is None, run.communicate()
    finally:
        run.send_signal(signal.SIGINT)
        said, errors = run.communicate(timeout=LIMIT)
    assert run.returncode == 130, errors
    assert re.search(r"preview \([1-9]\d* frames shown, \d+ left out, until the X display went away\)", said + errors)


@pytest.mark.parametrize("variables,sentence", [
    ({}, "the preview needs an X display, and DISPLAY is not set; leave the preview out, or write a video"),
    ({"WAYLAND_DISPLAY": "wayland-0"}, "DISPLAY is not set (a Wayland display shows it through Xwayland)"),
    ({"DISPLAY": ":7654"}, "preview: Could not initialise X output"),
])
def test_without_an_x_display_the_preview_says_so(tmp_path, variables, sentence):
    run = run_preview(tmp_path, 3, **variables)
    said, errors = run.communicate(timeout=LIMIT)
    assert run.returncode == 69, errors
    assert sentence in said + errors
