"""Plants mistakes into a copy of the tree, one at a time: builds it, runs the tests of the family, and takes the mistake out again
whatever happens."""
import collections
import contextlib
import dataclasses
import difflib
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import time

from tests.campaign.mutants import draws
from tests.conftest import ROOT

PYTEST = ["/usr/bin/python3", "-m", "pytest", "-q", "-x", "-n", "2", "-p", "no:cacheprovider"]
UNIT = ["{build}/bin/contorno_tests", "--abort-after=1"]
RANGES = "tests/tools/number_options_test.py::test_the_ranges_of_all_numbers_are_those_that_were_written_down"


def unit(*files):
    return [*UNIT, "--source-file=" + ",".join(f"*/tests/{one}" for one in files)]


@dataclasses.dataclass(frozen=True)
class Family:
    """`sources` are patterns of files below the tree, `tests` are commands, the fastest first."""
    sources: tuple
    targets: tuple
    tests: tuple


PROGRAM = ("contorno", "contorno_modules")
FAMILIES = {
    "element": Family(("plugins/gst/element/*.cpp",), (*PROGRAM, "contorno_gst_tests", "contorno_python", "contorno_python_pipeline"), (
        ["{build}/bin/contorno_gst_tests"],
        [*PYTEST, "tests/plugins/gst/element_slots_test.py", "tests/plugins/gst/maps_pad_test.py",
         "tests/plugins/gst/element_accounts_test.py", "tests/plugins/gst/maps_change_test.py", "tests/plugins/gst/tensor_maps_test.py",
         "tests/plugins/gst/element_test.py", "tests/plugins/gst/ends_test.py", "tests/plugins/gst/objects_test.py",
         "tests/plugins/gst/source_test.py"])),
    "replay": Family(("tools/replay/*.cpp", "tools/commands/replay.cpp", "tools/commands/record.cpp"), (*PROGRAM, "contorno_tests"), (
        unit("tools/replay_*_test.cpp", "tools/wrapped_source_test.cpp", "tools/paced_source_test.cpp"),
        [*PYTEST, "tests/tools/replay_test.py", "tests/tools/replay_compare_test.py", "tests/tools/replay_record_test.py",
         "tests/tools/replay_scores_test.py", "tests/tools/record_test.py", RANGES, "-k", "not by_one_line_of"],)),
    "runner": Family(("pipeline/run/*.cpp", "pipeline/graph/*.cpp"), (*PROGRAM, "contorno_tests"), (
        unit("pipeline/*", "config/*", "stages/contract_test.cpp", "stages/contour_prep/track_graph_test.cpp"),
        [*PYTEST, "tests/tools/summary_test.py", "tests/tools/faults_test.py", "tests/config/ranges_test.py", "-k", "not memory"])),
    "overlay": Family(("stages/classify/*.cpp", "stages/overlay/*.cpp"), (*PROGRAM, "contorno_tests"), (
        unit("stages/classify/*", "stages/overlay/*", "stages/contract_test.cpp"),
        [*PYTEST, "tests/stages/overlay/legend_objects_test.py", "tests/config/ranges_test.py"])),
    "config": Family(("config/*.cpp",), (*PROGRAM, "contorno_tests"), (
        unit("config/*"), [*PYTEST, "tests/config", "tests/tools/explain_test.py", "tests/tools/command_line_test.py"])),
    "latency": Family(("tools/latency/*.cpp",), (*PROGRAM, "contorno_tests", "latency_faults"), (
        unit("tools/latency_*_test.cpp", "tools/report_test.cpp"),
        [*PYTEST, "tests/tools/latency_test.py", "tests/tools/latency_gst_test.py", RANGES])),
}
# Files of code that only a device runs.
DEVICE_FILES = ("device", "nv12", "staged_copy", "pinned_memory", "banded_upload")
PATIENCE = 5  # times as long as without a mistake may the tests take
MARGIN = 60  # seconds more


