// Several levels of a class: a list or {from, to, step}, and what is wrong with either.
#include <doctest/doctest.h>

#include "config/describe.h"
#include "config/load.h"
#include "tests/config/catalog.h"

using namespace contorno;
using contorno::test::kHead;
using contorno::test::load;
using contorno::test::report;

namespace {

std::string graph_with(const std::string& keys) {
  return "source: {type: video, location: a}\nclasses:\n  - {name: height, " + keys +
         "}\nstages:\n  - type: preprocess\n";
}

ClassSpec class_with(const std::string& keys) {
  return load(graph_with(keys)).classes.at(0);
}

/// The first line of the report, behind the place.
std::string fault_of(const std::string& keys) {
  const std::string text = report(graph_with(keys));
  return text.substr(0, text.find('\n'));
}

}  // namespace

TEST_CASE("a class has a list of levels, or evenly spaced ones up to and with the last") {
  CHECK(class_with("levels: [100, 150.5, 2e2]").levels == std::vector<double>{100, 150.5, 200});
  CHECK(class_with("levels: 7").levels == std::vector<double>{7});
  CHECK(class_with("levels: [-1e300, 0, 1e300]").levels == std::vector<double>{-1e300, 0, 1e300});
  CHECK(class_with("levels: {from: 1, to: 3, step: 0.5}").levels == std::vector<double>{1, 1.5, 2, 2.5, 3});
  CHECK(class_with("levels: {from: 1, to: 2.9, step: 1}").levels == std::vector<double>{1, 2});
  CHECK(class_with("levels: {from: 5, to: 5, step: 1}").levels == std::vector<double>{5});
  // 0.7 / 0.1 is below 7 by rounding.
  CHECK(class_with("levels: {from: 0, to: 0.7, step: 0.1}").levels.size() == 8);
  CHECK(class_with("levels: {from: 1, to: 1000, step: 1}").levels.size() == 1000);
}

TEST_CASE("levels take the place of level, and a class without them has one") {
  const ClassSpec several = class_with("levels: [3, 4]"), one = class_with("level: 3"),
                  none = class_with("fill: 0");
  CHECK(several.level == 3);
  CHECK(one.levels.empty());
  CHECK(one.iso_levels().size() == 1);
  CHECK(one.iso_levels()[0] == 3);
  CHECK(none.iso_levels()[0] == 0.5);
  CHECK(several.iso_levels().size() == 2);
  CHECK(have_levels(std::vector<ClassSpec>{one, several}));
  CHECK(!have_levels(std::vector<ClassSpec>{one, none}));
}

TEST_CASE("levels can be given on the command line") {
  const auto with = [](const char* value) {
    return load(graph_with("fill: 0"), {.overrides = {std::string("classes.height.levels=") + value}})
        .classes.at(0)
        .levels;
  };
  CHECK(with("1,2, 3") == std::vector<double>{1, 2, 3});
  CHECK(with("{from: 1, to: 2, step: 0.5}") == std::vector<double>{1, 1.5, 2});
}

TEST_CASE("wrong levels are refused with the place and what is allowed") {
  const std::string place = "graph.yaml:3:";
  const auto fault = [&](const char* keys) {
    const std::string text = fault_of(keys);
    CAPTURE(text);
    CHECK(text.find(place) == 0);
    const std::size_t at = text.find("class 'height': ");
    return at == std::string::npos ? text : text.substr(at + 16);
  };
  CHECK(fault("level: 1, levels: [2]") == "there are both level and levels, allowed one of them");
  const std::string allowed = "allowed a list of 1 to 1000 ascending numbers, or {from, to, step}";
  CHECK(fault("levels: []") == "levels is a list of 0, " + allowed);
  CHECK(fault("levels: [1, 2, 2]") == "levels: 2 is given twice");
  CHECK(fault("levels: [1, 3, 2]") == "levels: 2 comes after 3, allowed ascending numbers");
  for (const char* number : {".nan", ".inf", "1e400", "x", "\"1\"", "[1]"})
    CHECK(fault((std::string("levels: [0, ") + number + "]").c_str()).find("levels is ") == 0);
  CHECK(fault("levels: {from: 1, to: 2}") == "levels has no 'step', wanted {from: 100, to: 900, step: 50}");
  CHECK(fault("levels: {from: 1, to: 2, step: 0}") == "levels: step is 0, allowed numbers above 0");
  CHECK(fault("levels: {from: 1, to: 2, step: -1}") == "levels: step is -1, allowed numbers above 0");
  CHECK(fault("levels: {from: 2, to: 1, step: 1}") ==
        "levels: to is 1, allowed numbers from 2 on, which is from");
  CHECK(fault("levels: {from: 0, to: 1000, step: 1}") ==
        "levels: there are 1001 levels from 0 to 1000 by 1, allowed 1 to 1000");
  CHECK(fault("levels: {from: 0, to: 1e308, step: 1e-308}").find("levels: there are ") == 0);
  CHECK(fault("levels: {from: 1e16, to: 10000000000000010, step: 0.5}") ==
        "levels: step 0.5 is lost in the rounding of 1e+16");
  CHECK(fault("levels: {from: 0, to: 1, step: 1, by: 2}").find("by") != std::string::npos);
  std::string many = "levels: [0";
  for (int i = 1; i <= 1000; ++i) many += ", " + std::to_string(i);
  CHECK(fault((many + "]").c_str()) == "levels is a list of 1001, " + allowed);
}

TEST_CASE("a graph with levels reads back as it is described") {
  const GraphSpec graph = load(graph_with("levels: {from: 0.1, to: 0.5, step: 0.2}"));
  const std::string text = config::describe_graph(graph, nullptr, config::Detail::Written);
  CHECK(text.find("    levels: [0.1, 0.30000000000000004, 0.5]\n") != std::string::npos);
  CHECK(load(text).classes.at(0).levels == graph.classes.at(0).levels);
}
