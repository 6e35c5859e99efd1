"""The login of a network camera in a file of its own: taken, read again for each connection, refused at its place in the graph, and
no word of it in anything that is printed or written."""
import os
import subprocess

import pytest
from tests.conftest import PROGRAM, read_lines
from tests.plugins.gst.rtsp import RtspServer
from tests.plugins.gst.rtsp_test import GRAPH, line_count
from tests.waiting import wait_for

USER, SECRET, WRONG = "line", "open sesame=42", "tellnobody"


def login_file(folder, text, name="login"):
    path = folder / name
    path.write_text(text)
    path.chmod(0o600)
    return path


def write_graph(folder, address, credentials="./login", more=""):
    folder.mkdir(exist_ok=True)
    (folder / "graph.yaml").write_text(
        f"source:\n  type: video\n  location: '{address}'\n  credentials: {credentials}\n  timeout: 5000\n{more}{GRAPH}")


def command(folder, frames=10):
    return [PROGRAM, "run", folder / "graph.yaml", "--output", folder / "out", "--frames", str(frames), "--report", "report.json"]


def play(folder, env=None):
    done = subprocess.run(command(folder), cwd=folder.parent, capture_output=True, text=True, timeout=120, env={**os.environ, **(env or {})})
    assert SECRET not in done.stdout + done.stderr and WRONG not in done.stdout + done.stderr
    return done


@pytest.mark.parametrize("content, user", [(f"user={USER}\npassword={SECRET}\n", ""), (SECRET, f"{USER}@")])
def test_a_camera_is_logged_in_to_by_a_file_beside_the_graph(tmp_path, content, user):
    with RtspServer(login=(USER, SECRET)) as server:
        write_graph(tmp_path / "line", server.address.replace("://", f"://{user}"))
        login_file(tmp_path / "line", content)
        done = play(tmp_path / "line")
    assert done.returncode == 0, done.stderr
    assert read_lines(tmp_path / "line" / "out" / "contours.jsonl")
    for path in tmp_path.rglob("*"):
        assert path.name == "login" or path.is_dir() or SECRET.encode() not in path.read_bytes(), path


def test_a_camera_is_logged_in_to_by_a_name_in_the_folder_of_credentials(tmp_path):
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    login_file(secrets, f"user={USER}\npassword={SECRET}\n", "north.secret").chmod(0o444)
    with RtspServer(login=(USER, SECRET)) as server:
        write_graph(tmp_path / "line", server.address, "north.secret")
        done = play(tmp_path / "line", {"CREDENTIALS_DIRECTORY": str(secrets)})
    assert done.returncode == 0, done.stderr


def test_a_login_that_is_refused_ends_a_source_alone_without_its_secret(tmp_path):
    with RtspServer(login=(USER, SECRET)) as server:
        write_graph(tmp_path / "line", server.address)
        login_file(tmp_path / "line", f"user={USER}\npassword={WRONG}\n")
        done = play(tmp_path / "line")
    assert done.returncode != 0 and "nauthorized" in done.stderr, done.stderr


def test_a_new_password_is_taken_with_the_next_connection(tmp_path):
    with RtspServer(login=(USER, SECRET)) as server:
        write_graph(tmp_path / "line", server.address, more="  reconnect_attempts: 20\n")
        login_file(tmp_path / "line", f"user={USER}\npassword={SECRET}\n")
        run = subprocess.Popen(command(tmp_path / "line", 60), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: line_count(tmp_path / "line") >= 10)
        server.kill()
        login_file(tmp_path / "line", f"user={USER}\npassword={WRONG}\n")
        server.login = (USER, WRONG)
        server.start()
        _, said = run.communicate(timeout=120)
    assert run.returncode == 0 and "there again at attempt" in said, said
    assert SECRET not in said and WRONG not in said


@pytest.mark.parametrize("address, content, code, said", [
    ("rtsp://127.0.0.1:1/a", None, 66, "cannot be read: No such file"),
    ("rtsp://127.0.0.1:1/a", "user=tellnobody\n", 78, "has no password"),
    ("rtsp://127.0.0.1:1/a", "tellnobody\n", 78, "a login has a user: write user=NAME"),
    ("rtsp://u:v@127.0.0.1:1/a", "user=a\npassword=tellnobody\n", 78, "the address has a password"),
    ("rtsp://u@127.0.0.1:1/a", "user=a\npassword=tellnobody\n", 78, "the address has a user"),
    ("rtsp://127.0.0.1:1/a", "user=a\npassword=tellnobody\nmechanism=PLAIN\n", 78, "has a mechanism, and streams have none"),
    ("film.mp4", "user=a\npassword=tellnobody\n", 78, "are for an address that is logged in to"),
    ("tcp://127.0.0.1:1", "user=a\npassword=tellnobody\n", 78, "are for an address that is logged in to")])
def test_a_login_that_does_not_fit_is_refused_at_its_place_in_the_graph(tmp_path, address, content, code, said):
    write_graph(tmp_path / "line", address)
    if content is not None:
        login_file(tmp_path / "line", content)
    done = play(tmp_path / "line")
    assert done.returncode == code and "graph.yaml:4:16: " in done.stderr and said in done.stderr, done.stderr
