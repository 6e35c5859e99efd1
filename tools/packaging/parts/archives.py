"""Archives that go into the wheel's library: those of the distribution are compiled for programs alone (not position-independent),
so its sources are fetched once, by apt, which checks their signatures, and compiled into build/package/archives."""
import pathlib
import re
import shutil
import subprocess

from .common import WORK, Missing, need, run

PREFIX = WORK / "archives"
# A source package, the library that is there when it is done, what its CMake is told, and a package that was made of it.
SOURCES = {
    "fmtlib": ("libfmt.a", ["-DFMT_TEST=OFF", "-DFMT_DOC=OFF"], "libfmt-dev"),
    "yaml-cpp": ("libyaml-cpp.a", ["-DYAML_BUILD_SHARED_LIBS=OFF", "-DYAML_CPP_BUILD_TESTS=OFF", "-DYAML_CPP_BUILD_TOOLS=OFF",
                                   "-DYAML_CPP_BUILD_CONTRIB=OFF"], "libyaml-cpp-dev"),
    "libpng1.6": ("libpng16.a", ["-DPNG_SHARED=OFF", "-DPNG_TESTS=OFF", "-DPNG_EXECUTABLES=OFF"], "libpng-dev"),
    "libjpeg-turbo": ("libjpeg.a", ["-DENABLE_SHARED=OFF", "-DWITH_TURBOJPEG=OFF", "-DWITH_JPEG8=OFF", "-DREQUIRE_SIMD=ON"],
                      "libjpeg62-turbo-dev"),
}
APT = pathlib.Path("/etc/apt")


def apt_options():
    """apt with the distribution's own archives of sources, whose lists are kept below build/."""
    folder = WORK / "apt"
    (folder / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (folder / "sources").mkdir(exist_ok=True)
    for path in (APT / "sources.list", *(APT / "sources.list.d").glob("*")):
        if path.suffix not in (".list", ".sources") or not path.exists():
            continue
        text = re.sub(r"^Types:.*", "Types: deb-src", path.read_text(), flags=re.M)
        (folder / "sources" / path.name).write_text(re.sub(r"^deb ", "deb-src ", text, flags=re.M))
    return ["-q", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={folder / 'sources'}",
            "-o", f"Dir::State::lists={folder / 'lists'}", "-o", "APT::Sandbox::User=root"]


def installed_version(package):
    """Of the source that an installed package was made of: headers, licences and tests are of the same."""
    done = subprocess.run(["dpkg-query", "-W", "-f", "${source:Version}", package], capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"{package} is missing: apt-get install {package}")
    return done.stdout


def fetch_sources(names):
    """The version that is installed; where the archive has another by now, the newest, or that of the release."""
    options = apt_options()
    folder = WORK / "sources"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    log = WORK / "sources.log"

    def apt_get(*words):
        with log.open("a") as file:
            return subprocess.run(["apt-get", *options, *words], cwd=folder, stdout=file, stderr=file).returncode == 0

    log.write_text("")
    apt_get("update")
    release = re.search("VERSION_CODENAME=(.*)", pathlib.Path("/etc/os-release").read_text())
    for name in names:
        asked = [f"{name}={installed_version(SOURCES[name][2])}", name, f"{name}/{release[1]}" if release else name]
        if not any(apt_get("source", words) for words in asked):
            raise Missing(f"the sources of {name} could not be fetched (see build/package/sources.log); with network: "
                          f"apt-get source {name}")
    return folder


def prepare():
    """Makes the archives that are not there."""
    absent = [name for name, (library, *_) in SOURCES.items() if not (PREFIX / "lib" / library).exists()]
    if not absent:
        return
    need("apt-get", "apt")
    need("dpkg-source", "dpkg-dev")
    need("nasm", "nasm")
    folder = fetch_sources(absent)
    for name in absent:
        source = next(path for path in folder.glob(f"{name}-*") if path.is_dir())
        build = WORK / "archives-build" / name
        log = f"archive-{name}.log"
        run(["cmake", "-G", "Ninja", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
             f"-DCMAKE_C_FLAGS=-ffile-prefix-map={source}={name}", f"-DCMAKE_CXX_FLAGS=-ffile-prefix-map={source}={name}",
             f"-DCMAKE_INSTALL_PREFIX={PREFIX}", f"-DCMAKE_INSTALL_LIBDIR={PREFIX / 'lib'}", *SOURCES[name][1]], log)
        run(["cmake", "--build", build], log)
        run(["cmake", "--install", build], log)
