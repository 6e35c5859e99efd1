"""Records of objects from the element `contorno`: those of `contorno run`, as messages and in what `contornometa2json` writes."""
import json

import cv2
import numpy as np
import pytest

from tests.conftest import read_lines
from tests.plugins.gst.pipelines import GRAPH, bytes_of, caps_of, packed, reference, run_pipeline

WIDTH, HEIGHT = 160, 96
OBJECTS = GRAPH.replace("steps: [{type: measure}]", "steps: [{type: objects, of: red, called: disc, max_missed: 1, max_distance: 30}]")


def discs(count):
    """Discs that are there for some frames each, with a hole of the ground in every one."""
    for index in range(count):
        frame = np.full((HEIGHT, WIDTH, 3), (48, 80, 48), np.uint8)
        for start, end, row in ((0, 4, 24), (2, 9, 70), (6, count, 24)):
            if start <= index < end:
                cv2.circle(frame, (40 + 4 * (index - start), row), 15, (224, 32, 32), -1, cv2.LINE_AA)
                cv2.circle(frame, (40 + 4 * (index - start), row), 3 + index % 3, (48, 80, 48), -1, cv2.LINE_AA)
        yield frame


def without_times(record):
    """Times of pictures are not those of a video."""
    if isinstance(record, dict):
        return {key: without_times(value) for key, value in record.items() if key != "pts_ns"}
    return [without_times(one) for one in record] if isinstance(record, list) else record


@pytest.mark.parametrize("slots", [1, 4])
def test_records_are_those_of_a_run_in_messages_and_metas(contorno, tmp_path, slots):
    pictures = list(discs(14))
    reference(contorno, tmp_path, pictures, OBJECTS)
    lines = read_lines(next(tmp_path.rglob("contours.jsonl")))
    wanted = [without_times(line) for line in lines if "kind" in line]
    assert [one["left"] for one in wanted] == [True, True, False]
    messages = []

    def listen(pipeline, index):
        if index == 0:
            pipeline.get_bus().enable_sync_message_emission()
            pipeline.get_bus().connect("sync-message::element", lambda _, message: messages.append(message.get_structure().copy()))

    found = run_pipeline(f"appsrc name=in ! contorno name=contorno slots={slots} ! contornometa2json ! appsink name=text",
                         [packed(one, "RGB") for one in pictures], caps_of("RGB", WIDTH, HEIGHT), OBJECTS, ["text"], listen)
    said = [one for one in messages if one.get_name() == "contorno-object"]
    assert [without_times(json.loads(one.get_string("json"))) for one in said] == wanted
    assert [(one.get_string("object"), one.get_uint64("id")[1]) for one in said] == [("disc", one["id"]) for one in wanted]
    texts = [bytes_of(sample.get_buffer()).decode() for sample in found["text"]]
    assert len(texts) == len(pictures)
    written = [without_times(json.loads(line)) for text in texts for line in text.splitlines()]
    # Behind the last frame there is no meta.
    assert [one for one in written if "kind" in one] == wanted[:2]
    places = [written.index(one) for one in wanted[:2]]
    assert [written[place + 1]["frame"] for place in places] == [5, 10]
