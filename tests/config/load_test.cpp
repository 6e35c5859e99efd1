#include "config/load.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <clocale>
#include <ctime>
#include <filesystem>
#include <random>

#include "tests/allocation_counter.h"
#include "tests/config/catalog.h"
#include "tests/file_content.h"

using namespace contorno;
using namespace contorno::config;
using contorno::test::fake_catalog;
using contorno::test::kGraphs;
using contorno::test::kHead;
using contorno::test::load;
using contorno::test::report;

namespace {

/// The report for one value of a parameter of the `preprocess` stage; empty when the value is accepted.
std::string value_report(const std::string& key, const std::string& value) {
  return report(kHead + "stages:\n  - type: preprocess\n    " + key + ": " + value + "\n");
}

/// Processor time of `work` without sanitizers, which make it several times as long.
double seconds(const std::function<void()>& work) {
  const double slower = contorno::test::has_sanitizer() ? 10 : 1;
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / slower;
}

std::string repeat(const std::string& part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

}  // namespace

TEST_CASE("a complete graph loads with every value where it belongs") {
  const GraphSpec graph = load_graph(kGraphs + "good.yaml", fake_catalog());
  CHECK(graph.settings.backend == Backend::Cpu);
  CHECK(graph.settings.slots == 6);
  CHECK(graph.settings.on_full == OnFull::Wait);
  CHECK(graph.settings.deadline_ms == 100);
  CHECK(graph.source.params.as<test::FileParams>().path == kGraphs + "cockatoo.mp4");
  REQUIRE(graph.classes.size() == 2);
  CHECK(graph.classes[0].name == "rot");
  CHECK(graph.classes[0].colour == Colour{0xe6, 0x39, 0x46, 255});
  CHECK(graph.classes[0].fill == 0.25);
  CHECK(graph.classes[0].references == std::vector<Colour>{{0x8b, 0x5a, 0x2b, 255}, {0x5a, 0x3a, 0x1a, 255}});
  CHECK(graph.classes[0].ranges == std::vector<HueRange>{{340, 20, 0.3, 1, 0.2, 1}});
  CHECK(graph.classes[1].name == "grün");
  CHECK(graph.classes[1].level == 0.5);
  CHECK(graph.classes[1].hidden);
  REQUIRE(graph.nodes.size() == 4);
  CHECK(graph.nodes[0].name == "small");
  CHECK(graph.nodes[0].params.as<test::ResizeParams>().sigma == 2);
  CHECK(graph.nodes[0].params.as<test::ResizeParams>().note == "${HOME} ! filesink location=/etc/passwd");
  CHECK(graph.nodes[1].inputs == std::vector<Origin>{{0, 0}});
  CHECK(graph.nodes[3].inputs == std::vector<Origin>{{Origin::kSource, Origin::kFrame}, {2, 0}});
  REQUIRE(graph.sinks.size() == 2);
  CHECK(graph.sinks[0].input == Origin{2, 0});
  CHECK(graph.sinks[1].input == Origin{3, 0});
  CHECK(graph.sinks[0].settings.as<SinkSettings>().on_full == OnFull::Wait);
  CHECK(graph.sinks[1].settings.as<SinkSettings>().on_full == OnFull::DropOldest);
}

TEST_CASE(
    "every sink takes on_full beside the parameters of its type, in the file or from the command line") {
  const auto with = [](const std::string& keys) {
    return kHead + "sinks:\n  - {type: video_file, from: source.frame, path: a.mkv" + keys + "}\n";
  };
  const auto chosen = [](const GraphSpec& graph) {
    return graph.sinks.at(0).settings.as<SinkSettings>().on_full;
  };
  CHECK(chosen(load(with(""))) == OnFull::Wait);
  CHECK(chosen(load(with(", on_full: drop_oldest"))) == OnFull::DropOldest);
  CHECK(chosen(load(with(", on_full: drop"))) == OnFull::DropOldest);
  CHECK(chosen(load(with(", on_full: drop"), {.overrides = {"video_file.on_full=wait"}})) == OnFull::Wait);
  const std::string wrong = report(with(", on_full: drop_newest"));
  CHECK(
      wrong.find("sink 'video_file': on_full is 'drop_newest' (did you mean 'drop_oldest'?), allowed one of "
                 "wait, drop_oldest") != std::string::npos);
  const std::string unknown = report(with(", on_ful: drop"));
  CHECK(unknown.find("unknown key 'on_ful' (did you mean 'on_full'?)") != std::string::npos);
  CHECK(report(kHead + "stages:\n  - {type: preprocess, on_full: drop}\n").find("unknown key 'on_full'") !=
        std::string::npos);
}

TEST_CASE("an image that no stage makes and no source can stand for is missing") {
  StageType meeting{.name = "meeting",
                    .summary = "Takes what a stage makes.",
                    .inputs = {{.name = "image", .sentence = "What a stage made."}},
                    .params = test::no_params()};
  Catalog catalog = fake_catalog();
  catalog.stages.push_back(&meeting);
  const GraphSpec graph = load_graph_text(kHead + "stages: [classify, meeting]\n", "graph.yaml", catalog);
  CHECK(graph.nodes[1].inputs == std::vector<Origin>{{0, 0}});
  CHECK_THROWS_WITH_AS(load_graph_text(kHead + "stages: [meeting]\n", "graph.yaml", catalog),
                       doctest::Contains("no earlier stage makes image"), ConfigErrors);
}

TEST_CASE("colours of classes in a graph without a stage that looks at them are an error at their place") {
  const auto graph = [](const char* colours, const char* stages) {
    return fmt::format("source: {{type: video, location: a.mp4}}\nclasses: [{{name: rot, {}}}]\nstages: {}\n",
                       colours, stages);
  };
  for (const char* colours : {"references: \"#010203\"", "ranges: {hue: [0, 20]}"}) {
    const std::string said = report(graph(colours, "[marching_squares, contour_assembly]"));
    CHECK(contains(said, "graph.yaml:2:23: error: a class has r"));
    CHECK(contains(said, "no stage looks at colours: classify is missing"));
    CHECK(contains(said, "put classify before"));
    CHECK_NOTHROW(load(graph(colours, "[classify, marching_squares, contour_assembly]")));
    CHECK_NOTHROW(load(graph(colours, "[preprocess]")));  // nobody asks for classes
    CHECK(!contains(report(graph(colours, "[clasify, marching_squares]")), "is missing"));
  }
}

TEST_CASE("the channels of a frame are no maps of classes that are known by colours") {
  StreamFormat frames, both;
  frames.frame = both.frame = ImageFormat{.width = 8, .height = 8, .channels = 4};
  both.maps = ImageFormat{.width = 8, .height = 8, .channels = 1, .type = ElementType::F32};
  const std::string head =
      "source: {type: video, location: a}\nclasses: [{name: a, references: \"#010203\"}]\n";
  for (const char* before : {"", "preprocess, "}) {
    const std::string stages = fmt::format("stages: [{}contours, classify]\n", before);
    GraphSpec graph = load(head + stages), with_maps = graph;
    CHECK_THROWS_WITH_AS(bind_source(graph, frames), doctest::Contains("put classify before"), Error);
    CHECK_NOTHROW(bind_source(with_maps, both));
  }
  GraphSpec meant = load(head + "stages: [classify, {type: contours, from: source.frame}]\n");
  CHECK_NOTHROW(bind_source(meant, frames));
}

TEST_CASE("a mask is read when the graph is, by the reader of the catalogue") {
  const std::string stage = kHead + "stages:\n  - {type: preprocess, stamp: ";
  const auto stamp = [](const GraphSpec& graph) {
    return graph.nodes[0].params.as<test::ResizeParams>().stamp;
  };
  const SharedMask given = stamp(load(stage + "\"a b.npy\"}\n"));
  REQUIRE(given != nullptr);
  CHECK(given->values == std::vector<double>{7});
  CHECK(stamp(load(stage + "\"\"}\n")) == nullptr);
  CHECK(stamp(load(stage + "none.npy}\n", {.overrides = {"preprocess.stamp=x.png"}}))->text == "x.png");

  CHECK(contains(report(stage + "none.npy}\n", {}, ExitCode::MissingInput),
                 "graph.yaml:4:31: error: node 'preprocess': stamp: 'none.npy' does not exist"));
  CHECK(contains(report(stage + "a}\n", {.overrides = {"preprocess.stamp=none.npy"}}, ExitCode::MissingInput),
                 "--set preprocess.stamp: error: node 'preprocess': stamp: 'none.npy' does not exist"));
  CHECK(contains(report(stage + "[1, 2]}\n"), "stamp is a list, allowed text"));
  Catalog without = fake_catalog();
  without.read_mask = {};
  CHECK_THROWS_WITH_AS(load_graph_text(stage + "a.npy}\n", "graph.yaml", without),
                       doctest::Contains("this program reads no masks from files"), ConfigErrors);
}

TEST_CASE("inputs that the file leaves open take the default, the nearest output, or the source") {
  const GraphSpec graph =
      load(kHead +
           "stages:\n  - type: marching_squares\n  - type: contour_assembly\n  - type: overlay\n"
           "  - {type: preprocess, from: source}\nsinks:\n  - {type: jsonl, path: a}\n");
  CHECK(graph.nodes[0].inputs == std::vector<Origin>{{Origin::kSource, Origin::kMapsOrFrame}});
  CHECK(graph.nodes[1].inputs == std::vector<Origin>{{Origin::kSource, Origin::kFrame}, {0, 0}});
  CHECK(graph.nodes[2].inputs == std::vector<Origin>{{Origin::kSource, Origin::kFrameOrMaps}});
  CHECK(graph.sinks[0].input == Origin{0, 0});
}

TEST_CASE("stages may be listed in any order and are put behind their inputs") {
  const GraphSpec graph =
      load(kHead +
           "stages:\n  - {type: contour_assembly, from: marching_squares}\n"
           "  - {type: marching_squares, from: classify}\n  - {type: classify, from: source.frame}\n");
  CHECK(graph.nodes[0].name == "classify");
  CHECK(graph.nodes[1].name == "contour_assembly");
  CHECK(graph.nodes[1].inputs == std::vector<Origin>{{0, 0}});
}

TEST_CASE("an open source settles what its stages read, and says what is missing") {
  const std::string text =
      kHead + "stages: [{type: marching_squares}, {type: contour_assembly}, {type: overlay}]\n";
  StreamFormat frames, maps, both;
  frames.frame = both.frame = ImageFormat{8, 8, 3, ElementType::U8, Layout::Interleaved, {}};
  maps.maps = both.maps = ImageFormat{8, 8, 2, ElementType::F32, Layout::Planar, {}};
  GraphSpec graph = load(text);
  bind_source(graph, both);
  CHECK(graph.nodes[0].inputs[0].port == Origin::kMaps);
  CHECK(graph.nodes[1].inputs[0].port == Origin::kFrame);
  graph = load(text);
  bind_source(graph, frames);
  CHECK(graph.nodes[0].inputs[0].port == Origin::kFrame);
}

TEST_CASE("what needs frames is left out of a graph whose stream has maps alone, with all that lives on it") {
  const std::string text =
      kHead +
      "stages: [{type: marching_squares}, {type: overlay, from: {contours: contour_assembly}}, "
      "{type: preprocess, from: overlay}, {type: contour_assembly, from: marching_squares}]\n";
  StreamFormat maps;
  maps.maps = ImageFormat{8, 8, 2, ElementType::F32, Layout::Planar, {}};
  GraphSpec graph = load(text +
                         "sinks: [{type: video_file, path: a.webm, from: preprocess}, "
                         "{type: jsonl, path: a.jsonl, from: contour_assembly}]\n");
  CHECK(bind_source(graph, maps) ==
        "the source has class maps and no frames: left out node 'overlay', node 'preprocess', sink "
        "'video_file'");
  REQUIRE(graph.nodes.size() == 1);
  CHECK(graph.nodes[0].name == "contour_assembly");
  REQUIRE(graph.sinks.size() == 1);
  CHECK(graph.sinks[0].name == "jsonl");
  CHECK(graph.sinks[0].input == Origin{0, 0});
  // Nothing would be left to write.
  graph = load(text + "sinks: [{type: video_file, path: a.webm, from: preprocess}]\n");
  CHECK_THROWS_WITH_AS(
      bind_source(graph, maps),
      doctest::Contains(
          "delivers class maps and no frames, but node 'overlay': input 'frame' takes source.frame"),
      Error);
}

TEST_CASE("every golden graph is refused with exactly its report") {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kGraphs)) {
    if (entry.path().extension() != ".expected") continue;
    std::filesystem::path yaml = entry.path();
    yaml.replace_extension(".yaml");
    CAPTURE(yaml);
    std::string text;
    try {
      load_graph_text(content(yaml.string()), yaml.filename().string(), fake_catalog());
    } catch (const ConfigErrors& errors) {
      text = errors.what();
    }
    CHECK(text + "\n" == content(entry.path().string()));
    ++seen;
  }
  CHECK(seen >= 12);
}

