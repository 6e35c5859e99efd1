"""The preview on an X display without screen (Xvfb): window, name and pixels; what is said without a display."""
import ctypes
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
from tests.conftest import PROGRAM

GRAPH = """
source: {{type: test, pattern: smpte75, width: 160, height: 120, rate: 30, live: true, frames: {frames}}}
sinks:
  - {{type: preview, title: "belt 7"}}
  - {{type: images, path: expected.png}}
"""
LIMIT = 300  # seconds that nothing here takes on a machine that works


@pytest.fixture
def display():
    """An X display that lives as long as the test: its name and its process."""
    if shutil.which("Xvfb") is None or shutil.which("xwininfo") is None or shutil.which("ffmpeg") is None:
        pytest.skip("needs the packages xvfb, x11-utils and ffmpeg (tools/setup test)")
    reader, writer = os.pipe()
    # By default the server starts again when its last client leaves. Whoever connects at that moment is refused:
    # the preview, when it comes as an xwininfo goes.
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writer), "-screen", "0", "320x240x24", "-nolisten", "tcp",
                               "-noreset"], pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
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


class ClientMessage(ctypes.Structure):
    """XClientMessageEvent of Xlib, in the space of an XEvent."""
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int),
                ("display", ctypes.c_void_p), ("window", ctypes.c_ulong), ("message_type", ctypes.c_ulong),
                ("format", ctypes.c_int), ("data", ctypes.c_long * 5), ("rest", ctypes.c_long * 24)]


def close_window(display, name):
    """What a window manager does when a person clicks on the cross."""
    found = subprocess.run(["xwininfo", "-display", display, "-name", name], capture_output=True, text=True,
                           timeout=LIMIT, check=True).stdout
    window = int(re.search(r"Window id: (0x[0-9a-f]+)", found)[1], 16)
    xlib = ctypes.CDLL("libX11.so.6")
    xlib.XOpenDisplay.restype = ctypes.c_void_p
    xlib.XInternAtom.restype = ctypes.c_ulong
    connection = ctypes.c_void_p(xlib.XOpenDisplay(display.encode()))
    atoms = [xlib.XInternAtom(connection, atom, 0) for atom in (b"WM_PROTOCOLS", b"WM_DELETE_WINDOW")]
    client_message = 33
    event = ClientMessage(type=client_message, window=window, message_type=atoms[0], format=32)
    event.data[0] = atoms[1]
    xlib.XSendEvent(connection, ctypes.c_ulong(window), 0, ctypes.c_long(0), ctypes.byref(event))
    xlib.XCloseDisplay(connection)


def run_preview(tmp_path, frames, **variables):
    graph = tmp_path / "graph.yaml"
    graph.write_text(GRAPH.format(frames=frames))
    return subprocess.Popen([PROGRAM, "run", str(graph), "--output", str(tmp_path / "out")], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**variables))


def test_the_preview_shows_the_pictures_in_a_window_of_its_name(display, tmp_path):
    still = tmp_path / "still.yaml"
    still.write_text(GRAPH.format(frames=1).replace("  - {type: preview, title: \"belt 7\"}\n", ""))
    subprocess.run([PROGRAM, "run", str(still), "--output", str(tmp_path)], check=True, capture_output=True,
                   timeout=LIMIT)
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


def close(display):
    close_window(display.name, "belt 7 : contorno")


def take_away(display):
    display.server.kill()
    display.server.wait(LIMIT)


@pytest.mark.parametrize("end,reason", [(close, r"it ended \(preview: Output window was closed .*\)"),
                                        (take_away, "the X display went away")])
def test_a_window_that_goes_away_ends_the_preview_and_not_the_run(display, tmp_path, end, reason):
    run = run_preview(tmp_path, 0, DISPLAY=display.name)
    try:
        until = time.monotonic() + LIMIT
        while time.monotonic() < until and run.poll() is None and not window_named(display.name, "belt 7 : contorno"):
            time.sleep(0.1)
        end(display)
        time.sleep(0.5)  # the run goes on for some frames
        assert run.poll() is None, run.communicate()
    finally:
        run.send_signal(signal.SIGINT)
        said, errors = run.communicate(timeout=LIMIT)
    assert run.returncode == 130, errors
    assert re.search(rf"preview \([1-9]\d* frames shown, \d+ left out, until {reason}\)", said + errors)


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
