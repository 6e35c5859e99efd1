// The forms that a graph may be written in, and what its messages lead on to.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "config/describe.h"
#include "config/load.h"
#include "tests/config/catalog.h"
#include "tests/file_content.h"

using namespace contorno;
using namespace contorno::config;
using contorno::test::fake_catalog;
using contorno::test::kHead;
using contorno::test::load;
using contorno::test::report;

namespace {

const std::string kFinds = "stages: [marching_squares, contour_assembly]\n";

/// The parameters of a `preprocess` stage with one value set in the file.
test::ResizeParams with_value(const std::string& key, const std::string& value) {
  return load(kHead + "stages: [{type: preprocess, " + key + ": " + value + "}]\n")
      .nodes[0]
      .params.as<test::ResizeParams>();
}

}  // namespace

TEST_CASE("a type alone stands for a node without parameters") {
  const GraphSpec graph = load(kHead + "stages:\n  - classify\n  - marching_squares\n  - contour_assembly\n");
  REQUIRE(graph.nodes.size() == 2);
  CHECK(graph.nodes[0].name == "classify");
  CHECK(graph.nodes[1].inputs == std::vector<Origin>{{0, 0}});
  const GraphSpec json = load(kHead + "stages: [\"classify\", \"marching_squares\", \"contour_assembly\"]\n");
  REQUIRE(json.nodes.size() == 2);
  CHECK(json.nodes[0].name == "classify");
  CHECK(json.nodes[1].inputs == std::vector<Origin>{{0, 0}});
  CHECK(report("source: video\nsinks: [video_file]\n") ==
        "graph.yaml:1:9: error: source: 'location' is missing\n"
        "    1 | source: video\n"
        "      |         ^~~~~\n"
        "  fix: add 'location: ...' (Where the file is.)\n"
        "graph.yaml:2:9: error: sink 'video_file': 'path' is missing\n"
        "    2 | sinks: [video_file]\n"
        "      |         ^~~~~~~~~~\n"
        "  fix: add 'path: ...' (Where the file is.)");
  CHECK(
      report(kHead + "stages: [clasify]\n").find("unknown stage type 'clasify' (did you mean 'classify'?)") !=
      std::string::npos);
}

TEST_CASE("nodes of one type number themselves, around the names that are given") {
  const GraphSpec graph =
      load(kHead +
           "stages: [preprocess, preprocess, {type: preprocess, name: preprocess_3}, preprocess]\n"
           "sinks:\n  - {type: video_file, path: a}\n  - {type: video_file, path: b, from: preprocess_2}\n");
  REQUIRE(graph.nodes.size() == 4);
  CHECK(graph.nodes[0].name == "preprocess");
  CHECK(graph.nodes[1].name == "preprocess_2");
  CHECK(graph.nodes[3].name == "preprocess_4");
  CHECK(graph.nodes[3].inputs == std::vector<Origin>{{2, 0}});
  REQUIRE(graph.sinks.size() == 2);
  CHECK(graph.sinks[0].name == "video_file");
  CHECK(graph.sinks[1].name == "video_file_2");
  CHECK(graph.sinks[1].input == Origin{1, 0});
}

TEST_CASE("the command line reaches numbered nodes and classes by their names") {
  const GraphSpec graph =
      load(kHead + "stages: [preprocess, preprocess]\nsinks: []\n",
           {.overrides = {"preprocess_2.rounds=7", "classes.rot.level=0.25",
                          "classes.rot.references=#010203, #040506", "classes.rot.ranges={hue: [0, 20]}",
                          "preprocess.resize=320,180"}});
  CHECK(graph.nodes[0].params.as<test::ResizeParams>().rounds == 3);
  CHECK(graph.nodes[0].params.as<test::ResizeParams>().resize == std::vector<double>{320, 180});
  CHECK(graph.nodes[1].params.as<test::ResizeParams>().rounds == 7);
  CHECK(graph.classes[0].level == 0.25);
  CHECK(graph.classes[0].references == std::vector<Colour>{{1, 2, 3, 255}, {4, 5, 6, 255}});
  CHECK(graph.classes[0].ranges == std::vector<HueRange>{{0, 20, 0, 1, 0, 1}});
  CHECK(report(kHead + "stages: []\n", {.overrides = {"classes.rott.level=0.2"}}) ==
        "--set classes.rott.level: error: unknown class 'rott' (did you mean 'rot'?)\n  fix: the graph has "
        "rot");
  CHECK(report(kHead + "stages: []\n", {.overrides = {"classes.rot.references=[#010203]"}}) ==
        "--set classes.rot.references: error: class 'rot': references is '[#010203]', allowed a list of "
        "colours\n"
        "  fix: quote colours, or leave the brackets out");
  CHECK(report(kHead + "stages: [{type: preprocess, name: classes}]\n")
            .find("name 'classes' is taken by the section of that name") != std::string::npos);
}