class Tree:
    """A copy of the checkout's files, built beside it. Files that did not change keep their times, so that builds go on."""

    def __init__(self, folder, jobs=2):
        self.folder, self.build, self.jobs = pathlib.Path(folder), pathlib.Path(folder) / "build" / "cpu", jobs

    def prepare(self):
        """Brings the copy to what the checkout has now; a mistake that a killed run left goes with it."""
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
        names = [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
        for name in names:
            self._bring(name)
        for path in [path for path in self.folder.rglob("*") if path.is_file()]:
            name = path.relative_to(self.folder)
            if name.parts[0] not in ("build", ".git") and str(name) not in set(names) and "__pycache__" not in name.parts:
                path.unlink()
        if not (self.build / "build.ninja").exists():
            self._run(["cmake", "--preset", "cpu", "-DCONTORNO_PRECOMPILE=OFF", "-DCMAKE_UNITY_BUILD=OFF"])

    def _bring(self, name):
        data, there = (ROOT / name).read_bytes(), self.folder / name
        if there.exists() and there.read_bytes() == data:
            return
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(data)
        shutil.copymode(ROOT / name, there)

    def _run(self, command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {(done.stdout + done.stderr)[-3000:]}")

    def make(self, targets):
        """Whether it builds; its output."""
        done = subprocess.run(["cmake", "--build", self.build, "--", f"-j{self.jobs}", *targets], cwd=self.folder, capture_output=True,
                              text=True)
        return done.returncode == 0, done.stdout + done.stderr

    def compiled(self, source):
        """What a source was compiled to; the same bytes are the same program."""
        objects = sorted(self.build.rglob(f"{pathlib.Path(source).name}.o"))
        return [hashlib.sha256(one.read_bytes()).hexdigest() for one in objects if source in str(one)
                or pathlib.Path(source).parent.name in str(one)]

    @contextlib.contextmanager
    def planted(self, name, mutant):
        path = self.folder / name
        before = path.read_text()
        try:
            path.write_text(mutant.applied(before))
            yield
        finally:
            path.write_text(before)

    def test(self, command, seconds):
        """None when the tests passed, else what was seen."""
        command = [one.format(build=self.build) for one in command]
        environment = {**os.environ, "CONTORNO_BIN": str(self.build / "bin" / "contorno"), "CONTORNO_BUILD": str(self.build),
                       "PYTHONPATH": str(self.build / "python"), "GST_REGISTRY": str(self.build / "registry.bin")}
        with subprocess.Popen(command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", start_new_session=True) as process:
            try:
                said, _ = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                return f"took more than {seconds:.0f} s"
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        if process.returncode == 0:
            return None
        return who_noticed(said) or f"{pathlib.Path(command[0]).name} ended with {process.returncode}"


def who_noticed(said):
    """The first test that failed, by what pytest or doctest printed; None where neither names one. doctest names the case above
    what it says of it, which may be no failure."""
    case = None
    for line in said.splitlines():
        if line.startswith(("FAILED", "ERROR", "Fatal")):
            return line
        if line.startswith("TEST CASE:"):
            case = line
        if ": ERROR: " in line or ": FATAL ERROR: " in line:
            return case or line
    return None


@dataclasses.dataclass
class Result:
    """What became of the mistakes of a family."""
    name: str
    counts: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    survivors: list = dataclasses.field(default_factory=list)

    def row(self):
        counts = self.counts
        return (f"{self.name:10} {counts['noticed'] + counts['survived']:8} {counts['noticed']:8} {counts['survived']:9} "
                f"{counts['refused']:8} {counts['same']:8}")


def sources_of(family, folder):
    paths = [path for pattern in family.sources for path in sorted(folder.glob(pattern))]
    return {str(path.relative_to(folder)): path.read_text() for path in paths
            if not any(word in path.name for word in DEVICE_FILES)}


def all_pass(tree, name, family):
    """How long each command of the family's tests takes; an error where one does not pass without any mistake."""
    built, said = tree.make(family.targets)
    if not built:
        raise RuntimeError(f"{name}: the tree itself does not build: {said[-3000:]}")
    seconds = []
    for command in family.tests:
        began = time.monotonic()
        seen = tree.test(command, 3600)
        if seen:
            raise RuntimeError(f"{name}: the tests fail without any mistake: {seen}")
        seconds.append(time.monotonic() - began)
    return seconds


def judge(tree, family, source, mutant, seconds, before):
    """What becomes of one mistake, and who noticed it. `before` is what the source is compiled to without it."""
    with tree.planted(source, mutant):
        built, _ = tree.make(family.targets)
        if not built:
            return "refused", "the compiler"
        if before and tree.compiled(source) == before:
            return "same", "nobody can: the compiler makes the same code"
        for command, usual in zip(family.tests, seconds):
            if seen := tree.test(command, PATIENCE * usual + MARGIN):
                return "noticed", seen
    return "survived", "nobody"


def play(tree, name, family, count, seed, survived, report=print):
    """Plants `count` mistakes that build into a family; what survives goes as a patch into the folder `survived`."""
    seconds = all_pass(tree, name, family)
    report(f"{name}: the tests take {sum(seconds):.0f} s")
    texts, result, judged = sources_of(family, tree.folder), Result(name), 0
    compiled = {source: tree.compiled(source) for source in texts}
    for source, mutant in draws(texts, f"{seed}/{name}"):
        if judged == count:
            break
        verdict, who = judge(tree, family, source, mutant, seconds, compiled[source])
        result.counts[verdict] += 1
        if verdict in ("refused", "same"):
            continue
        judged += 1
        text = texts[source]
        report(f"{name}: {verdict} by {who}: {source}:{mutant.line(text)}: {mutant.operator}: {mutant.told(text)}")
        if verdict == "survived":
            result.survivors.append((source, mutant))
            patch = difflib.unified_diff(text.splitlines(True), mutant.applied(text).splitlines(True), f"a/{source}", f"b/{source}")
            survived.mkdir(parents=True, exist_ok=True)
            (survived / f"{name}-{judged:03}.patch").write_text("".join(patch))
    tree.make(family.targets)  # the next family begins without the last mistake
    return result
