"""The source `gst` gives frames of any source of GStreamer; a launch line only to who allows it."""
import json
import subprocess

import pytest
from tests.conftest import read_lines
from tests.plugins.python.package import contorno as package

REST = """
classes:
  - {name: ball, references: ["#ffffff"], colour: "#00ff00"}
  - {name: rest, references: ["#000000"], hidden: true}
stages: [classify, marching_squares, contour_assembly, overlay]
sinks:
  - {type: jsonl, path: contours.jsonl}
  - {type: images, path: "{frame}.png"}
"""
NAMED = "element: videotestsrc, properties: pattern=ball num-buffers=5, caps: 'video/x-raw,width=64,height=48,framerate=30/1'"
LINE = "videotestsrc pattern=ball num-buffers=5 ! video/x-raw,width=64,height=48,framerate=30/1 ! identity"


def graph(folder, source, rest=REST):
    (folder / "graph.yaml").write_text(f"source: {{type: gst, {source}}}\n" + rest)
    return folder / "graph.yaml"


def run(contorno, folder, *options, code=0, command="run"):
    done = contorno(command, folder / "graph.yaml", *options, cwd=folder, check=False)
    assert done.returncode == code, done.stderr + done.stdout
    return done


def results(folder):
    return [line["classes"] for line in read_lines(folder / "contours.jsonl")], [
        path.read_bytes() for path in sorted(folder.glob("*.png"))]


@pytest.fixture
def expected(contorno, tmp_path):
    """What the source `test` gives of the same picture."""
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "graph.yaml").write_text("source: {type: test, pattern: ball, width: 64, height: 48, frames: 5}\n" + REST)
    run(contorno, tmp_path / "test", "--output", tmp_path / "test" / "out", "--quiet")
    lines, pictures = results(tmp_path / "test" / "out")
    assert len(lines) == len(pictures) == 5 and lines[0][0]["contours"]
    return lines, pictures


def test_an_element_with_properties_gives_its_frames(contorno, tmp_path, expected):
    graph(tmp_path, NAMED)
    run(contorno, tmp_path, "--output", tmp_path / "out", "--report", "report.json", "--quiet")
    assert results(tmp_path / "out") == expected
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["source"] == "gst videotestsrc, 64x48, 30 frames/s" and report["frames"]["in"] == 5


@pytest.mark.parametrize("encoded", ["", " ! videoconvert ! video/x-raw,format=RGB ! pngenc", " ! videoconvert ! video/x-raw,format=RGB ! pngenc ! queue"])
def test_a_launch_line_that_is_allowed_gives_its_frames(contorno, tmp_path, expected, encoded):
    """Also those that have to be decoded."""
    graph(tmp_path, f"launch: '{LINE}{encoded}'")
    run(contorno, tmp_path, "--allow-launch", "--output", tmp_path / "out", "--quiet")
    assert results(tmp_path / "out") == expected


def test_frames_are_left_out_by_start_every_and_limit(contorno, tmp_path, expected):
    graph(tmp_path, NAMED + ", start: 1, every: 2, limit: 2")
    run(contorno, tmp_path, "--output", tmp_path / "out", "--quiet")
    lines, pictures = results(tmp_path / "out")
    assert (lines, pictures) == ([expected[0][1], expected[0][3]], [expected[1][1], expected[1][3]])


@pytest.mark.parametrize("command", ["run", "check", "latency", "replay"])
def test_a_launch_line_is_refused_unless_the_command_line_allows_it(contorno, tmp_path, command):
    """It would write a file."""
    graph(tmp_path, "launch: 'videotestsrc num-buffers=3 ! tee name=t ! queue ! filesink location=made t. ! queue'")
    options = {"run": ["--output", "out"], "latency": ["--duration", "1s", "--warmup", "0s"],
               "replay": ["--record", "record"]}.get(command, [])
    done = run(contorno, tmp_path, *options, code=78, command=command)
    assert "'launch' is a launch line, which may read and write everything that you may" in done.stderr
    assert "--allow-launch" in done.stderr
    if command != "replay":
        assert "graph.yaml:1:29: error: source: 'launch'" in done.stderr and "^~~~" in done.stderr
    assert not (tmp_path / "made").exists()
    if command in ("run", "check"):
        run(contorno, tmp_path, "--allow-launch", *options, command=command)
        assert (tmp_path / "made").exists()


