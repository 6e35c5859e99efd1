// Graphs with `sources:`: each camera's own copy, and every mistake at once.
#include <doctest/doctest.h>

#include <string>

#include "config/describe.h"
#include "tests/config/catalog.h"

using namespace contorno;
using namespace contorno::config;
using contorno::test::fake_catalog;
using contorno::test::report;

namespace {

const std::string kRest =
    "classes: [{name: rot}, {name: skin}]\nstages: [preprocess, contours]\n"
    "sinks: [{type: jsonl, path: \"out/{camera}.jsonl\"}]\n";

FleetSpec load_fleet(const std::string& text, const LoadOptions& options = {}) {
  return load_fleet_text(text, "graph.yaml", fake_catalog(), options);
}

std::string fleet_report(const std::string& text, const LoadOptions& options = {}) {
  try {
    load_fleet(text, options);
    return {};
  } catch (const ConfigErrors& errors) {
    CHECK(errors.code() == ExitCode::BadConfig);
    return errors.what();
  }
}

std::string path_of(const CameraSpec& camera) {
  return std::get<std::string>(camera.graph.sinks.at(0).params.get("path"));
}
std::string location_of(const CameraSpec& camera) {
  return std::get<std::string>(camera.graph.source.params.get("location"));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

}  // namespace

TEST_CASE("a source reads files where its input is a location, and that one a path") {
  const auto reads = [](const char* key, const char* input) {
    const SourceType type{.name = "one", .params = contorno::test::file_params(key), .input_param = key};
    SourceSpec source{.type = &type, .params = ParamSet(type.params)};
    source.params.set(key, std::string(input));
    return reads_files(source);
  };
  CHECK(reads("location", "films/a.mp4"));
  CHECK(reads("location", "file:///films/a.mp4"));
  CHECK_FALSE(reads("location", "rtsp://10.0.0.1/a"));
  CHECK_FALSE(reads("device", "/dev/video0"));
}

TEST_CASE("each entry of sources is a camera with a graph of its own") {
  const FleetSpec fleet = load_fleet(
      "sources:\n"
      "  - {name: north, type: video, location: \"rtsp://10.0.0.1/a\"}\n"
      "  - {name: south-2, type: video, location: b.mp4, required: true, weight: 2.5, max_rate: 30,\n"
      "     set: {pipeline.deadline: 60, classes.rot.level: 0.6, preprocess.resize: [32, 16]}}\n"
      "live: {stall: 2000, reconnect: [500, 8000]}\n" +
          kRest,
      {.input_root = "/data"});
  REQUIRE(fleet.is_named());
  REQUIRE(fleet.cameras.size() == 2);
  CHECK(fleet.live.stall_ms == 2000);
  CHECK(fleet.live.reconnect_ms == std::vector<double>{500, 8000});
  const CameraSpec &north = fleet.cameras[0], &south = fleet.cameras[1];
  CHECK(north.name == "north");
  CHECK_FALSE(north.settings.required);
  CHECK(north.settings.weight == 1);
  CHECK_FALSE(north.reads_files);
  CHECK(north.graph.settings.deadline_ms == 0);
  CHECK(north.graph.classes[0].level == 0.5);
  CHECK(path_of(north) == "out/north.jsonl");
  CHECK(south.settings.required);
  CHECK(south.settings.weight == 2.5);
  CHECK(south.settings.max_rate == 30);
  CHECK(south.reads_files);
  CHECK(location_of(south) == "/data/b.mp4");
  CHECK(south.graph.settings.deadline_ms == 60);
  CHECK(south.graph.classes[0].level == 0.6);
  CHECK(south.graph.classes[1].level == 0.5);
  CHECK(south.graph.nodes[0].params.as<contorno::test::ResizeParams>().resize == std::vector<double>{32, 16});
  CHECK(path_of(south) == "out/south-2.jsonl");
}

TEST_CASE("a graph with source is a fleet of one camera without a name, and the same graph") {
  const std::string text =
      contorno::test::kHead + "stages: [contours]\nsinks: [{type: jsonl, path: \"{{a}}\"}]\n";
  const FleetSpec fleet = load_fleet(text);
  CHECK_FALSE(fleet.is_named());
  REQUIRE(fleet.cameras.size() == 1);
  CHECK(path_of(fleet.cameras[0]) == "{{a}}");
  CHECK(describe_graph(fleet.cameras[0].graph) == describe_graph(contorno::test::load(text)));
}

TEST_CASE("the command line sets a camera by its name, and all graphs at once") {
  const std::string text =
      "sources: [{name: a, type: video, location: x.mp4, set: {pipeline.slots: 3}}, {name: b-1, type: video, "
      "location: y.mp4}]\n" +
      kRest;
  const FleetSpec fleet = load_fleet(text, {.overrides = {"sources.b-1.location=z.mp4", "sources.a.weight=3",
                                                          "pipeline.slots=7", "jsonl.path={camera}/c.jsonl"},
                                            .input_root = "/data"});
  CHECK(location_of(fleet.cameras[0]) == "/data/x.mp4");
  CHECK(location_of(fleet.cameras[1]) == "z.mp4");
  CHECK(fleet.cameras[0].settings.weight == 3);
  CHECK(fleet.cameras[0].graph.settings.slots == 7);
  CHECK(path_of(fleet.cameras[1]) == "b-1/c.jsonl");
  const std::string wrong = fleet_report(text, {.overrides = {"sources.c.location=1", "source.location=2",
                                                              "sources.a.name=d", "sources.a.loc=3"}});
  CHECK(wrong.find("--set sources.c.location: error: unknown source 'c'") != std::string::npos);
  CHECK(wrong.find("the sources are a, b-1") != std::string::npos);
  CHECK(wrong.find("--set source.location: error: the graph has several sources") != std::string::npos);
  CHECK(wrong.find("--set sources.a.name: error: 'name' cannot be set") != std::string::npos);
  CHECK(wrong.find("--set sources.a.loc: error: source 'a': unknown key 'loc'") != std::string::npos);
  CHECK(fleet_report(text, {.input = "w.mp4"}).find("--input names one input") != std::string::npos);
}

TEST_CASE("a camera may have a device of its own, and a word that names none is told with its place") {
  const std::string sources =
      "pipeline: {backend: cuda:all}\n"
      "sources: [{name: a, type: video, location: x.mp4}, {name: b, type: video, location: x.mp4, "
      "set: {pipeline.backend: ";
  const FleetSpec fleet = load_fleet(sources + "\"cuda:1\"}}]\n" + kRest);
  CHECK(fleet.cameras[0].graph.settings.backend == BackendRequest(Backend::Cuda, BackendRequest::kAll));
  CHECK(fleet.cameras[1].graph.settings.backend == BackendRequest(Backend::Cuda, 1));
  CHECK(load_fleet(sources + "cuda:2}}]\n" + kRest).cameras[1].graph.settings.backend.device == 2);
  CHECK(fleet_report(sources + "cuda:x}}]\n" + kRest)
            .find("graph.yaml:2:116: error: pipeline: backend is 'cuda:x' (did you mean 'cuda'?), allowed "
                  "one of "
                  "auto, cpu, cuda, cuda:all, cuda:N (N is a number from 0)") == 0);
  CHECK(fleet_report("pipeline:\n  backend: cuda:-1\nsources: [{name: a, type: video, location: x.mp4}]\n" +
                     kRest)
            .find("graph.yaml:2:12: error: pipeline: backend is 'cuda:-1'") == 0);
  // The command line's word is for all.
  CHECK(load_fleet(sources + "cuda:2}}]\n" + kRest, {.backend = BackendRequest(Backend::Cuda, 3)})
            .cameras[1]
            .graph.settings.backend.device == 3);
}

TEST_CASE("names of cameras are short words, each once, and at most 64") {
  const auto with = [](const std::string& name) {
    return fleet_report("sources: [{name: " + name + ", type: video, location: x.mp4}]\n" + kRest);
  };
  for (const char* good : {"a", "0", "north-2_b", "abcdefghijklmnopqrstuvwxyz012345"})
    CHECK(with(good) == "");
  for (const char* bad : {"North", "-a", "_a", "a.b", "a/b", "\"a b\"", "\"\"",
                          "abcdefghijklmnopqrstuvwxyz0123456", "[a]", "ä"})
    CHECK(with(bad).find("which is no name of a camera") != std::string::npos);
  CHECK(fleet_report("sources: [{name: a, type: video, location: x}, {name: a, type: video, location: y}]\n" +
                     kRest)
            .find("error: duplicate camera 'a', first given in line 1") != std::string::npos);
  const auto many = [](int cameras) {
    std::string text = "sources:\n";
    for (int i = 0; i < cameras; ++i)
      text += "  - {name: c" + std::to_string(i) + ", type: video, location: x.mp4}\n";
    return text + kRest;
  };
  CHECK(load_fleet(many(64)).cameras.size() == 64);
  CHECK(fleet_report(many(65)).find("sources is a list of 65, allowed a list of 1 to 64 sources") !=
        std::string::npos);
  CHECK(fleet_report("sources: []\n" + kRest).find("a list of 0") != std::string::npos);
  CHECK(fleet_report("sources: 3\n" + kRest).find("sources is '3'") != std::string::npos);
}

TEST_CASE("every mistake of a graph with sources is told at once, those that cameras share once") {
  const std::string text =
      "source: {type: video, location: x.mp4}\n"                                             // 1
      "sources:\n"                                                                           // 2
      "  - {name: A, type: video, location: x.mp4, set: {pipeline.slot: 3, nodot: 1}}\n"     // 3
      "  - {name: b, type: video, location: y.mp4, wieght: 2, set: {source.location: z}}\n"  // 4
      "  - {name: b, type: vide, required: 7}\n"                                             // 5
      "  - {type: video}\n"                                                                  // 6
      "live: {reconnect: [30000, 1000]}\n"                                                   // 7
      "classes: [{name: rot, levle: 0.5}]\n"                                                 // 8
      "stages: [contours]\n"
      "sinks: [{type: jsonl, path: c.jsonl}, {type: video_file, path: \"-\", from: source.frame}]\n";
  const std::string found = fleet_report(text);
  for (const char* part :
       {"graph.yaml:1:1: error: the graph has 'source' and, in line 2, 'sources'",
        "graph.yaml:3:12: error: name is 'A'", "graph.yaml:3:51: error: pipeline: unknown key 'slot'",
        "graph.yaml:3:69: error: source 'A': 'nodot' is no setting",
        "graph.yaml:4:45: error: source 'b': unknown key 'wieght'", "set changes the graph, and not a source",
        "graph.yaml:5:12: error: duplicate camera 'b'", "unknown source type 'vide'",
        "source 'b': required is 7", "graph.yaml:6:5: error: this source has no 'name'",
        "'location' is missing", "reconnect: the first wait is longer than the longest",
        "sink 'jsonl': all cameras would write to 'c.jsonl'", "the cameras cannot share standard output"})
    CHECK_MESSAGE(found.find(part) != std::string::npos, part, "\n", found);
  CHECK(count(found, "levle") == 2);  // once in the message, once in the line that is shown
  CHECK(count(found, "all cameras would write") == 1);
}

TEST_CASE("what a live camera does without is a list of steps, with one source too") {
  const std::string one = contorno::test::kHead + "stages: [contours]\n";
  const auto steps_of = [](const std::string& text) { return degrade_steps(load_fleet(text).live.degrade); };
  CHECK(steps_of(one).empty());
  CHECK(steps_of(one + "live: {degrade: []}\n").empty());
  CHECK(steps_of(one + "live: {degrade: overlay}\n") == std::vector<DegradeStep>{DegradeStep::Overlay});
  CHECK(steps_of(one + "live: {degrade: [thin, mip]}\n") ==
        std::vector<DegradeStep>{DegradeStep::Thin, DegradeStep::Mip});
  const FleetSpec several = load_fleet(
      "sources: [{name: a, type: video, location: x.mp4}]\n"
      "live: {degrade: [mip], stall: 7, fallback: cpu}\n" +
      kRest);
  CHECK(several.live.degrade == "mip");
  CHECK(several.live.stall_ms == 7);
  CHECK(several.live.fallback == Fallback::Cpu);
  CHECK(load_fleet(one).live.fallback == Fallback::None);
  const auto wrong = [&](const std::string& live) { return fleet_report(one + "live: " + live + "\n"); };
  CHECK(
      wrong("{degrade: [mip, mop]}").find("degrade has 'mop', allowed is a list of overlay, mip and thin") !=
      std::string::npos);
  CHECK(wrong("{degrade: [thin, mip, thin]}").find("degrade has 'thin' twice") != std::string::npos);
  CHECK(wrong("{degrade: [{mip: 2}]}").find("degrade has a map, allowed is a list of") != std::string::npos);
  CHECK(wrong("{fallback: gpu}").find("one of none, cpu") != std::string::npos);
}

TEST_CASE("what needs one source refuses several, and cameras are lost of several alone") {
  CHECK(report("sources: [{name: a, type: video, location: x.mp4}]\n" + kRest)
            .find("the graph has 'sources', and one source is needed here") != std::string::npos);
  CHECK(report(contorno::test::kHead + "live: {stall: 3}\nstages: [contours]\n")
            .find("'live.stall' is for a graph with 'sources'") != std::string::npos);
}