TEST_CASE("a graph file that is missing, a folder, a FIFO or a device is a missing input and never blocks") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("contorno_fifo_{}", ::getpid());
  std::filesystem::create_directory(folder);
  const std::string fifo = (folder / "fifo").string();
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const std::string here = std::filesystem::current_path().string();
  for (const std::string& path :
       {fifo, folder.string(), std::string("/dev/zero"), (folder / "none.yaml").string()}) {
    CAPTURE(path);
    try {
      load_graph(path, fake_catalog());
      FAIL("was accepted");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::MissingInput);
      CHECK(contains(error.what(), path));
      CHECK(contains(error.what(), here));
    }
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("floods of brackets, levels, values and bytes are refused at once") {
  const auto refused_fast = [](const std::string& text, const std::string& part) {
    std::string message;
    CHECK(seconds([&] { message = report(text); }) < 1.0);
    CHECK_MESSAGE(contains(message, part), message.substr(0, 300));
    CHECK(message.size() < 100000);
  };
  refused_fast(std::string(1000000, '['), "nested deeper than 32");
  refused_fast(std::string(1000000, '{'), "nested deeper than 32");
  refused_fast(repeat("- ", 3000) + "a", "nested deeper than 32");
  refused_fast(repeat("? ", 3000) + "a", "nested deeper than 32");
  std::string levels;
  for (int i = 0; i < 1000; ++i) levels += std::string(i, ' ') + "a:\n";
  refused_fast(levels, "nested deeper than 32");
  refused_fast("stages:\n" + repeat("- {type: a}\n", 85000), "more than 20000 values");
  refused_fast("stages:\n" + repeat("- type: b\n", 100000), "more than 20000 values");
  refused_fast(kHead + "stages:\n" + repeat("- type: classify\n", 2000), "allowed at most 1000");
  refused_fast(std::string(2000000, 'a'), "larger than 1024 KiB");
  refused_fast(fmt::format("a: \"{}", std::string(1000000, 'x')), "quote is not closed");
}

