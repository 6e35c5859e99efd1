"""Names and addresses in what the program says: nothing from outside forges a line or a colour, no password is shown; and
standard output that cannot be written is an error."""
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
from tests.conftest import PROGRAM, blobs, classes_yaml
from PIL import Image

ODD = "a\ncontorno: all is well\x1b[31m"
SHOWN = "a\\ncontorno: all is well\\x1b[31m"


def run(*arguments, cwd, **kwargs):
    return subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=120, **kwargs)


def no_line_is_forged(done):
    text = done.stdout + done.stderr
    assert "\x1b" not in text and "\ncontorno: all is well" not in text, text
    return text


@pytest.fixture
def odd(tmp_path):
    """A folder of that name with a map, a picture, an array of points and a broken file of each kind."""
    folder = tmp_path / ODD
    folder.mkdir()
    np.save(folder / f"{ODD}.npy", blobs(24, 40, 2, 0)[..., 0])
    np.save(folder / f"{ODD}3.npy", np.zeros((2, 3, 4, 5), np.float32))
    (folder / f"{ODD}bad.npy").write_bytes(b"\x93NUMPY\x01\x00 ")
    Image.fromarray(np.full((24, 40, 3), 99, np.uint8)).save(folder / f"{ODD}.png")
    (folder / f"{ODD}bad.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    (folder / f"{ODD}bad.mkv").write_bytes(b"nothing of a video")
    return folder


@pytest.mark.parametrize("arguments", [
    ["find-contours", f"{ODD}3.npy"],
    ["find-contours", f"{ODD}bad.npy"],
    ["find-contours", f"{ODD}.npy", "--mask", f"{ODD}.npy"],
    ["find-contours", f"{ODD}.npy", "--json", f"{ODD}.npy/x.json"],
    ["explain", f"{ODD}3.npy", "--at", "1,1"],
    ["explain", f"{ODD}.npy", "--at", "1,1", "--class", "2", "--mask", f"{ODD}.npy"],
    ["mean-shift", f"{ODD}3.npy", "labels.npy"],
    ["mean-shift", f"{ODD}.npy", f"{ODD}.png/labels.npy"],
    ["apply", "preprocess", f"{ODD}bad.png", "out.npy"],
    ["apply", "preprocess", f"{ODD}none.png", "out.npy"],
    ["apply", "preprocess", f"{ODD}.png", f"out{ODD}.xyz"],
    ["apply", ODD, f"{ODD}.png", "out.npy"],
    ["learn", f"{ODD}bad.mkv", "--classes", "one"],
    ["learn", f"{ODD}.png", "--classes", "one", "--masks", f"{ODD}none"],
    ["learn", f"{ODD}.png", "--classes", "one", "--output", f"{ODD}.npy/none.yaml"],
    ["run", f"{ODD}none.yaml"],
    ["check", f"{ODD}bad.png"],
    ["bench", ODD],
    ["stages", ODD],
    [ODD],
    ["stages", f"--{ODD}"],
], ids=lambda arguments: "-".join(str(word)[:14].replace(ODD[:1] + "\n", "odd") for word in arguments[:2]))
def test_a_name_forges_no_line_where_a_command_refuses(odd, arguments):
    done = run(*arguments, cwd=odd)
    assert done.returncode in (2, 64, 65, 66, 69, 73, 74, 78), done
    assert SHOWN in no_line_is_forged(done), done


@pytest.mark.parametrize("source, name", [("images", f"{ODD}bad.png"), ("video", f"{ODD}bad.mkv"), ("dataset", f"{ODD}bad.npy"),
                                          ("images", f"none{ODD}"), ("video", f"none{ODD}"), ("dataset", f"none{ODD}")])
def test_a_name_forges_no_line_where_a_source_refuses(odd, source, name):
    (odd / "graph.yaml").write_text(f"""
source: {{type: {source}, location: .}}
classes:
{classes_yaml(1)}
stages: [{{type: marching_squares}}, {{type: contour_assembly}}]
sinks: [{{type: jsonl, path: contours.jsonl}}]
""" if source == "dataset" else f"source: {{type: {source}, location: .}}\nsinks: [{{type: images, path: 'x{{frame}}.png'}}]\n")
    done = run("run", "graph.yaml", "--input", name, "--output", "out", cwd=odd)
    assert done.returncode not in (0, 70), done
    no_line_is_forged(done)
    no_line_is_forged(run("check", "graph.yaml", "--input", name, cwd=odd))


def test_a_name_forges_no_line_where_all_is_well(odd):
    (odd / "graph.yaml").write_text(f"""
source: {{type: images, location: "*.png"}}
classes: [{{name: one, references: ["#636363"]}}]
stages: [{{type: classify}}, {{type: marching_squares}}, {{type: contour_assembly}}, {{type: overlay}}]
sinks: [{{type: jsonl, path: "{ODD.encode('unicode_escape').decode()}.jsonl"}}, {{type: images, path: "{{name}}_out.png"}}]
""")
    done = run("run", "graph.yaml", "--output", ODD, "--report", "report.json", cwd=odd)
    assert done.returncode == 3, done  # one picture is broken
    text = no_line_is_forged(done)
    assert f"made      " in text and SHOWN in text
    done = run("learn", f"{ODD}.png", "--classes", "one", "--output", f"{ODD}.yaml", cwd=odd)
    assert done.returncode == 0, done
    assert f"wrote {SHOWN}.yaml" in no_line_is_forged(done)


MESSENGER = """
#include <cstdlib>
#include <dlfcn.h>
extern "C" void g_log(const char* domain, int level, const char* format, ...);
extern "C" int gst_init_check(int* count, char*** words, void** error) {
  g_log("GStreamer", std::atoi(std::getenv("MESSAGE_LEVEL")), "%s", std::getenv("MESSAGE"));
  return reinterpret_cast<int (*)(int*, char***, void**)>(dlsym(RTLD_NEXT, "gst_init_check"))(count, words, error);
}
"""
ERROR, WARNING = 1 << 2, 1 << 4


@pytest.fixture
def said_by_glib(tmp_path):
    """Runs the program with a GStreamer that has something to say when it starts."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("needs the compiler c++, of the Debian package build-essential")
    (tmp_path / "messenger.cpp").write_text(MESSENGER)
    subprocess.run([compiler, "-std=c++20", "-shared", "-fPIC", "-o", "messenger.so", "messenger.cpp", "-Wl,--no-as-needed", "-l:libgstreamer-1.0.so.0", "-l:libglib-2.0.so.0"], cwd=tmp_path,
                   check=True)

    def run_with(level, message):
        done = run("doctor", cwd=tmp_path, env={**os.environ, "LD_PRELOAD": str(tmp_path / "messenger.so"),
                                                "MESSAGE_LEVEL": str(level), "MESSAGE": message, "OMP_WAIT_POLICY": "passive"})
        if done.returncode == 0 and done.stderr == "":
            pytest.skip("needs a build with GStreamer")
        return done

    return run_with


def test_messages_of_libraries_are_shown_like_those_of_the_program(said_by_glib):
    done = said_by_glib(WARNING, "cannot open rtsp://user:s3cr3t-w0rd@host/\ncontorno: all is well")
    assert done.returncode == 0
    assert done.stderr == "contorno: GStreamer: cannot open rtsp://user:***@host/\\ncontorno: all is well\n"


@pytest.mark.parametrize("message, code, said", [("gmem.c:1: failed to allocate 8 bytes", 71, "out of memory: gmem.c:1: failed"),
                                                 ("creating thread 'x': Error", 71, "out of memory: creating thread"),
                                                 ("something else", 70, "something else")])
def test_where_a_library_would_end_the_process_there_is_an_exit_code(said_by_glib, message, code, said):
    done = said_by_glib(ERROR, message)
    assert done.returncode == code and done.stderr.startswith(f"contorno: {said}"), done


# Passwords ---------------------------------------------------------------------------------------------------------

SECRETS = ("s3cr3t-w0rd", "t0p-s3cr3t")


def address(port, path="clip.mkv", scheme="http"):
    return f"{scheme}://user:{SECRETS[0]}@127.0.0.1:{port}/{path}?token={SECRETS[1]}&a=b"


def no_password_in(text):
    if isinstance(text, str):
        text = text.encode()
    for secret in SECRETS:
        assert secret.encode() not in text, text.decode(errors="replace")


@pytest.fixture
def served(tmp_path):
    """The port of a server with a short video, over HTTP on this machine."""
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "graph.yaml").write_text("""
source: {type: test, width: 64, height: 48, rate: 10, frames: 5}
sinks: [{type: video, path: clip.mkv, from: source.frame}]
""")
    done = run("run", "graph.yaml", "--quiet", cwd=folder)
    assert done.returncode == 0, done
    (folder / "broken.mkv").write_bytes((folder / "clip.mkv").read_bytes()[:700])

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


GRAPH = """# watch {address}
source: {{type: video, location: "{address}", timeout: 20000}}
classes: [{{name: one, references: ["#c00000"]}}]
stages: [{{type: classify}}, {{type: marching_squares}}, {{type: contour_assembly}}, {{type: overlay}}]
sinks:
  - {{type: jsonl, path: contours.jsonl}}
  - {{type: coco, path: contours.json}}
  - {{type: geojson, path: contours.geojson}}
  - {{type: svg, path: "{{frame}}.svg"}}
  - {{type: video, path: overlay.mkv}}
"""


def everything_in(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path, path.read_bytes()


def test_no_output_shows_a_password(served, tmp_path):
    (tmp_path / "graph.yaml").write_text(GRAPH.format(address=address(served)))
    done = run("run", "graph.yaml", "--output", "out", "--report", "report.json", "--trace", "trace.json", cwd=tmp_path)
    assert done.returncode == 0, done
    no_password_in(done.stdout + done.stderr)
    for path in ("out/graph.dot", "out/graph.svg"):
        done = run("check", "graph.yaml", f"--{path[-3:]}", path, cwd=tmp_path)
        assert done.returncode == 0, done
        no_password_in(done.stdout + done.stderr)
        assert "user:***@127.0.0.1" in done.stdout
    written = dict(everything_in(tmp_path / "out"))
    assert len(written) == 4 + 5 + 4, written.keys()
    for path, data in written.items():
        no_password_in(str(path))
        no_password_in(data)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert f"http://user:***@127.0.0.1:{served}/clip.mkv?token=***&a=b" in report["graph"]["text"]
    assert "user:***@" in report["source"]


@pytest.mark.parametrize("path, scheme, port", [("none.mkv", "http", None), ("broken.mkv", "http", None), ("clip.mkv", "http", 1),
                                                ("clip.mkv", "rtsp", 1), ("clip.mkv", "nonsense", 1)])
def test_no_error_shows_a_password(served, tmp_path, path, scheme, port):
    wrong = address(port or served, path, scheme)
    (tmp_path / "graph.yaml").write_text(GRAPH.format(address=wrong))
    for command in (["run", "graph.yaml", "--output", "out"], ["check", "graph.yaml"],
                    ["check", "graph.yaml", "--input", wrong], ["learn", wrong, "--classes", "one"]):
        done = run(*command, cwd=tmp_path)
        assert "user:***@" in done.stderr, done
        no_password_in(done.stdout + done.stderr)


def test_no_mistake_in_a_graph_shows_a_password(tmp_path):
    text = GRAPH.format(address=address(1)).replace("timeout: 20000", "timeout: never")
    text = text.replace(address(1), address(1)[:-4])  # short enough for the caret to be shown in a line with it
    (tmp_path / "graph.yaml").write_text(text)
    done = run("check", "graph.yaml", cwd=tmp_path)
    assert done.returncode == 78, done
    no_password_in(done.stdout + done.stderr)
    lines = done.stderr.splitlines()
    excerpt = next(line for line in lines if ":***@" in line)
    caret = lines[lines.index(excerpt) + 1]
    assert excerpt[caret.index("^"):].startswith("never"), done.stderr
    done = run("check", "graph.yaml", "--set", f"source.locatoin={address(1)}", "--set", f"source.timeout={address(1)}",
               cwd=tmp_path)
    assert done.returncode == 78, done
    no_password_in(done.stdout + done.stderr)
    assert "user:***@" in done.stderr


PROPERTIES = """
source: {{type: gst, element: souphttpsrc, properties: "location=http://127.0.0.1:{port}/{path} user-id=me user-pw={secrets[0]} proxy-pw='{secrets[1]}'"}}
classes: [{{name: one, references: ["#c00000"]}}]
stages: [{{type: classify}}, {{type: marching_squares}}, {{type: contour_assembly}}, {{type: overlay}}]
sinks: [{{type: jsonl, path: contours.jsonl}}]
"""


def test_no_output_shows_the_value_of_a_property_that_is_secret_by_its_name(served, tmp_path):
    """Whatever the element and the address: user-pw, password, token, secret, credentials."""
    (tmp_path / "graph.yaml").write_text(PROPERTIES.format(port=served, path="clip.mkv", secrets=SECRETS))
    shown = ""
    for command, codes in ((["run", "graph.yaml", "--output", "out", "--report", "report.json", "--trace", "trace.json"], (0,)),
                           (["check", "graph.yaml"], (0,)), (["check", "graph.yaml", "--svg", "out/graph.svg"], (0,)),
                           (["check", "graph.yaml", "--dot", "out/graph.dot"], (0,)),
                           (["check", "graph.yaml", "--set", f"source.properties=user-pw={SECRETS[0]} nothing=1"], (78,)),
                           (["run", "graph.yaml", "--set", f"source.properties=password={SECRETS[0]} nothing=1"], (78,)),
                           (["latency", "graph.yaml", "--duration", "1s", "--warmup", "0s", "--no-sinks", "--no-probe-cost", "--deadline", "10s",
                             "--report", "out/latency.json", "--html", "out/latency.html", "--trace", "out/worst.json"], (0, 4)),
                           (["gst", "graph.yaml"], (0,)), (["doctor"], (0,))):
        done = run(*command, cwd=tmp_path)
        assert done.returncode in codes, done
        no_password_in(done.stdout + done.stderr)
        shown += done.stdout + done.stderr
    assert "user-pw=***" in shown
    written = dict(everything_in(tmp_path / "out"))
    assert len(written) >= 7, written.keys()
    for data in written.values():
        no_password_in(data)
    assert "user-pw=***" in json.loads((tmp_path / "out" / "report.json").read_text())["graph"]["text"]


def test_no_error_shows_the_value_of_a_property_that_is_secret_by_its_name(tmp_path):
    good = PROPERTIES.format(port=1, path="none.mkv", secrets=SECRETS)
    for text in (good, good.replace("user-id=me", "user-di=me"), good.replace("element: souphttpsrc", "element: souphttpscr"),
                 good.replace("proxy-pw='", "proxy-pw='\\\""), good.replace("user-id=me", "'"), good + "oops: 1\n",
                 good.replace("{type: gst", f"{{password: {SECRETS[0]}, type: gst")):
        (tmp_path / "graph.yaml").write_text(text)
        for command in (["run", "graph.yaml", "--output", "out"], ["check", "graph.yaml"], ["gst", "graph.yaml"]):
            done = run(*command, cwd=tmp_path)
            no_password_in(done.stdout + done.stderr)
    line = f"videotestsrc num-buffers=1 ! contorno config=none.yaml ! souphttpclientsink password={SECRETS[0]} location=http://127.0.0.1:1/"
    for launched in (line, line.replace("password=", "nothing=1 user-pw="), f"rtspsrc user-pw={SECRETS[0]} oops=1 ! contorno ! fakesink",
                     f"souphttpsrc user-pw=\"{SECRETS[0]} ! contorno ! fakesink"):
        done = run("latency", "--gst", launched, "--duration", "1s", cwd=tmp_path)
        assert done.returncode != 0, done
        no_password_in(done.stdout + done.stderr)


def test_python_shows_no_password(served, tmp_path):
    pytest.importorskip("contorno")
    (tmp_path / "graph.yaml").write_text(GRAPH.format(address=address(served)))
    script = f"""
import contorno, sys
wrong = {address(served, "none.mkv")!r}
pipeline = contorno.Pipeline("graph.yaml", output="out")
print(repr(pipeline), pipeline._repr_html_(), *map(repr, pipeline))
print(pipeline.report)
for arguments, options in (("graph.yaml",), {{"input": wrong}}), (({GRAPH.format(address=address(1)) + "oops: 1"!r},), {{}}):
    try:
        list(contorno.Pipeline(*arguments, **options))
    except Exception as error:
        print(repr(error), str(error))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done
    assert done.stdout.count("user:***@127.0.0.1") >= 3, done.stdout
    no_password_in(done.stdout + done.stderr)
    for path, data in everything_in(tmp_path / "out"):
        no_password_in(data)


def test_python_shows_no_secret_property(served, tmp_path):
    pytest.importorskip("contorno")
    good = PROPERTIES.format(port=served, path="clip.mkv", secrets=SECRETS)
    (tmp_path / "graph.yaml").write_text(good)
    script = f"""
import contorno
pipeline = contorno.Pipeline("graph.yaml", output="out")
print(repr(pipeline), pipeline._repr_html_(), *map(repr, pipeline))
print(pipeline.report)
for text in ({good.replace("{type", "{oops: 1, type")!r}, {good + "oops: 1"!r}, {good.replace("user-id=me", "user-di=me")!r}):
    try:
        list(contorno.Pipeline(text))
    except Exception as error:
        print(repr(error), str(error))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done
    assert "oops" in done.stdout and "user-di" in done.stdout, done.stdout
    no_password_in(done.stdout + done.stderr)
    for path, data in everything_in(tmp_path / "out"):
        no_password_in(data)


# Standard output ---------------------------------------------------------------------------------------------------

@pytest.fixture
def printing(tmp_path):
    """What the commands below read."""
    np.save(tmp_path / "map.npy", blobs(24, 40, 2, 0)[..., 0])
    np.save(tmp_path / "points.npy", np.zeros((3, 2)))
    (tmp_path / "graph.yaml").write_text(f"""
source: {{type: dataset, location: maps.npy, layout: hwc}}
classes:
{classes_yaml(2)}
stages: [{{type: marching_squares}}, {{type: contour_assembly}}]
sinks: [{{type: jsonl, path: contours.jsonl}}]
""")
    np.save(tmp_path / "maps.npy", np.stack([blobs(24, 40, 2, frame) for frame in range(2)]))
    return tmp_path


PRINTING = [["--help"], ["--version"], ["run", "--help"], ["stages"], ["stages", "classify"], ["schema"], ["doctor"], ["doctor", "--json"],
            ["check", "graph.yaml"], ["check", "graph.yaml", "--dot", "-"], ["run", "graph.yaml"],
            ["find-contours", "map.npy", "--level", "0.5"], ["explain", "map.npy", "--at", "3,3"],
            ["mean-shift", "points.npy", "labels.npy"]]


@pytest.mark.parametrize("where", ["closed", "full"])
@pytest.mark.parametrize("arguments", PRINTING, ids="-".join)
def test_results_that_cannot_be_printed_are_an_error(printing, arguments, where):
    done = run(*arguments, cwd=printing)
    assert done.returncode == 0 and done.stdout != "", done
    kwargs = {"preexec_fn": lambda: os.close(1)} if where == "closed" else {}
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, *arguments], cwd=printing, stdout=full, stderr=subprocess.PIPE, text=True,
                              timeout=120, **kwargs)
    assert done.returncode == 74, done
    assert done.stderr.startswith("contorno: standard output"), done.stderr
    assert ("it is closed" if where == "closed" else "No space left on device") in done.stderr, done.stderr
    # What the run was for is there all the same.
    if arguments[0] == "run" and arguments[1] == "graph.yaml":
        assert len((printing / "contours.jsonl").read_text().splitlines()) == 2


def test_a_closed_standard_output_is_nothing_to_one_who_prints_nothing(printing):
    done = subprocess.run([PROGRAM, "run", "graph.yaml", "--quiet"], cwd=printing, stderr=subprocess.PIPE, text=True,
                          timeout=120, preexec_fn=lambda: os.close(1))
    assert (done.returncode, done.stderr) == (0, "")
