"""Exposure, gain and other controls of the source camera: what reaches the driver, and what is refused."""
import pytest
from tests.plugins.gst.camera_test import lines_of, run
from tests.plugins.gst.cameras import write_graph
from tests.plugins.gst.cameras import cameras  # noqa: F401, a fixture

ALL = "brightness, white_balance_automatic, gain, auto_exposure, exposure_time_absolute, zoom_absolute"


@pytest.mark.parametrize(("asked", "expected"), [
    ("exposure: 5", ["Auto Exposure=1", "Exposure Time, Absolute=50"]),
    ("exposure: 0.3", ["Auto Exposure=1", "Exposure Time, Absolute=3"]),
    ("exposure: 204.7", ["Auto Exposure=1", "Exposure Time, Absolute=2047"]),
    ("gain: 0", ["Gain=0"]),
    ("gain: 255, exposure: 33.33", ["Auto Exposure=1", "Exposure Time, Absolute=333", "Gain=255"]),
    ("controls: 'zoom_absolute=150 brightness=-3'", ["Zoom, Absolute=150", "Brightness=-3"]),
    ("controls: 'auto_exposure=3,white_balance_automatic=0'", ["Auto Exposure=3", "White Balance, Automatic=0"]),
    ("controls: ' '", []),
    ("width: 64", []),
])
def test_what_is_asked_for_is_set_before_the_first_frame(cameras, contorno, tmp_path, asked, expected):
    cameras.plug()
    write_graph(tmp_path, f"device: /dev/video0, {asked}")
    run(contorno, tmp_path, "--frames", 2, env=cameras.controls_env)
    assert cameras.controls() == expected and len(lines_of(tmp_path)) == 2


def test_controls_are_set_again_when_the_camera_comes_back(cameras, contorno, tmp_path):
    cameras.plug(openings={1: {"unplugged_after": 3}})
    write_graph(tmp_path, "device: /dev/video0, gain: 7")
    run(contorno, tmp_path, "--frames", 6, env=cameras.controls_env)
    assert cameras.controls() == ["Gain=7", "Gain=7"] and len(lines_of(tmp_path)) == 6


@pytest.mark.parametrize(("asked", "code", "said"), [
    ("exposure: 0.2", 78, "exposure is 0.2 ms, allowed is 0.3 to 204.7 ms"),
    ("exposure: 1000", 78, "exposure is 1000 ms, allowed is 0.3 to 204.7 ms"),
    ("gain: 256", 78, "gain is 256, allowed is 0 to 255"),
    ("controls: 'brightness=65'", 78, "controls: brightness is 65, allowed is -64 to 64"),
    ("controls: 'zoom_absolute=155'", 78, "controls: zoom_absolute is 155, allowed is 100 to 500 in steps of 10"),
    ("controls: 'auto_exposure=2'", 78, "controls: auto_exposure is 2, allowed is 1 (Manual Mode), 3 (Aperture Priority Mode)"),
    ("controls: 'brigthness=5'", 78,
     f"controls: the camera has no control 'brigthness' that can be set (did you mean 'brightness'?); the controls that can be set are: {ALL}"),
    ("controls: 'privacy=1'", 78, "controls: the camera has no control 'privacy' that can be set"),
    ("controls: 'hue_automatic=1'", 78, "controls: the camera has no control 'hue_automatic' that can be set"),
    ("controls: 'zoom_absolute=500'", 74, "the camera does not let zoom_absolute be set to 500: Device or resource busy"),
])
def test_a_control_that_the_camera_does_not_take_is_refused_with_what_is_allowed(cameras, contorno, tmp_path, asked, code, said):
    cameras.plug()
    write_graph(tmp_path, f"device: /dev/video0, {asked}")
    done = run(contorno, tmp_path, code=code, env=cameras.controls_env)
    assert f"/dev/video0: {said}" in done.stderr and cameras.controls() == [], done.stderr


@pytest.mark.parametrize(("asked", "said"), [
    ("exposure: 5", "exposure: the camera has no exposure time that can be set; the controls that can be set are: none"),
    ("gain: 5", "gain: the camera has no gain that can be set; the controls that can be set are: none"),
    ("controls: brightness=1", "controls: the camera has no control 'brightness' that can be set; the controls that can be set are: none"),
])
def test_a_camera_without_controls_says_so(cameras, contorno, tmp_path, asked, said):
    cameras.plug()
    write_graph(tmp_path, f"device: /dev/video0, {asked}")
    assert f"/dev/video0: {said}" in run(contorno, tmp_path, code=78).stderr


@pytest.mark.parametrize(("asked", "said"), [
    ("pixel_format: yuv9", "allowed one of auto, yuy2, uyvy, nv12, i420, grey, grey16, rgb, bgr, mjpeg"),
    ("exposure: -1", "exposure is -1, allowed 0 to 3600000 ms"),
    ("gain: -2", "gain is -2, allowed a whole number, -1 to 2147483647"),
    ("gain: high", "gain is 'high', allowed a whole number"),
    ("controls: brightness", "controls has 'brightness', allowed is NAME=VALUE, an integer, with blanks between them"),
    ("controls: 'gain=1 brightness=a'", "controls has 'brightness=a', allowed is NAME=VALUE"),
    ("controls: '=5'", "controls has '=5', allowed is NAME=VALUE"),
    ("reconnect_attempts: -2", "reconnect_attempts is -2, allowed a whole number, -1 to 1000000"),
])
def test_values_that_no_camera_takes_are_refused_at_their_place_without_a_camera(cameras, contorno, tmp_path, asked, said):
    graph = write_graph(tmp_path, f"device: /dev/video0, {asked}")
    place = f"1:{graph.read_text().index(asked) + asked.index(': ') + 3}"
    done = contorno("check", "graph.yaml", cwd=tmp_path, check=False)
    assert done.returncode == 78 and f"graph.yaml:{place}: error: " in done.stderr and said in done.stderr, done.stderr
