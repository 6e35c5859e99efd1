"""Where GStreamer has its analytics library (1.24 and newer), each contour that is no hole is a detected object, too."""
import pytest
from tests.plugins.gst.pipelines import GstVideo, caps_of, frames, gi, packed, run_pipeline

try:
    gi.require_version("GstAnalytics", "1.0")
    from gi.repository import GLib, GstAnalytics
except (ValueError, ImportError):
    pytest.skip("needs GStreamer's analytics library with its typelib (GStreamer 1.24)", allow_module_level=True)


def test_every_contour_that_is_no_hole_is_a_detected_object_with_the_region_s_rectangle():
    found = run_pipeline("appsrc name=in ! contorno name=contorno ! appsink name=video",
                         [packed(next(frames(1, 64, 48)), "RGB")], caps_of("RGB", 64, 48), outputs=("video",))
    buffer = found["video"][0].get_buffer()
    regions, number = [], 0
    while (region := GstVideo.buffer_get_video_region_of_interest_meta_id(buffer, number)) is not None:
        said = region.get_param("contorno")
        if said.get_value("area") >= 0:
            regions.append((said.get_value("class"), region.x, region.y, region.w, region.h, said.get_value("confidence")))
        number += 1
    objects = GstAnalytics.buffer_get_analytics_relation_meta(buffer)
    assert regions and GstAnalytics.relation_get_length(objects) == len(regions)
    for index, expected in enumerate(regions):
        there, detection = objects.get_od_mtd(index)
        assert there
        placed, x, y, width, height, confidence = detection.get_location()
        assert placed and (GLib.quark_to_string(detection.get_obj_type()), x, y, width, height, confidence) == expected