def test_python_does_not_take_a_launch_line(tmp_path):
    graph(tmp_path, f"launch: '{LINE}'", "stages: [{type: preprocess, size: [8, 8]}]\n")
    with pytest.raises(Exception, match="--allow-launch"):
        list(package.Pipeline(tmp_path / "graph.yaml"))


@pytest.mark.parametrize(("source", "place", "words", "code"), [
    ("timeout: 5", "1:16", "what to read from is missing; name an element", 78),
    ("element: videotestsrc, launch: videotestsrc", "1:52", "both 'element' and 'launch' are given", 78),
    ("properties: a=b, launch: videotestsrc", "1:33", "'properties' are those of an 'element'", 78),
    ("element: videotestsource", "1:30", "no element 'videotestsource' on this machine (did you mean 'videotestsrc'?)", 69),
    ("element: ximagesink", "1:30", "the element 'ximagesink' is no source with an output of its own", 78),
    ("element: videoconvert", "1:30", "is no source with an output of its own (Filter/Converter/Video", 78),
    ("element: uridecodebin", "1:30", "is no source with an output of its own", 78),
    ("element: videotestsrc, properties: patern=ball", "1:56", "no property 'patern' (did you mean 'pattern'?)", 78),
    ("element: videotestsrc, properties: pattern=bal", "1:56", "the property 'pattern' of 'videotestsrc' is 'bal', allowed is what", 78),
    ("element: videotestsrc, properties: num-buffers=-2", "1:56", "the property 'num-buffers' of 'videotestsrc' is '-2'", 78),
    ("element: videotestsrc, properties: ball", "1:56", "properties has 'ball', allowed is NAME=VALUE", 78),
    ("element: videotestsrc, properties: 'pattern=\"ball'", "1:56", "allowed is NAME=VALUE with blanks between them", 78),
    ("element: videotestsrc, properties: parent=fakesink", "1:56", "the property 'parent' of 'videotestsrc' cannot be set by a text", 78),
    ("element: videotestsrc, caps: 'video/x-raw,width='", "1:50", "caps is 'video/x-raw,width=', allowed is a format", 78),
    ("element: videotestsrc, caps: image/jpeg", "1:50", "caps is 'image/jpeg', which the source does not give, allowed is: video/x-raw", 78),
    ("launch: 'videotestsrc !'", "1:29", "the launch line cannot be used:", 78),
    ("launch: 'videotestsrc pattern=bal'", "1:29", "the launch line cannot be used: could not set property \"pattern\"", 78),
    ("launch: 'nosuchsrc ! nosuchfilter'", "1:29", "names elements that are not installed: nosuchsrc, nosuchfilter", 69),
    ("launch: 'videotestsrc ! audioconvert'", "1:29", "could not link", 78),
    ("launch: 'videotestsrc ! video/x-raw,width=64'", "1:29", "the launch line ends with caps", 78),
    ("launch: 'videotestsrc ! fakesink'", "1:29", "the launch line has no open output", 78),
    ("launch: 'videoconvert ! queue'", "1:29", "begins with an element that waits for an input", 78),
    ("launch: 'uridecodebin uri=file:///x'", "1:29", "the launch line has no open output, allowed is one; behind an element", 78),
])
def test_what_is_wrong_is_said_where_it_stands(contorno, tmp_path, source, place, words, code):
    graph(tmp_path, source)
    for command in ("check", "run"):
        done = run(contorno, tmp_path, "--allow-launch", command=command, code=code)
        assert f"graph.yaml:{place}: error: source: " in done.stderr and words in done.stderr, done.stderr