TEST_CASE("aliases, anchors, tags and second documents are refused where they stand") {
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 10; ++i)
    bomb += fmt::format("a{}: &a{} [{}x]\n", i, i, repeat(fmt::format("*a{}, ", i - 1), 9));
  CHECK(seconds([&] { CHECK(contains(report(bomb), "aliases are not allowed")); }) < 0.1);
  CHECK(contains(report("a: &a [*a]"), "graph.yaml:1:8: error: aliases are not allowed"));
  CHECK(contains(report("a: &a [*a]"), "graph.yaml:1:4: error: anchors are not allowed"));
  CHECK(contains(report("a:\n  b: *nothing\n"), "graph.yaml:2:6: error: aliases are not allowed"));
  CHECK(contains(report("a: !!python/object:os.system x"), "graph.yaml:1:4: error: tags are not allowed"));
  CHECK(contains(report("a: !x [1]\nb: !y {c: 1}\n"), "graph.yaml:2:4: error: tags are not allowed"));
  CHECK(contains(report("a: 1\n---\nb: 2\n"), "graph.yaml:2:1: error: a second document"));
}

TEST_CASE("bytes that are no UTF-8 text are refused with their offset") {
  CHECK(contains(report("a: \xff\n"), "graph.yaml:1:4: error: byte 3: byte 0xff is not valid UTF-8"));
  CHECK(contains(report("a: 1\r\nb: \xc0\xaf\r\n"), "graph.yaml:2:4: error: byte 9: byte 0xc0"));
  CHECK(contains(report("a: \xed\xa0\x80"), "byte 3"));
  CHECK(contains(report(std::string("a: b\0c", 6)), "byte 4: control character 0x00"));
  CHECK(contains(report(std::string("\xff\xfe"
                                    "a\0",
                                    4)),
                 "UTF-16"));
  CHECK(contains(report(std::string("a\0:\0 \0", 6)), "UTF-16"));
  CHECK(contains(report(std::string("a\0:\0", 4)), "UTF-16"));
  for (const std::string& few : {std::string("a\0b", 3), std::string("\0a\0", 3), std::string("a\0", 2)})
    CHECK(contains(report(few), "control character 0x00"));
  CHECK(contains(report("a: \x1b[31m"), "control character 0x1b"));
}

