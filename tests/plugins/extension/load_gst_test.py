"""The property `load` of the GStreamer element, and the line that `contorno gst` prints."""
import shlex

import pytest
from tests.conftest import read_lines
from tests.plugins.extension.files import OWN_STAGE, PARTS, STEEPENED, graph_in, linked_lines, load
from tests.plugins.gst.pipelines import PLUGINS, launch

if not list(PLUGINS.glob("libgstcontorno.so")):
    pytest.skip("needs a build with the GStreamer plugin", allow_module_level=True)
MAPS = ["contornosrc", "name=line", "is-live=false", "classes=3", "num-buffers=3", "maps-size=200,90", "line.src", "!", "queue", "!",
        "contorno", "name=contorno"]
ENDS = ["overlay=false", "!", "contornometa2json", "!", "filesink", "location=contours.jsonl", "line.maps", "!", "queue", "!", "contorno.maps"]


def test_the_element_loads_what_its_graph_needs_and_the_printed_line_says_so(tmp_path):
    linked_lines(tmp_path)
    graph = graph_in(tmp_path, STEEPENED)
    line = shlex.split(load(OWN_STAGE, "gst", graph, "--output", tmp_path).stdout)
    assert f"load={OWN_STAGE}" in line
    done = launch(*line[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "contours.jsonl").read_bytes() == (tmp_path / "linked" / "contours.jsonl").read_bytes()


def test_several_files_are_loaded_and_the_order_of_the_properties_does_not_matter(tmp_path):
    stages = "stages: [{type: steepen, gain: 4}, marching_squares, contour_assembly, {type: keep_long, least: 5}]\nclasses: auto\n"
    graph = graph_in(tmp_path, stages)
    done = launch(*MAPS, f"config={graph}", f"load={OWN_STAGE}:{PARTS}", *ENDS, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lengths = [one["length"] for line in read_lines(tmp_path / "contours.jsonl") for each in line["classes"] for one in each["contours"]]
    assert len(lengths) > 5 and min(lengths) >= 5


@pytest.mark.parametrize("words, reason", [(["load=own_stage.so"], "allowed is an absolute path"),
                                           (["load=/absent.so"], "/absent.so cannot be loaded: there is no such file"),
                                           ([], "unknown stage type 'steepen'")])
def test_what_cannot_be_loaded_is_an_error_of_the_element(tmp_path, words, reason):
    graph = graph_in(tmp_path, STEEPENED)
    done = launch(*MAPS, *words, f"config={graph}", *ENDS, cwd=tmp_path)
    assert done.returncode != 0 and reason in done.stderr + done.stdout
