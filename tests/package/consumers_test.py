"""Programs of others: found by CMake and pkg-config, added as a folder, moved; without a flag of ours and without the checkout."""
import os
import re
import shutil

import pytest
from tests.conftest import ROOT
from tests.package.conftest import (BUILD, COMPILERS, EXAMPLES, WARNINGS, done, flags_of, install, need, pkg_config,
                                    run_out_of_reach, shown_by_guides)

# So that warnings in the headers are not left out, as they are in those of found packages.
SEEN = ["-DCMAKE_NO_SYSTEM_FROM_IMPORTED=ON", f"-DCMAKE_CXX_FLAGS={' '.join(WARNINGS)}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
STANDARD = re.compile(r"-std=(gnu|c)\+\+20")


def strange_flags(build, source, include):
    """What is in the command that compiles a file, and does not come from these tests, from the source's own project, or is C++20
    and the folder of the headers."""
    words = flags_of(build, source)
    while "-isystem" in words:
        at = words.index("-isystem")
        words[at:at + 2] = [f"-I{words[at + 1]}"]
    for word in (*WARNINGS, f"-I{include}"):
        words.remove(word)  # once: a second one is not these tests' own
    return [word for word in words if not STANDARD.fullmatch(word)]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_examples_find_an_installed_copy(compiler, installed, tmp_path):
    need(compiler, "cmake", "ninja")
    shutil.copytree(EXAMPLES, tmp_path / "source")
    build = tmp_path / "build"
    done("cmake", "-G", "Ninja", "-S", tmp_path / "source", "-B", build, f"-DCMAKE_PREFIX_PATH={installed}",
         f"-DCMAKE_CXX_COMPILER={compiler}", *SEEN)
    done("cmake", "--build", build)
    shown = shown_by_guides()
    assert set(shown) == {path.stem.removesuffix("_main") for path in EXAMPLES.glob("*.cpp")}
    for name, lines in shown.items():
        own = ["-ffp-contract=off"] if name.startswith("own_") else []
        program = f"{name}_main.cpp" if (EXAMPLES / f"{name}_main.cpp").exists() else f"{name}.cpp"
        assert strange_flags(build, program, installed / "include") == own
        assert run_out_of_reach(build / f"example_{name}", installed) == lines


@pytest.mark.parametrize("compiler", COMPILERS)
def test_pkg_config_alone(compiler, installed, tmp_path):
    need(compiler, "pkg-config")
    flags = pkg_config(installed, "--cflags", "--libs")
    assert [word for word in flags if not word.startswith(("-I", "-L"))] == ["-std=c++20", "-lcontorno"]
    done(compiler, *WARNINGS, EXAMPLES / "find_contours.cpp", *flags, "-o", tmp_path / "mine")
    assert run_out_of_reach(tmp_path / "mine", installed) == shown_by_guides()["find_contours"]


# As docs/guide/cpp.md shows a project: how contorno is found, and how it is added in the place of that.
PROJECT, ADD = re.findall(r"^```cmake\n(.*?)^```", (ROOT / "docs" / "guide" / "cpp.md").read_text(), re.S | re.M)
FIND = "find_package(contorno 0.1 CONFIG REQUIRED)\n"


def consumer(folder, contorno):
    """The project of the guide, with a header of its own that has a name of ours, too."""
    (folder / "pipeline" / "graph").mkdir(parents=True)
    (folder / "pipeline" / "graph" / "stage.h").write_text("inline int stage_of_mine() { return 7; }\n")
    assert FIND in PROJECT
    (folder / "CMakeLists.txt").write_text(PROJECT.replace(FIND, contorno) + "target_include_directories(mine PRIVATE .)\n")
    (folder / "main.cpp").write_text("""#include "pipeline/graph/stage.h"

#include <contorno/pipeline/graph/stage.h>
#include <contorno/stages/catalog.h>
#include <cstdio>

int main() {
  for (const contorno::StageType* type : contorno::stage_catalog())
    if (type->name == "classify") std::printf("%d %s\\n", stage_of_mine(), type->name.c_str());
}
""")
    return folder


@pytest.mark.parametrize("compiler", COMPILERS)
def test_an_installed_folder_may_be_moved(compiler, tmp_path):
    """Installed below DESTDIR for another prefix, moved, found there; with libraries of that name in another place."""
    need(compiler, "cmake", "ninja", "pkg-config")
    install("/opt/contorno", "library", "dev", env={"DESTDIR": str(tmp_path / "staged")})
    moved = tmp_path / "moved here"
    (tmp_path / "staged" / "opt" / "contorno").rename(moved)
    source = consumer(tmp_path / "mine", FIND)
    build = tmp_path / "build"
    done("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={moved}", f"-DCMAKE_CXX_COMPILER={compiler}",
         *SEEN)
    done("cmake", "--build", build)
    assert strange_flags(build, "main.cpp", moved / "include") == [f"-I{source}/."]
    assert run_out_of_reach(build / "mine", moved) == "7 classify\n"
    assert str(moved) in " ".join(pkg_config(moved, "--cflags")).replace("\\", "")
    for path in moved.rglob("*"):
        if path.suffix in (".cmake", ".pc", ".h"):
            assert str(ROOT) not in path.read_text() and "/opt/contorno" not in path.read_text(), path


@pytest.mark.parametrize("version", ["0.2", "1.0"])
def test_another_minor_version_is_not_found(version, installed, tmp_path):
    need("cmake", "ninja")
    source = consumer(tmp_path / "mine", f"find_package(contorno {version} CONFIG)\nmessage(STATUS found=${{contorno_FOUND}})\n"
                                         "return()\n")
    said = done("cmake", "-G", "Ninja", "-S", source, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed}")
    assert "found=0" in said


@pytest.mark.parametrize("compiler", COMPILERS)
def test_added_as_a_folder(compiler, tmp_path):
    """Compiled as the consumer's project says; in the place of the library, which is compiled as ever, the one of this build."""
    need(compiler, "cmake", "ninja")
    source = consumer(tmp_path / "mine", ADD)
    (source / "external").mkdir()
    (source / "external" / "contorno").symlink_to(ROOT)
    build = tmp_path / "build"
    done("cmake", "-G", "Ninja", "-S", source, "-B", build, "-DCONTORNO_CUDA=OFF", f"-DCMAKE_CXX_COMPILER={compiler}", *SEEN)
    assert strange_flags(build, "main.cpp", build / "external" / "contorno" / "include") == [f"-I{source}/."]
    done("ninja", "-C", build, "CMakeFiles/mine.dir/main.cpp.o")
    done(compiler, build / "CMakeFiles/mine.dir/main.cpp.o", "-L", BUILD / "lib", "-lcontorno", "-o", tmp_path / "program")
    # The tests of the added project are its own.
    assert "contorno_tests" not in done("ninja", "-C", build, "-t", "targets", "all")
    assert done(tmp_path / "program", env={**os.environ, "LD_LIBRARY_PATH": str(BUILD / "lib")}) == "7 classify\n"


THREADS = r"""
#include <atomic>
#include <chrono>
#include <contorno/pipeline/shared/loops.h>
#include <cstdio>
#include <set>
#include <mutex>
#include <thread>

std::set<std::thread::id> threads;
std::mutex mutex;

// As many calls have to be under way at the same time, for a minute at most.
std::atomic<int> begun{0};
void meet(int calls) {
  ++begun;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (begun < calls && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  const std::lock_guard lock(mutex);
  threads.insert(std::this_thread::get_id());
}

int main() {
  contorno::for_rows(3, 3, [](int) { meet(3); });
  std::printf("%zu ", threads.size());
  threads.clear();
  begun = 0;
  contorno::for_tasks(2, 2, [](int) { meet(2); });
  std::printf("%zu ", threads.size());
  try {
    contorno::for_rows(2, 8, [](int row) { if (row == 5) throw row; });
  } catch (int row) {
    std::printf("%d\n", row);
  }
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_loops_keep_their_threads_without_openmp(compiler, installed, tmp_path):
    need(compiler, "pkg-config")
    (tmp_path / "main.cpp").write_text(THREADS)
    done(compiler, *WARNINGS, tmp_path / "main.cpp", *pkg_config(installed, "--cflags", "--libs"), "-o", tmp_path / "mine")
    assert run_out_of_reach(tmp_path / "mine", installed) == "3 2 5\n"