@pytest.mark.parametrize(("line", "words"), [
    ("fakesrc num-buffers=3 sizetype=fixed sizemax=100", "Internal data stream error"),
    ("audiotestsrc num-buffers=3", "nothing of what comes is video that can be decoded"),
    ("filesrc location=/no/such ! queue", "Resource not found (reported by filesrc)"),
    ("videotestsrc ! identity error-after=1", "Failed after iterations as requested"),
    ("videotestsrc num-buffers=0", "there is no picture in it"),
])
def test_a_source_that_gives_no_picture_says_why(contorno, tmp_path, line, words):
    graph(tmp_path, f"launch: '{line}', timeout: 4000")
    done = contorno("run", tmp_path / "graph.yaml", "--allow-launch", cwd=tmp_path, check=False)
    assert done.returncode in (65, 66) and "the launch line: " in done.stderr and words in done.stderr, done.stderr


def test_a_source_that_fails_on_the_way_is_not_whole_unless_it_is_made_again(contorno, tmp_path):
    graph(tmp_path, "launch: 'videotestsrc is-live=true ! video/x-raw,width=64,height=48,framerate=100/1 ! identity error-after=6'")
    done = run(contorno, tmp_path, "--allow-launch", "--output", tmp_path / "out", code=3)
    frames = len(read_lines(tmp_path / "out" / "contours.jsonl"))
    assert 0 < frames <= 6 and "Failed after iterations as requested" in done.stdout
    for attempts in (1, -1):
        folder = tmp_path / f"again{attempts}"
        run(contorno, tmp_path, "--allow-launch", "--output", folder, "--set", f"source.reconnect_attempts={attempts}", "--set",
            "pipeline.on_full=wait", "--frames", "8", "--report", "report.json")
        assert json.loads((folder / "report.json").read_text())["source_reconnections"] == 1
        lines = read_lines(folder / "contours.jsonl")
        times = [line["pts_ns"] for line in lines]
        assert len(lines) == 8 and all(one < other for one, other in zip(times, times[1:]))


def test_a_measurement_counts_how_often_its_source_was_made_again(contorno, tmp_path):
    """70 frames of a source that fails after 50; two reports that are put together have both."""
    graph(tmp_path, "launch: 'videotestsrc is-live=true ! video/x-raw,width=64,height=48,framerate=100/1 ! "
          "identity error-after=50', reconnect_attempts: 1")
    for line in (("graph.yaml", "--allow-launch", "--preload", "0", "--fps", "20", "--duration", "2s", "--warmup", "100ms", "--deadline",
                  "20s", "--no-probe-cost", "--report", "r.json"), ("--from", "r.json", "--from", "r.json", "--report", "both.json")):
        done = contorno("latency", *line, "--quiet", cwd=tmp_path, check=False)
        assert done.returncode in (0, 4), done.stderr  # a busy machine drops frames, and the verdict says so
    reports = [json.loads((tmp_path / name).read_text()) for name in ("r.json", "both.json")]
    assert [report["source_reconnections"] for report in reports] == [1, 2]


@pytest.mark.parametrize("source", [
    """element: filesrc, properties: 'location="$(touch made)" blocksize=4096'""",
    """element: filesrc, properties: 'location=`touch${IFS}made`;touch${IFS}made'""",
    """launch: 'videotestsrc name="$(touch made)" ! identity name=`touch${IFS}made`'""",
    """element: videotestsrc, caps: 'video/x-raw,format=$(touch${IFS}made)'""",
])
def test_a_printed_line_runs_nothing_of_the_graph_in_a_shell(contorno, tmp_path, source):
    graph(tmp_path, source)
    printed = contorno("gst", tmp_path / "graph.yaml", cwd=tmp_path).stdout
    words = subprocess.run(["sh", "-c", "printf '%s\\n' " + printed], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "touch" in words and not (tmp_path / "made").exists()


def test_the_line_for_a_graph_has_the_element_in_it(contorno, tmp_path):
    for source, begin in ((NAMED, "videotestsrc pattern=ball num-buffers=5 ! video/x-raw,width=64,height=48,framerate=30/1 ! "),
                          (f"launch: '{LINE}'", LINE + " ! ")):
        graph(tmp_path, source)
        printed = contorno("gst", tmp_path / "graph.yaml", cwd=tmp_path).stdout
        assert printed.startswith(f"gst-launch-1.0 {begin}"), printed
        shown = subprocess.run(["gst-launch-1.0", *begin.split()[:-1], "!", "fakesink"], capture_output=True, check=False, timeout=60)
        assert shown.returncode == 0
