"""The mistakes of tests/campaign/mutations: each operator makes a different text that compiles, a mistake is taken out whatever
happens, and what nobody notices is told from what somebody does."""
import itertools
import subprocess

import pytest
from tests.campaign.mutants import OPERATORS, draws, masked, mutants_of
from tests.campaign.mutation_run import FAMILIES, Family, Tree, judge, play, sources_of, who_noticed
from tests.conftest import ROOT

SAMPLE = r'''
#include <algorithm>
#include <string>
#include <vector>
#define SIGN(a, b) (a < b && b == 0)
// A remark with a < b && c == 1.
struct Counter {
  int count = 0;
  bool is_open = true;
  std::string last = "a < b; \" c == d";
  std::vector<int> seen;

  void add(int given, double seconds) {
    if (given < 0) return;
    if (is_open && given != 7 || !is_open) count += given;
    for (int i = 0; i < given; ++i) {
      if (i == 5) break;
      seen.push_back(i * given + 1);
    }
    const double ns = seconds * 1e9;
    count = std::max(count, static_cast<int>(ns / 1'000'000));
    last = "done";
    ++count;
  }
};
'''


def test_no_operator_looks_at_remarks_strings_and_the_preprocessor():
    code = masked(SAMPLE)
    assert len(code) == len(SAMPLE) and code.count("\n") == SAMPLE.count("\n")
    assert "remark" not in code and "SIGN" not in code and "done" not in code and '"' not in code
    assert "1'000'000" in code and "if (is_open && given != 7 || !is_open)" in code