TEST_CASE("a video, picture or array in the place of a graph is called that, whatever its size") {
  const auto text = [](const char* bytes, std::size_t size) { return std::string(bytes, size); };
  const std::string starts[] = {text("\0\0\0\x20"
                                     "ftypisom",
                                     12),                                          // MP4
                                text("\x1A\x45\xDF\xA3\x01\0\0\0\0\0\0\x1F", 12),  // Matroska
                                text("\xFF\xD8\xFF\xE0\0\x10JFIF\0\1\1", 13),      // JPEG
                                text("\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR", 16),       // PNG
                                text("\x93NUMPY\x01\0v\0{'descr'", 18),            // NPY
                                text("RIFF\x24\0\0\0AVI LIST\x10\0\0\0", 20)};     // AVI
  for (const std::string& start : starts)
    for (const std::size_t rest : {std::size_t{0}, std::size_t{1} << 20}) {
      const std::string said = report(start + std::string(rest, '\xA7'));
      CAPTURE(said);
      CHECK(contains(said, "no graph, but a video, a picture, an array"));
      CHECK(contains(said, "contorno run graph.yaml --input -"));
      CHECK_FALSE(contains(said, "UTF-16"));
      CHECK_FALSE(contains(said, "larger than"));
    }
}

TEST_CASE("a byte-order mark and CRLF line ends change nothing") {
  std::string text = "\xEF\xBB\xBF";
  for (const char c : content(kGraphs + "good.yaml"))
    text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  CHECK(load(text).nodes.size() == 4);
  CHECK(contains(report("\xEF\xBB\xBF"
                        "a: 1\r\nb: 2\r\n"),
                 "graph.yaml:2:1: error: unknown section 'b'"));
}

