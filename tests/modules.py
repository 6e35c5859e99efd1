"""The modules of the build that is tested, and what each is built with. A test of one that is absent is skipped with that package."""
import os
import pathlib

import pytest
from tests.conftest import LIBRARY

MODULES = pathlib.Path(os.environ.get("CONTORNO_MODULES", LIBRARY.parent / "contorno"))
BUILT_WITH = {"deep": "libavcodec-dev and libswscale-dev", "dnn": "libopencv-dev", "gst": "libgstreamer-plugins-base1.0-dev",
              "hdf5": "libhdf5-dev", "kafka": "librdkafka-dev", "mat": "libmatio-dev", "mqtt": "libmosquitto-dev", "onnxruntime": "libonnxruntime-dev",
              "opencv": "libopencv-dev", "ops": "libboost-dev", "publish": "libsqlite3-dev", "redis": "libhiredis-dev",
              "text": "libpango1.0-dev", "tiff": "libtiff-dev", "zarr": "libgdal-dev"}


def lack_of(*modules):
    """Why tests of these modules cannot run; empty: all are there."""
    absent = [name for name in modules if not (MODULES / f"{name}.so").exists()]
    return f"needs a build with the module {absent[0]}, for which {BUILT_WITH[absent[0]]} is installed" if absent else ""


def need_modules(*modules, whole_file=False):
    """Skips the test, or the whole file, where the build lacks one."""
    if lack := lack_of(*modules):
        pytest.skip(lack, allow_module_level=whole_file)


def needs_modules(*modules):
    """The mark of tests that are skipped where the build lacks one."""
    return pytest.mark.skipif(lack_of(*modules) != "", reason=lack_of(*modules))