@pytest.mark.parametrize("operator", OPERATORS)
def test_each_operator_makes_other_texts_that_compile(tmp_path, operator):
    mutants = mutants_of(SAMPLE)[operator]
    texts = {one.applied(SAMPLE) for one in mutants}
    assert len(texts) == len(mutants) > 0 and SAMPLE not in texts
    for one in mutants:
        assert one.line(SAMPLE) > 7 and "->" in one.told(SAMPLE)
    # All of them at once: each in a namespace of its own.
    body = SAMPLE[SAMPLE.index("struct"):]
    parts = [f"namespace mutant_{number} {{\n{text[text.index('struct'):]}\n}}\n" for number, text in enumerate(sorted(texts))]
    assert all(part.count(body) == 0 for part in parts)
    (tmp_path / "a.cpp").write_text(SAMPLE[:SAMPLE.index("struct")] + "".join(parts))
    done = subprocess.run(["c++", "-std=c++20", "-fsyntax-only", "-w", tmp_path / "a.cpp"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_known_mistakes_are_among_those_that_are_made():
    made = {one.told(SAMPLE).split("->")[1].strip() for ones in mutants_of(SAMPLE).values() for one in ones}
    assert {"if (given <= 0) return;", "(nothing)", "if ( given != 7 || !is_open) count += given;", "if (i != 5) break;",
            "seen.push_back(i * given - 1);", "const double ns = seconds * 1e12;", "if (!(i == 5)) break;",
            "count = std::min(count, static_cast<int>(ns / 1'000'000));", "bool is_open = false;",
            "for (int i = 1; i < given; ++i) {", "seen.push_back(i / given + 1);"} <= made, made


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_leaves_out_no_more_tests_than_it_names(name):
    """`-k` looks at marks as well: "not pytest" leaves out every test with a `pytestmark`, so all that have parameters."""
    for command in FAMILIES[name].tests:
        if "-k" not in command:
            continue
        words = command[command.index("-k") + 1].removeprefix("not ").split(" and not ")
        ran = subprocess.run([*command, "--collect-only", "-n0"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
        plain = [word for word in command if word not in ("-k", command[command.index("-k") + 1])]
        every = subprocess.run([*plain, "--collect-only", "-n0"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
        tests = lambda done: {line for line in done.stdout.splitlines() if "::" in line}
        gone = {one.split("[")[0] for one in tests(every) - tests(ran)}
        assert gone and len(gone) <= 4 and all(any(word in one for word in words) for one in gone), gone


@pytest.mark.parametrize("name", FAMILIES)
def test_a_seed_gives_the_same_mistakes_again_in_files_and_tests_that_are_there(name):
    family = FAMILIES[name]
    texts = sources_of(family, ROOT)
    drawn = [[(source, one) for source, one in itertools.islice(draws(texts, seed), 40)] for seed in ("1", "1", "2")]
    assert drawn[0] == drawn[1] != drawn[2] and len(set(drawn[0])) == 40
    assert len({one.operator for _, one in drawn[0]}) > 5 and len({source for source, _ in drawn[0]}) > 2
    files = [word.split("::")[0] for command in family.tests for word in command if word.startswith("tests/")]
    files += [word[2:] for command in family.tests for one in command if one.startswith("--source-file=")
              for word in one.removeprefix("--source-file=").split(",")]
    assert files and all(list(ROOT.glob(one)) for one in files), files


class Toy(Tree):
    """A tree of one source, its own test program, and no checkout."""

    def __init__(self, folder):
        super().__init__(folder, 1)
        (folder / "code").mkdir()
        (folder / "code" / "least.cpp").write_text(
            "#include <cstdio>\nint least(int a, int b) {\n  if (a < b) return a;\n  return b;\n}\n"
            "int unused(int a) {\n  return a + 1;\n}\n"
            "int main() {\n  return least(1, 2) == 1 && least(4, 3) == 3 && least(5, 5) == 5 ? 0 : 1;\n}\n")

    def make(self, targets):
        done = subprocess.run(["c++", "-O1", "-o", "program", *targets], cwd=self.folder, capture_output=True, text=True)
        return done.returncode == 0, done.stderr

    def compiled(self, source):
        return []


TOY = Family(("code/*.cpp",), ("code/least.cpp",), (["./program"],))


def test_what_tests_see_is_noticed_and_what_they_do_not_look_at_survives(tmp_path):
    tree, lines = Toy(tmp_path), []
    before = (tmp_path / "code" / "least.cpp").read_text()
    result = play(tree, "toy", TOY, 100, "1", tmp_path / "survived", lines.append)
    assert (tmp_path / "code" / "least.cpp").read_text() == before
    told = "\n".join(lines)
    assert "noticed by program ended with 1: code/least.cpp:3: turned condition: if (a < b) return a;" in told
    # The tests never call `unused`, and cannot tell a from an equal b.
    assert "survived by nobody: code/least.cpp:7: wrong sign: return a + 1;  ->  return a - 1;" in told
    assert "survived by nobody: code/least.cpp:3: boundary: if (a < b) return a;  ->  if (a <= b) return a;" in told
    assert result.counts["survived"] == len(result.survivors) == len(list((tmp_path / "survived").iterdir()))
    assert result.counts["noticed"] > result.counts["survived"] > 0
    patch = next((tmp_path / "survived").iterdir())
    subprocess.run(["patch", "-p1", "-i", patch], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "code" / "least.cpp").read_text() != before


def test_a_mistake_is_taken_out_whatever_happens(tmp_path):
    tree = Toy(tmp_path)
    source, before = "code/least.cpp", (tmp_path / "code" / "least.cpp").read_text()
    mutant = mutants_of(before)["boundary"][0]
    with pytest.raises(KeyboardInterrupt), tree.planted(source, mutant):
        assert (tmp_path / source).read_text() == mutant.applied(before)
        raise KeyboardInterrupt
    assert (tmp_path / source).read_text() == before
    hanging = Family(TOY.sources, TOY.targets, (["sh", "-c", "sleep 60 & wait"],))
    tree.test = lambda command, seconds: Tree.test(tree, command, 0.2)
    verdict, who = judge(tree, hanging, source, mutant, [0], [])
    assert verdict == "noticed" and who.startswith("took more than") and (tmp_path / source).read_text() == before


def test_tests_that_fail_without_any_mistake_are_no_tests(tmp_path):
    broken = Family(TOY.sources, TOY.targets, (["false"],))
    with pytest.raises(RuntimeError, match="the tests fail without any mistake"):
        play(Toy(tmp_path), "toy", broken, 3, "1", tmp_path / "survived", lambda line: None)


def test_who_noticed_is_the_case_that_failed_and_not_one_that_said_something():
    said = """[doctest] run with "--help" for options
===============================================================================
tests/config/locale_test.cpp:12:
TEST CASE:  numbers are read the same under a locale with a decimal comma

tests/config/locale_test.cpp:15: MESSAGE: skipped: no such locale

===============================================================================
tests/pipeline/memory_plan_test.cpp:40:
TEST CASE:  values that live at once lie apart

tests/pipeline/memory_plan_test.cpp:44: ERROR: CHECK( a == b ) is NOT correct!
"""
    assert who_noticed(said) == "TEST CASE:  values that live at once lie apart"
    assert who_noticed("....F\nFAILED tests/a_test.py::test_a - assert 1 == 2\n") == "FAILED tests/a_test.py::test_a - assert 1 == 2"
    assert who_noticed("Segmentation fault\n") is None