TEST_CASE("one value stands for a list of one") {
  CHECK(with_value("weights", "5").weights == std::vector<double>{5});
  CHECK(with_value("weights", "[5, 6]").weights == std::vector<double>{5, 6});
  CHECK(report(kHead + "stages: [{type: preprocess, resize: 640}]\n")
            .find("resize is 640, allowed a list of 2 numbers, each 1 to 65536 px") != std::string::npos);
  CHECK(report(kHead + "stages: [{type: preprocess, weights: wide}]\n")
            .find("weights is 'wide', allowed a list of 0 to 3 numbers, each any number") !=
        std::string::npos);
  const GraphSpec graph = load(
      "source: {type: video, location: a}\nclasses: [{name: a, references: \"#0a0b0c\", ranges: {hue: [1, "
      "2]}}]\n"
      "stages: [classify]\n");
  CHECK(graph.classes[0].references == std::vector<Colour>{{10, 11, 12, 255}});
  CHECK(graph.classes[0].ranges == std::vector<HueRange>{{1, 2, 0, 1, 0, 1}});
}

TEST_CASE("a whole number may be written in every way that numbers are") {
  for (const char* ten : {"10", "1e1", "10.0", "+10", "0.1e2"}) {
    CAPTURE(ten);
    CHECK(with_value("rounds", ten).rounds == 10);
  }
  for (const char* part : {"2.5", "1e-1", "1e3", "0x10", "1e400"}) {
    CAPTURE(part);
    CHECK(report(kHead + "stages: [{type: preprocess, rounds: " + part + "}]\n")
              .find("allowed a whole number, 1 to 100") != std::string::npos);
  }
}

TEST_CASE("numbers with zeros before them are refused with what they look like") {
  for (const auto& [given, fixed] :
       std::initializer_list<std::pair<const char*, const char*>>{{"010", "10"},
                                                                  {"+010", "10"},
                                                                  {"-010", "-10"},
                                                                  {"00", "0"},
                                                                  {"0010", "10"},
                                                                  {"010.0", "10.0"},
                                                                  {"01e1", "1e1"}}) {
    CAPTURE(given);
    const std::string fix = fmt::format("numbers are decimal, without leading zeros: {}", fixed);
    for (const char* key : {"rounds", "weights"}) {
      CAPTURE(key);
      const std::string said =
          report(kHead + fmt::format("stages: [{{type: preprocess, {}: {}}}]\n", key, given));
      CHECK_MESSAGE(
          said.find(fmt::format("error: node 'preprocess': {} is '{}'", key, given)) != std::string::npos,
          said);
      CHECK_MESSAGE(said.find(fix) != std::string::npos, said);
    }
    CHECK_MESSAGE(report(fmt::format("pipeline: {{slots: {}}}\n{}stages: []\n", given, kHead)).find(fix) !=
                      std::string::npos,
                  given);
  }
  CHECK(with_value("rounds", "10").rounds == 10);
  CHECK(with_value("weights", "0.5").weights == std::vector<double>{0.5});
}

TEST_CASE("other words for a choice are taken, and are the choice from then on") {
  CHECK(with_value("edge", "clip").edge == "clamp");
  const GraphSpec graph = load(kHead + "stages: [{type: preprocess, edge: clip}]\n");
  CHECK(std::get<std::string>(graph.nodes[0].params.get("edge")) == "clamp");
  CHECK(report(kHead + "stages: [{type: preprocess, edge: clmp}]\n")
            .find("edge is 'clmp' (did you mean 'clamp'?), allowed one of clamp, wrap\n") !=
        std::string::npos);
  CHECK(help_text(fake_catalog(), "preprocess", TextStyle::Plain)
            .find("edge  one of clamp, wrap; also clip = clamp; default clamp\n") != std::string::npos);
}

TEST_CASE("only stages that use classes ask for them") {
  CHECK(load("source: {type: video, location: a}\nstages: [preprocess]\n").nodes.size() == 1);
  CHECK(report("source: {type: video, location: a}\nstages: [preprocess, classify]\n") ==
        "graph.yaml:2:1: error: section 'classes' is missing: classify needs to know what to look for\n"
        "    2 | stages: [preprocess, classify]\n"
        "      | ^~~~~~\n"
        "  fix: add classes: [{name: ..., level: 0.5, colour: \"#e63946\"}]");
}

TEST_CASE("a colour without quotes in a list is named where it stands") {
  CHECK(
      report(
          "source: {type: video, location: a}\nclasses:\n  - {name: a, references: [#d9912b, \"#a9541b\"]}\n"
          "stages: [classify]\n") ==
      "graph.yaml:3:28: error: # begins a comment here, so the list never ends\n"
      "    3 |   - {name: a, references: [#d9912b, \"#a9541b\"]}\n"
      "      |                            ^~~~~~~\n"
      "  fix: quote colours: \"#d9912b\"");
  CHECK(report("classes:  # [#d9912b] is only said\n  - {name: a, references: [\"#010203\", #d9912b]}\n")
            .find("graph.yaml:2:39: error: # begins a comment here") == 0);
}

