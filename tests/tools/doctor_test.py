"""What contorno doctor says of a machine is so, and what it advises helps."""
import json
import os
import pathlib
import re
import subprocess
import sys

from tests.conftest import PROGRAM


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
    names = [one["name"] for one in found["modules"]]
    assert {"gst", "text", "tiff", "hdf5", "zarr", "opencv"} <= set(names) and all(one["present"] for one in found["modules"])
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
