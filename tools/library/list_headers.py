#!/usr/bin/python3
"""Prints the headers that are installed: those that programs of others include (ENTRIES), and what these reach. The list is
committed: tools/library/list_headers.py > tools/library/headers.txt"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
GROUPS = {
    "One array": [
        "stages/contours/find_contours.h", "stages/contours/find_segments.h", "stages/contours/cuda/engine.h",
        "stages/diamond_square/field.h", "stages/mean_shift/points.h", "stages/mipmap/chain.h", "stages/morphology/stage.h"],
    "Graphs, and sources and sinks of one's own": [
        "config/describe.h", "config/load.h", "pipeline/graph/sink.h", "pipeline/graph/source.h", "pipeline/run/fleet.h",
        "pipeline/run/runner.h", "plugins/catalog.h", "plugins/extension.h", "plugins/media/media.h", "stages/catalog.h"],
    "Stages of one's own": [
        "base/error.h", "base/host_device.h", "pipeline/graph/applied.h", "pipeline/graph/direct.h", "pipeline/graph/stage.h",
        "pipeline/shared/loops.h", "pipeline/value/attributes.h", "stages/shared/map_value.h"],
    "An engine of one's own for networks": ["stages/network/engine.h"],
    "Steps of one's own on contours": [
        "geometry/contour_loop.h", "geometry/contour_size.h", "geometry/team.h", "stages/contour_prep/shared/on_host.h",
        "stages/contour_prep/shared/outputs.h", "stages/contour_prep/shared/per_contour.h", "stages/contour_prep/stage.h"],
}
ENTRIES = [header for group in GROUPS.values() for header in group]


def included(header):
    """The headers of this repository that one includes."""
    return re.findall(r'^\s*#\s*include\s*"([^"]+)"', (ROOT / header).read_text(), re.M)


def installed_headers():
    """Sorted by their bytes."""
    found, waiting = set(), list(ENTRIES)
    while waiting:
        header = waiting.pop()
        if header not in found:
            found.add(header)
            waiting += included(header)
    return sorted(found)


if __name__ == "__main__":
    print("\n".join(installed_headers()))
