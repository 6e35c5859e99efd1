"""What contorno doctor says of a machine is so, and what it advises helps."""
import json
import os
import pathlib
import re
import subprocess
import sys

from tests.conftest import PROGRAM
from tests.modules import MODULES
from tests.plugins.gst.cameras import caps
from tests.plugins.gst.cameras import cameras  # noqa: F401, a fixture


def doctor(**changed):
    """What it says, as text and as JSON; None takes a variable of the environment away."""
    env = {name: value for name, value in {**os.environ, **changed}.items() if value is not None}
    text, found = (subprocess.run([PROGRAM, "doctor", *form], capture_output=True, text=True, timeout=120, check=True,
                                  env=env).stdout for form in ([], ["--json"]))
    return text, json.loads(found)


def is_installed(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Status}", package], capture_output=True, text=True)
    return done.stdout.endswith("ok installed")


def test_no_package_is_advised_that_is_installed():
    text, found = doctor()
    missing = [one for one in found["gstreamer"]["elements"] if not one["present"]]
    assert all(one["fix"] and one["fix"] in text for one in missing)
    advised = re.findall(r"apt-get install (.*)", text + found["gstreamer"].get("fix", ""))
    assert [package for line in advised for package in line.split() if is_installed(package)] == []
    assert all("apt-get" not in one["fix"] for one in missing if one["name"] in ("nvh264enc", "vah264enc"))


def test_modules_are_listed_and_absent_ones_say_what_is_missing(tmp_path):
    text, found = doctor()
    present = {one["name"] for one in found["modules"] if one["present"]}
    # A module whose headers this machine lacks was not built, and is listed as absent.
    built = {file.stem for file in MODULES.glob("*.so")}
    assert {"gst", "text", "tiff", "hdf5", "mat", "zarr", "opencv", "dnn"} <= present == built
    assert all(one["reason"] in text for one in found["modules"] if not one["present"])
    text, found = doctor(CONTORNO_MODULES=str(tmp_path))
    assert not any(one["present"] for one in found["modules"])
    for one in found["modules"]:
        assert f"no file {tmp_path}/{one['name']}.so" in one["reason"] and one["reason"] in text


def test_the_plugin_path_that_is_advised_is_the_right_one():
    env = {name: None for name in ("GST_PLUGIN_PATH", "GST_PLUGIN_PATH_1_0")}
    text, found = doctor(**env)
    plugin = found["gstreamer"]["plugin"]
    if not plugin["present"]:
        assert plugin["fix"] in text
        _, variable, folder = re.split("[ =]", plugin["fix"], maxsplit=2)
        assert doctor(**{**env, variable: folder})[1]["gstreamer"]["plugin"]["present"]


def test_the_folder_of_the_python_package_has_it():
    text, found = doctor()
    if not found["python"]["present"]:
        assert not list((pathlib.Path(PROGRAM).parents[1] / "python").glob("contorno/_core.*"))
        return
    assert found["python"]["folder"] in text
    done = subprocess.run([sys.executable, "-c", "import contorno; print(contorno.__version__)"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": found["python"]["folder"]})
    assert done.stdout.strip() == found["contorno"], done.stderr


def rows_of(text, word):
    """The text of each row that begins so, with those below it."""
    rows = []
    for line in text.splitlines():
        if line.strip() and not line.startswith(" " * 22):
            rows.append([line])
        elif rows:
            rows[-1].append(line.strip())
    return [[row[0][22:], *row[1:]] for row in rows if row[0][9:].split()[0] == word]


def test_cameras_are_listed_with_their_names_formats_and_controls(cameras):
    offers = ";".join([caps("YUY2", rates="{30/1,15/1}"), caps("YUY2", 1280, 720, "10/1"), caps("JPEG", 1280, 720, "30000/1001"),
                       caps("GRAY8", rates="[1/1,60/1]"), "video/x-raw(memory:DMABuf),format=YUY2,width=64,height=48,framerate=60/1",
                       "video/x-bayer,format=rggb,width=[16,2592,16],height=1944,framerate=15/1"])
    cameras.plug("video2", offers, "Line camera")
    cameras.plug("video3", pictures="none")
    cameras.plug("video10", fails="busy")
    for index in range(2):
        cameras.link("by-id", f"usb-Maker_Line_4F2A-video-index{index}", f"video{2 + index}")
        cameras.link("by-path", f"pci-0000:00:14.0-usb-0:2:1.0-video-index{index}", f"video{2 + index}")
    text, found = doctor(**cameras.controls_env)
    first, last = found["cameras"]
    assert (first["device"], first["name"], first["usable"]) == (f"{cameras.folder}/video2", "Line camera", True)
    assert (first["serial"], first["bus_path"]) == ("Maker_Line_4F2A", "pci-0000:00:14.0-usb-0:2:1.0")
    assert [(one["pixel_format"], one["size"], [round(rate, 3) for rate in one["framerates"]], one["any_between"])
            for one in first["formats"]] == [
        ("yuy2", "64x48", [30, 15], False), ("yuy2", "1280x720", [10], False), ("mjpeg", "1280x720", [29.97], False),
        ("grey", "64x48", [1, 60], True), ("video/x-bayer rggb", "16 to 2592x1944", [15], False)]
    assert not last["usable"] and "is busy" in last["reason"] and last["formats"] == []
    assert rows_of(text, "camera") == [
        [f"{cameras.folder}/video2, Line camera", "serial number Maker_Line_4F2A", "bus path pci-0000:00:14.0-usb-0:2:1.0",
         "yuy2 64x48 at 30, 15 frames/s", "yuy2 1280x720 at 10 frames/s", "mjpeg 1280x720 at 29.97 frames/s",
         "grey 64x48 at 1 to 60 frames/s", "video/x-bayer rggb 16 to 2592x1944 at 15 frames/s", "control brightness: -64 to 64",
         "control white_balance_automatic: 0 to 1", "control gain: 0 to 255",
         "control auto_exposure: 1 (Manual Mode), 3 (Aperture Priority Mode)", "control exposure_time_absolute: 3 to 2047",
         "control zoom_absolute: 100 to 500 in steps of 10"],
        [f"{cameras.folder}/video10; {last['reason']}"]]


def test_a_machine_without_cameras_says_so(cameras):
    text, found = doctor()
    assert found["cameras"] == [] and rows_of(text, "camera") == [["none was found"]]