TEST_CASE("columns count characters, not bytes") {
  CHECK(contains(report("{ä: 1, öö: 2, zz: 3}"), "graph.yaml:1:15: error: unknown section 'zz'"));
}

TEST_CASE("numbers are plain decimals and everything else says the accepted form") {
  for (const char* good : {"0", "1", "50", "1.5", "+2", "2e1", "2.5E-3", ".5", "1.", "-0"})
    CHECK(value_report("sigma", good) == "");
  const std::pair<const char*, const char*> bad[] = {{"010", "without leading zeros: 10"},
                                                     {"0x10", "numbers are decimal: 16"},
                                                     {".nan", "write a finite decimal"},
                                                     {".inf", "write a finite decimal"},
                                                     {"inf", "write a finite decimal"},
                                                     {"yes", "allowed 0 to 50 px"},
                                                     {"1e400", "allowed 0 to 50 px"},
                                                     {"1_0", "write 10"},
                                                     {"0,5", "write 0.5"},
                                                     {"5px", "without its unit: 5"},
                                                     {"\"5\"", "without quotes: 5"},
                                                     {"[5]", "is a list, allowed 0 to 50 px"},
                                                     {"", "has no value"},
                                                     {"50.0001", "allowed 0 to 50 px"},
                                                     {"-0.1", "is -0.1, allowed 0 to 50 px"},
                                                     {"1 2", "is '1 2'"},
                                                     {"0o17", "is '0o17'"},
                                                     {"1e", "is '1e'"},
                                                     {"1:30", "is '1:30'"}};
  for (const auto& [text, part] : bad) {
    CAPTURE(text);
    CHECK_MESSAGE(contains(value_report("sigma", text), part), value_report("sigma", text));
  }
}

