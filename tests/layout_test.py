"""The folders' include rules: includes go down only, and each foreign library is seen in one place."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["base", "cuda", "pipeline", "geometry", "stages", "config", "plugins", "tools", "tests"]
MAY_INCLUDE = {
    "base": {"base"},
    "cuda": {"base", "cuda"},
    "pipeline": {"base", "cuda", "pipeline"},
    "geometry": {"base", "cuda", "pipeline", "geometry"},
    "stages": {"base", "cuda", "pipeline", "geometry", "stages"},
    "config": {"base", "cuda", "pipeline", "geometry", "stages", "config"},
    "plugins": {"base", "cuda", "pipeline", "geometry", "stages", "config", "plugins"},
    "tools": {"base", "cuda", "pipeline", "geometry", "stages", "config", "plugins", "tools"},
    "tests": set(FOLDERS),
}
# The rooms of a folder, and the others of them that each may include. What lies beside them is shared by all, or joins them.
ROOMS = {
    "pipeline/shared": set(),
    "pipeline/value": {"pipeline/shared"},
    "pipeline/graph": {"pipeline/shared", "pipeline/value"},
    "pipeline/run": {"pipeline/shared", "pipeline/value", "pipeline/graph"},
    "plugins/shared": set(),
    "plugins/files/shared": set(),
    "plugins/files/pictures": {"plugins/files/shared"},
    "plugins/files/arrays": {"plugins/files/shared", "plugins/files/pictures"},
    "plugins/files/hdf5": {"plugins/files/shared", "plugins/files/arrays"},
    "plugins/files/mat": {"plugins/files/shared", "plugins/files/arrays"},
    "plugins/files/zarr": {"plugins/files/shared", "plugins/files/arrays"},
    "plugins/files/dataset": {"plugins/shared", "plugins/files/shared", "plugins/files/pictures", "plugins/files/arrays"},
    "plugins/files/contours": {"plugins/files/shared"},
    "plugins/files/levels": {"plugins/files/shared"},
    "plugins/files/tiff": {"plugins/files/shared", "plugins/files/pictures", "plugins/files/levels"},
    "plugins/files/video": set(),
    "plugins/synthetic": {"plugins/shared"},
    "plugins/media": {"plugins/shared", "plugins/files/shared", "plugins/files/pictures"},
    "plugins/text": {"plugins/shared"},
    "plugins/opencv": set(),
    "plugins/publish": {"plugins/shared", "plugins/files/contours", "plugins/files/shared"},
    "plugins/publish/outbox": {"plugins/publish"},
    **{f"plugins/publish/{route}": {"plugins/publish", "plugins/publish/outbox"} for route in ("redis", "mqtt", "kafka")},
    "plugins/ops": set(),
    "plugins/ops/http": {"plugins/ops"},
    "plugins/dnn": {"plugins/shared"},
    "plugins/onnxruntime": {"plugins/shared"},
    "plugins/gst": {"plugins/shared", "plugins/files/shared", "plugins/files/pictures", "plugins/files/video", "plugins/media", "plugins/gst/deep", "plugins/gst/element"},
    "plugins/gst/deep": set(),
    "plugins/gst/element": {"plugins/shared", "plugins/files/shared", "plugins/files/contours", "plugins/synthetic", "plugins/text"},
    "plugins/python/shared": set(),
    "plugins/python/host": {"plugins/python/shared"},
    "plugins/python/device": {"plugins/python/shared", "plugins/python/host"},
    "plugins/python/functions": {"plugins/python/shared", "plugins/python/host", "plugins/python/device"},
    "plugins/python/pipeline": {"plugins/python/shared", "plugins/python/host", "plugins/files/contours", "plugins/files/shared", "plugins/text"},
    "tools/bench": {"tools/latency"},
    "tools/bench/sources": {"tools/bench"},
    "tools/draw": set(),
    "tools/explain": set(),
    "tools/latency": set(),
    "tools/learn": set(),
    "tools/ops": set(),
    "tools/points": set(),
    "tools/replay": set(),
    "tools/shell": set(),
    "tools/commands": {"tools/bench", "tools/draw", "tools/explain", "tools/latency", "tools/learn", "tools/ops", "tools/points",
                       "tools/replay", "tools/shell"},
}
FOREIGN = {
    r"glib\.h|pango/": lambda path: path.parts[:2] in (("plugins", "gst"), ("plugins", "text")) or path.name == "glib_writer.cpp",
    r"tiffio\.h": lambda path: path.parts[:3] == ("plugins", "files", "tiff"),
    r"matio\.h": lambda path: path.parts[:3] == ("plugins", "files", "mat"),
    r"hdf5\.h": lambda path: path.parts[:3] == ("plugins", "files", "hdf5"),
    r"gdal|cpl_": lambda path: path.parts[:3] == ("plugins", "files", "zarr"),
    r"sqlite3\.h": lambda path: path.parts[:3] == ("plugins", "publish", "outbox"),
    r"hiredis/": lambda path: path.parts[:3] == ("plugins", "publish", "redis"),
    r"openssl/": lambda path: path.parts[:3] == ("plugins", "publish", "redis"),
    r"mosquitto\.h": lambda path: path.parts[:3] == ("plugins", "publish", "mqtt"),
    r"librdkafka/": lambda path: path.parts[:3] == ("plugins", "publish", "kafka"),
    r"boost/": lambda path: path.parts[:3] == ("plugins", "ops", "http"),
    r"onnxruntime_c_api\.h": lambda path: path.parts[:2] == ("plugins", "onnxruntime"),
    r"opencv2/": lambda path: path.parts[:2] in (("plugins", "opencv"), ("plugins", "dnn")),
    r"yaml-cpp/": lambda path: path.parts[0] == "config",
    r"gst/": lambda path: path.parts[:2] == ("plugins", "gst") or path.parts[0] == "tests",
    r"pybind11/|Python\.h": lambda path: path.parts[:2] == ("plugins", "python"),
    r"cuda_runtime|cuda\.h|cub/|thrust/|cooperative_groups": lambda path: path.parts[0] in ("cuda", "tests")
    or path.suffix in (".cu", ".cuh"),
}


def sources():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cpp", ".cu", ".cuh", ".inc"):
                yield path.relative_to(ROOT), path.read_text()


def includes(text):
    return re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', text, re.M)


def test_there_is_something_to_check():
    assert len(list(sources())) > 20


def test_includes_go_down_only():
    wrong = []
    for path, text in sources():
        for include in includes(text):
            top = include.split("/")[0]
            if top in FOLDERS and "/" in include and top not in MAY_INCLUDE[path.parts[0]]:
                wrong.append(f"{path} includes {include}")
    assert wrong == []


def test_a_family_of_stages_includes_itself_and_what_all_share():
    wrong = []
    for path, text in sources():
        if path.parts[0] != "stages" or len(path.parts) < 3:
            continue
        for include in includes(text):
            parts = include.split("/")
            if parts[0] == "stages" and (len(parts) < 3 or parts[1] not in (path.parts[1], "shared")):
                wrong.append(f"{path} includes {include}")
    assert wrong == []


def test_geometry_knows_no_stage_and_no_plan():
    wrong = [f"{path} includes {include}" for path, text in sources() if path.parts[0] == "geometry" for include in includes(text)
             if include.startswith("pipeline/") and not include.startswith(("pipeline/value/", "pipeline/shared/"))]
    assert wrong == []


def room(path):
    """The deepest folder of `path` that ROOMS knows, or None."""
    folders = [str(folder) for folder in pathlib.PurePath(path).parents]
    return next((folder for folder in folders if folder in ROOMS), None)


def test_a_room_includes_itself_and_the_rooms_it_may():
    wrong = []
    for path, text in sources():
        own = room(path)
        for include in includes(text) if own else ():
            other = room(include)
            same_top = other and other.split("/")[0] == own.split("/")[0]
            if same_top and other != own and other not in ROOMS[own]:
                wrong.append(f"{path} includes {include}")
    assert wrong == []


def test_every_folder_is_a_room():
    for top in sorted({name.split("/")[0] for name in ROOMS}):
        assert {str(path.parent) for path, _ in sources() if path.parts[0] == top} - {top} <= set(ROOMS)


def test_foreign_headers_are_seen_in_their_one_place():
    wrong = []
    for path, text in sources():
        for include in includes(text):
            for pattern, allowed in FOREIGN.items():
                if re.match(pattern, include) and not allowed(path):
                    wrong.append(f"{path} includes {include}")
    assert wrong == []


def test_the_default_stream_and_device_wide_synchronisation_appear_nowhere():
    """But in the variants of others that are measured: so they have it."""
    wrong = [str(path) for path, text in sources() if path.parts[0] != "tests" and path.parts[:3] != ("tools", "bench", "sources")
             and re.search(r"cudaDeviceSynchronize\s*\(|cudaMallocManaged\s*\(|cudaMemcpy\s*\(", text)]
    assert wrong == []


# Programs of their own for developers, and destructors that cannot throw.
MAY_PRINT = {"tools/say.cpp", "tools/bench/commands.h", "cuda/stream.cpp", "plugins/python/pipeline/pipeline_module.cpp",
             "tools/bench/sources/main.cpp",
             *(f"tools/bench/{name}.cpp" for name in ("classify", "contour_prep", "contours", "diamond_square", "mean_shift",
                                                      "mipmap", "morphology"))}


def test_what_is_printed_goes_through_one_module():
    """tools/say.h escapes names and masks passwords. What a library prints may be kept from the screen (std::cerr.rdbuf)."""
    wrong = [str(path) for path, text in sources() if path.parts[0] != "tests" and str(path) not in MAY_PRINT
             and re.search(r"fmt::print\s*\(|std::c(out|err)\b(?!\.rdbuf)|\bf?printf\s*\(|\bf?puts\s*\(|\bputchar\s*\(", text)]
    assert wrong == []


def test_files_stay_readable():
    long = [f"{path}: {text.count(chr(10))} lines" for path, text in sources() if text.count("\n") > 600]
    assert long == []