TEST_CASE("a quote that is not closed on its line is reported once, where it opens") {
  const auto times = [](const std::string& text, std::string_view part) {
    int found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
    return found;
  };
  const std::string never = "this quote is not closed on its line";
  // The parser finds the end of the text: in the second graph behind a value from one quote to the next.
  for (const std::string open : {"stages: ['classify]\n", "stages: [{type: 'classify}]\nsinks: ['none']\n"}) {
    INFO(open);
    const std::string text = report(kHead + open);
    CHECK(times(text, never) == 1);
    const int line = times(kHead, "\n") + 1, column = static_cast<int>(open.find('\'')) + 1;
    CHECK(text.find(fmt::format("graph.yaml:{}:{}: error: {}", line, column, never)) == 0);
  }
  // Two that are open, each closed on a later line.
  CHECK(times(report("source: 'a\n  b'\nstages: \"c\n  d\"\n"), never) == 2);
}

TEST_CASE("a misspelt section does not hide what is wrong inside it") {
  const std::string text = report(
      "sorce: {type: video, locaton: a}\nclases: [{name: a, levle: 1}]\nstages: [classify]\n"
      "sinks: []\n");
  for (const char* part : {"unknown section 'sorce' (did you mean 'source'?)",
                           "source: unknown key 'locaton' (did you mean 'location'?)",
                           "unknown section 'clases' (did you mean 'classes'?)",
                           "class 'a': unknown key 'levle' (did you mean 'level'?)"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  CHECK(text.find("is missing: ") == std::string::npos);
  CHECK(report(kHead + kFinds + "sink: [jsonl]\nsinks: []\n").find("'path' is missing") == std::string::npos);
}

TEST_CASE("bounds are written out, and those that bound nothing are left out") {
  const auto allowed = [](double minimum, double maximum, ParamKind kind = ParamKind::Integer) {
    return ParamSpec{.kind = kind, .unit = Unit::Frames, .minimum = minimum, .maximum = maximum}.allowed();
  };
  CHECK(allowed(0, static_cast<double>(kUnbounded)) == "a whole number, at least 0 frames");
  CHECK(allowed(1, 1e12) == "a whole number, 1 to 1000000000000 frames");
  CHECK(allowed(-2147483648.0, 2147483647.0) == "a whole number, -2147483648 to 2147483647 frames");
  CHECK(allowed(0.001, 100000, ParamKind::Number) == "0.001 to 100000 frames");
  CHECK(allowed(-static_cast<double>(kUnbounded), 5) == "a whole number, at most 5 frames");
}

TEST_CASE("what types try of their values is told with the place, when it is asked for") {
  const std::string text = kHead + kFinds + "sinks:\n  - {type: jsonl, precision: 3, path: \"{day}\"}\n";
  CHECK(report(text) == "");
  CHECK(report(text, {.output_root = "out"}, ExitCode::Unavailable) ==
        "graph.yaml:5:39: error: sink 'jsonl': {day} cannot be written in out\n"
        "    5 |   - {type: jsonl, precision: 3, path: \"{day}\"}\n"
        "      |                                       ^~~~~~~");
  CHECK(report(text, {.overrides = {"jsonl.path={day}x"}, .output_root = "out"}, ExitCode::Unavailable) ==
        "--set jsonl.path: error: sink 'jsonl': {day}x cannot be written in out");
  CHECK(report(text, {.overrides = {"jsonl.precision=0"}, .output_root = "out"}).find("cannot be written") ==
        std::string::npos);
}

TEST_CASE("a description of what was written holds that and nothing else, and loads again") {
  const GraphSpec graph = load(
      "source: {type: video, location: a.mp4}\npipeline: {slots: 4}\nclasses: [{name: rot, fill: 0.5}]\n"
      "stages:\n  - {type: preprocess, rounds: 3}\n  - preprocess\n  - classify\n  - marching_squares\n"
      "  - contour_assembly\nsinks: [{type: jsonl, path: o.jsonl}]\n",
      {.overrides = {"preprocess_2.grey=true"}});
  const std::string text = describe_graph(graph, nullptr, Detail::Written);
  CHECK(text ==
        "source:\n  type: video\n  location: a.mp4\npipeline:\n  slots: 4\nclasses:\n  - name: rot\n    "
        "fill: 0.5\n"
        "stages:\n  - type: preprocess\n    from: {image: source}\n    rounds: 3\n"
        "  - type: preprocess\n    name: preprocess_2\n    from: {image: preprocess.image}\n    grey: true\n"
        "  - type: classify\n    from: {image: preprocess_2.image}\n"
        "  - type: marching_squares\n    from: {maps: classify.maps}\n"
        "  - type: contour_assembly\n    from: {crossings: marching_squares.crossings}\n"
        "sinks:\n  - type: jsonl\n    from: contour_assembly.contours\n    path: o.jsonl\n");
  CHECK(describe_graph(load(text)) == describe_graph(graph));
}