TEST_CASE("whole numbers, flags, choices, colours and lists are read strictly") {
  CHECK(value_report("rounds", "7") == "");
  CHECK(contains(value_report("rounds", "7.5"), "rounds is 7.5, allowed a whole number, 1 to 100"));
  CHECK(contains(value_report("rounds", "101"), "rounds is 101"));
  CHECK(contains(value_report("rounds", "99999999999999999999"), "rounds is 99999999999999999999"));
  CHECK(value_report("grey", "true") == "");
  CHECK(contains(value_report("grey", "yes"), "grey is 'yes', allowed true or false"));
  CHECK(contains(value_report("grey", "yes"), "fix: write true"));
  CHECK(contains(value_report("grey", "True"), "fix: write true"));
  CHECK(contains(value_report("grey", "\"true\""), "is the text \"true\""));
  CHECK(contains(value_report("edge", "wrapp"),
                 "edge is 'wrapp' (did you mean 'wrap'?), allowed one of clamp, wrap"));
  CHECK(value_report("background", "\"#102030\"") == "");
  CHECK(contains(value_report("background", "#102030"), "quote the colour, or # begins a comment"));
  CHECK(contains(value_report("background", "102030"), "fix: write \"#102030\""));
  CHECK(contains(value_report("background", "red"), "background is 'red'"));
  CHECK(contains(value_report("resize", "[640]"),
                 "resize is a list of 1, allowed a list of 2 numbers, each 1 to 65536 px"));
  CHECK(
      contains(value_report("resize", "[640, 0]"), "graph.yaml:5:19: error: node 'preprocess': resize is 0"));
  CHECK(contains(value_report("resize", "640"), "resize is 640, allowed a list of 2 numbers"));
}

TEST_CASE("text is never a number in disguise, and never expanded") {
  CHECK(value_report("note", "7") == "");
  CHECK(value_report("note", "plain words") == "");
  for (const char* odd : {"010", "1.50", "true", "no", ".nan", "1e3"}) {
    CAPTURE(odd);
    CHECK(contains(value_report("note", odd), "fix: quote it"));
    CHECK(value_report("note", fmt::format("\"{}\"", odd)) == "");
  }
  CHECK(contains(value_report("note", "~"), "has no value"));
  const GraphSpec graph = load(kHead + "stages:\n  - {type: preprocess, note: '${HOME}/%n%s'}\n");
  CHECK(graph.nodes[0].params.as<test::ResizeParams>().note == "${HOME}/%n%s");
}

