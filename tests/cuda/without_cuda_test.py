"""A build without CUDA has every function of cuda/, as far as it shows one that knows no CUDA type: a stage that calls one compiles
with CUDA and would not link without."""
import re
import subprocess

import pytest
from tests.conftest import ROOT
from tests.package.conftest import BUILD

COMPILER = ["c++", "-std=c++20", f"-I{ROOT}", "-c"]


def defined_by(objects):
    names = subprocess.run(["nm", "--defined-only", "-C", *objects], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"^[0-9a-f]+ [TW] (contorno::.*)$", names, re.M))


def test_the_substrate_without_cuda_has_every_function(tmp_path):
    with_cuda = list((BUILD / "cuda" / "CMakeFiles" / "contorno_cuda.dir").rglob("*.o"))
    sources = (ROOT / "cuda" / "CMakeLists.txt").read_text()
    if "stream.cpp" not in sources or not (BUILD / "CMakeCache.txt").exists():
        pytest.fail("cuda/CMakeLists.txt has changed: which files are the substrate with CUDA?")
    if "CMAKE_CUDA_COMPILER:" not in (BUILD / "CMakeCache.txt").read_text():
        pytest.skip("needs a build with CUDA")
    compiled = []
    for name in ("runtime_none", "device", "near_device"):
        compiled.append(tmp_path / f"{name}.o")
        subprocess.run([*COMPILER, ROOT / "cuda" / f"{name}.cpp", "-o", compiled[-1]], check=True)
    # cuda/check.h is for files that include CUDA's own headers.
    missing = {name for name in defined_by(with_cuda) - defined_by(compiled)
               if not re.match(r"contorno::(throw_on_error|log_on_error|check_launch|\(anonymous)", name)}
    assert missing == set()