TEST_CASE("numbers are read the same under a locale with a decimal comma") {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  const char* set = std::setlocale(LC_ALL, "de_DE.UTF-8");
  if (set == nullptr) MESSAGE("de_DE.UTF-8 is not installed here");
  CHECK(load(kHead + "stages:\n  - {type: preprocess, sigma: 2.5}\n")
            .nodes[0]
            .params.as<test::ResizeParams>()
            .sigma == 2.5);
  CHECK(contains(value_report("sigma", "2,5"), "write 2.5"));
  CHECK(contains(value_report("sigma", "50.5"), "sigma is 50.5"));
  std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("overrides go through the same checks as the file") {
  const std::string text = content(kGraphs + "good.yaml");
  const GraphSpec graph =
      load(text, {.overrides = {"small.sigma=3.5", "small.resize=[320, 180]", "pipeline.slots=2",
                                "class rot.level=0.25", "class rot.colour=#010203", "jsonl.path=b=c.jsonl",
                                "source.location=010.mp4", "small.note=true"},
                  .backend = Backend::Cuda});
  const auto& small = graph.nodes[0].params.as<test::ResizeParams>();
  CHECK(small.sigma == 3.5);
  CHECK(small.resize == std::vector<double>{320, 180});
  CHECK(small.note == "true");
  CHECK(graph.settings.slots == 2);
  CHECK(graph.settings.backend == Backend::Cuda);
  CHECK(graph.classes[0].level == 0.25);
  CHECK(graph.classes[0].colour == Colour{1, 2, 3, 255});
  CHECK(graph.sinks[0].params.as<test::FileParams>().path == "b=c.jsonl");
  CHECK(graph.source.params.as<test::FileParams>().path == "010.mp4");
  CHECK(report(text, {.overrides = {"small.sigma=99"}}) ==
        "--set small.sigma: error: node 'small': sigma is 99, allowed 0 to 50 px");
  CHECK(contains(report(text, {.overrides = {"small.sigmo=9"}}),
                 "unknown key 'sigmo' (did you mean 'sigma'?)"));
  CHECK(
      contains(report(text, {.overrides = {"smal.sigma=9"}}), "unknown node 'smal' (did you mean 'small'?)"));
  CHECK(contains(report(text, {.overrides = {"class rott.level=9"}}),
                 "unknown class 'rott' (did you mean 'rot'?)"));
  CHECK(contains(report(text, {.overrides = {"small.type=classify"}}), "'type' cannot be set"));
  for (const char* bad : {"", "=", "a=b", ".=1", "small.=1", "small.sigma"})
    CHECK(contains(report(text, {.overrides = {bad}}), "is no setting"));
}

TEST_CASE("the input option sets what the source type calls its input") {
  const GraphSpec graph =
      load("source: {type: video}\nsinks: [{type: video_file, path: o.mkv}]\n", {.input = "other.mp4"});
  CHECK(graph.source.params.as<test::FileParams>().path == "other.mp4");
  CHECK(graph.sinks[0].input == Origin{Origin::kSource, Origin::kFrameOrMaps});
}

TEST_CASE("what is allowed but odd is a warning") {
  const GraphSpec graph = load(
      "source: {type: video, location: a}\nclasses: [{name: a, level: 1.5}]\nstages: [{type: classify}]\n");
  CHECK(graph_warnings(graph) ==
        std::vector<std::string>{
            "node 'classify': nobody reads its output 'maps'",
            "class 'a': level 1.5 lies outside 0..1, where probability maps have no contour",
            "the graph has no sink: results are only counted"});
  CHECK(graph_warnings(load_graph(kGraphs + "good.yaml", fake_catalog())).empty());
}

TEST_CASE("no mutation of a good graph does anything but load or be refused with places") {
  const std::string good = content(kGraphs + "good.yaml");
  const std::string pieces[] = {
      "[", "]", "{",   "}",    ":",        ": ",     "- ",          "\n",     "  ",    "\t", "\"",
      "'", "#", "&a ", "*a",   "!t ",      "---\n",  "...\n",       "|\n",    ">\n",   "? ", "%",
      "@", "`", "~",   "\xff", "\xc3\xa4", "from: ", "name: small", "source", "1e999", ","};
  std::mt19937 random(20261121);
  int loaded = 0, refused = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string text = good;
    for (unsigned edits = 1 + random() % 4; edits > 0 && !text.empty(); --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 5) {
        case 0:
          text.erase(at, 1 + random() % 12);
          break;
        case 1:
          text.insert(at, pieces[random() % std::size(pieces)]);
          break;
        case 2:
          text[at] = static_cast<char>(random() % 256);
          break;
        case 3:
          text.insert(at, text.substr(random() % text.size(), random() % 60));
          break;
        case 4:
          text.resize(at);
          break;
      }
    }
    try {
      load(text);
      ++loaded;
    } catch (const ConfigErrors& errors) {
      CHECK(std::string(errors.what()).starts_with("graph.yaml:"));
      ++refused;
    }
  }
  CHECK(loaded > 100);
  CHECK(refused > 1000);
}
