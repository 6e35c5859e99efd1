#include "plugins/files/shared/output_register.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "pipeline/graph/steps.h"
#include "plugins/files/shared/frame_files.h"
#include "stages/contour_prep/exclude/stage.h"
#include "stages/contour_prep/stage.h"
#include "tests/file_content.h"
#include "tests/temporary_folder.h"

using namespace contorno;
namespace fs = std::filesystem;

namespace {

std::string write_file(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
  return path.string();
}

template <class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::CannotCreate);
    return error.what();
  }
  return "none";
}

SinkContext context_of(const TemporaryFolder& folder, OutputRegister& outputs, const std::string& owner) {
  SinkContext context;
  context.output_root = folder.path().string();
  context.owner = owner;
  context.outputs = &outputs;
  return context;
}

void write_frame(FrameFiles& files, std::uint64_t number, const std::string& name) {
  FrameInfo info;
  info.number = number;
  info.name = name;
  OutputFile file = files.begin(info);
  file.write(std::to_string(number));
  file.complete();
  files.written(file);
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("an input is refused as an output under every name that it has") {
  const TemporaryFolder folder;
  const std::string input = write_file(folder.path() / "in.npy", "input");
  fs::create_hard_link(input, folder.path() / "linked.npy");
  OutputRegister files;
  files.add_input(input, "the array");
  files.add_input(folder.path().string(), "a folder");  // no file
  for (const char* name : {"in.npy", "linked.npy", "../" /* with the folder's own name below */}) {
    fs::path path = folder.path() / name;
    if (!path.has_filename()) path = folder.path() / ".." / folder.path().filename() / "in.npy";
    CAPTURE(path);
    CHECK(refusal([&] { files.open(path, "OUT"); }) ==
          "cannot create '" + path.string() + "': the array is read from it");
  }
  CHECK(content(input) == "input");
  files.open(folder.path() / "out.npy", "OUT").complete();
  CHECK(files.replaced().empty());
}

TEST_CASE("the file of a mask and a text that names a file are inputs") {
  struct Params {
    SharedMask element, other;
    std::string text;
  };
  ParamList<Params> list;
  list.mask("element", &Params::element, "A mask.").mask("other", &Params::other, "No mask.");
  list.text("text", &Params::text, "Any text.");
  const ParamDeclaration declaration = declare(std::move(list));
  const TemporaryFolder folder;
  const std::string scan = write_file(folder.path() / "scan.npz", "mask"),
                    note = write_file(folder.path() / "note.txt", "text");
  ParamSet params(declaration);
  params.set("element", std::make_shared<Mask>(Mask{
                            .width = 1, .height = 1, .values = {1}, .text = scan + ":cross", .file = scan}));
  params.set("text", note);
  OutputRegister files;
  files.add_inputs(params, "the stage 'opening'");
  CHECK(refusal([&] { files.open(scan, "OUT"); }) ==
        "cannot create '" + scan + "': a mask of the stage 'opening' is read from it");
  CHECK(refusal([&] { files.open(note, "OUT"); }) ==
        "cannot create '" + note + "': the stage 'opening' is read from it");
}

TEST_CASE("the masks of the steps of a stage are inputs") {
  const TemporaryFolder folder;
  const std::string first = write_file(folder.path() / "first.npy", "mask"),
                    second = write_file(folder.path() / "second.npy", "mask");
  auto steps = std::make_shared<std::vector<StepSpec>>();
  for (const std::string& file : {first, second}) {
    steps->push_back({.type = &exclude_stage(), .params = ParamSet(exclude_stage().params)});
    steps->back().params.set(
        "mask",
        std::make_shared<Mask>(Mask{.width = 1, .height = 1, .values = {1}, .text = file, .file = file}));
  }
  ParamSet params(contour_prep_stage().params);
  params.set("steps", SharedSteps(std::move(steps)));
  OutputRegister files;
  files.add_inputs(params, "a step");
  for (const std::string& file : {first, second})
    CHECK(refusal([&] { files.open(file, "OUT"); }) ==
          "cannot create '" + file + "': a mask of a step is read from it");
}

TEST_CASE("two outputs of a run do not share a file, and devices are shared") {
  const TemporaryFolder folder;
  OutputRegister files;
  const std::string path = (folder.path() / "a.json").string();
  OutputFile first = files.open(path, "the sink 'coco'");
  CHECK(refusal([&] { files.open(folder.path() / "." / "a.json", "--report"); }) ==
        "cannot create '" + (folder.path() / "." / "a.json").string() +
            "': the sink 'coco' and --report both write it; give one of them another path");
  first.write("first");
  first.complete();
  CHECK(content(path) == "first");
  files.open("/dev/null", "the sink 'coco'");
  files.open("/dev/null", "--report");
}

TEST_CASE("what was there before and is replaced is told in one line") {
  const TemporaryFolder folder;
  const std::string a = write_file(folder.path() / "a", "old"), b = write_file(folder.path() / "b", "old");
  OutputRegister files;
  files.open(a, "a").complete();
  CHECK(files.replaced() == "'" + a + "', which was there before");
  files.open(b, "b").complete();
  files.open(folder.path() / "c", "c").complete();
  CHECK(files.replaced() == "2 files that were there before, the first '" + a + "'");
}

TEST_CASE("frames of one name get files of their own, and other runs' files are replaced") {
  const TemporaryFolder folder;
  write_file(folder.path() / "shot.png", "of an earlier run");
  OutputRegister outputs;
  FrameFiles files{PathPattern("{name}.png")};
  files.open(context_of(folder, outputs, "the sink 'images'"));
  write_frame(files, 0, "shot.jpg");
  write_frame(files, 1, "shot.png");
  write_frame(files, 2, "shot-2.png");
  write_frame(files, 3, "sub/shot.tif");
  files.finish();
  CHECK(names_in(folder.path()) ==
        std::vector<std::string>{"shot-2-2.png", "shot-2.png", "shot-3.png", "shot.png"});
  CHECK(content(folder.path() / "shot.png") == "0");
  CHECK(content(folder.path() / "shot-2.png") == "1");
  CHECK(content(folder.path() / "shot-2-2.png") == "2");
  CHECK(content(folder.path() / "shot-3.png") == "3");
  CHECK(outputs.replaced() == "'" + (folder.path() / "shot.png").string() + "', which was there before");
  CHECK(files.summary("images") == "4 images, the last " + (folder.path() / "shot-3.png").string() +
                                       "; 3 numbered, since frames had the same name");
}

TEST_CASE("runs share the folder of a series, and take away what dead ones left, when they begin") {
  const TemporaryFolder folder;
  write_file(folder.path() / "000004.png.part123-1", "of a killed run");
  write_file(folder.path() / "other.part123-1", "of something else");
  std::vector<std::string> said;
  OutputRegister outputs([&](const std::string&sentence) { said.push_back(sentence); }), others;
  FrameFiles files{PathPattern("{frame:06}.png"), Completion::SharedSeries};
  FrameFiles other{PathPattern("{frame:06}.png"), Completion::SharedSeries};
  files.open(context_of(folder, outputs, "one"));
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("000004.png.part123-1") != std::string::npos);
  FrameInfo info;
  OutputFile begun = files.begin(info);
  begun.write("0");
  other.open(context_of(folder, others, "another"));  // leaves what is being written
  info.number = 1;
  OutputFile at_once = other.begin(info);
  at_once.write("1");
  at_once.complete();
  begun.complete();
  CHECK(content(folder.path() / "000000.png") == "0");
  CHECK(content(folder.path() / "000001.png") == "1");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"000000.png", "000001.png", "other.part123-1"});
}

TEST_CASE("a path without placeholders holds the first frame, and the others are numbered") {
  const TemporaryFolder folder;
  OutputRegister outputs;
  FrameFiles files{PathPattern("a.png")};
  files.open(context_of(folder, outputs, "the sink 'images'"));
  for (std::uint64_t number = 0; number < 3; ++number) write_frame(files, number, "");
  files.finish();
  CHECK(names_in(folder.path()) == std::vector<std::string>{"a-2.png", "a-3.png", "a.png"});
  CHECK(content(folder.path() / "a.png") == "0");
  CHECK(content(folder.path() / "a-3.png") == "2");
}

TEST_CASE("names made of the inputs' names are refused before the first frame") {
  const TemporaryFolder folder;
  const std::string shot = write_file(folder.path() / "shot.png", "input");
  OutputRegister outputs;
  outputs.add_input(shot, "a frame of the source");
  FrameFiles files{PathPattern("{name}.png")};
  CHECK(refusal([&] { files.open(context_of(folder, outputs, "the sink 'images'")); }) ==
        "cannot create '" + shot + "': a frame of the source is read from it");
  // The number of a frame is known only when it is there.
  write_file(folder.path() / "000001.png", "input");
  outputs.add_input(folder.path() / "000001.png", "a frame of the source");
  FrameFiles numbers{PathPattern("{frame:06}.png")};
  numbers.open(context_of(folder, outputs, "the sink 'images'"));
  write_frame(numbers, 0, "");
  CHECK(refusal([&] { write_frame(numbers, 1, ""); }) == "cannot create '" +
                                                             (folder.path() / "000001.png").string() +
                                                             "': a frame of the source is read from it");
  CHECK(content(folder.path() / "000001.png") == "input");
}

TEST_CASE("patterns that meet do not overwrite each other's files") {
  const TemporaryFolder folder;
  OutputRegister outputs;
  FrameFiles same{PathPattern("{frame:06}.png")}, again{PathPattern("{frame:06}.png")};
  FrameFiles names{PathPattern("{name}.png")};
  same.open(context_of(folder, outputs, "the sink 'images'"));
  CHECK(refusal([&] { again.open(context_of(folder, outputs, "the sink 'images-2'")); }) ==
        "cannot create '" + (folder.path() / "{frame:06}.png").string() +
            "': the sink 'images' and the sink 'images-2' both write it; give one of them another path");
  names.open(context_of(folder, outputs, "the sink 'images-2'"));
  write_frame(same, 5, "");
  write_frame(names, 7, "000005.jpg");
  CHECK(content(folder.path() / "000005.png") == "5");
  CHECK(content(folder.path() / "000005-2.png") == "7");
}

TEST_CASE("sinks that open files at the same time do not get each other's") {
  constexpr std::uint64_t kFrames = 100;
  const TemporaryFolder folder;
  for (int shot = 0; shot < 10; ++shot) write_file(folder.path() / ("shot" + std::to_string(shot)), "old");
  OutputRegister outputs;
  FrameFiles names{PathPattern("{name}")}, shots{PathPattern("shot{name}")};
  names.open(context_of(folder, outputs, "the sink 'names'"));
  shots.open(context_of(folder, outputs, "the sink 'shots'"));
  const auto write_all = [](FrameFiles& files, const std::string& prefix) {
    for (std::uint64_t number = 0; number < kFrames; ++number)
      write_frame(files, number, prefix + std::to_string(number % 10));
  };
  std::thread other([&] { write_all(shots, ""); });
  write_all(names, "shot");
  other.join();
  names.finish();
  shots.finish();
  CHECK(names_in(folder.path()).size() == 2 * kFrames);
  CHECK(outputs.replaced().starts_with("10 files that were there before, the first '"));
  // Each file has the frame of one of the two sinks, and every frame has two.
  std::vector<int> seen(kFrames);
  for (const std::string& name : names_in(folder.path())) ++seen[std::stoul(content(folder.path() / name))];
  CHECK(std::all_of(seen.begin(), seen.end(), [](int count) { return count == 2; }));
}

TEST_CASE("two runs do not write one series, and the second finds what a killed one left") {
  const TemporaryFolder folder;
  std::vector<std::string> said;
  OutputRegister first, second([&](const std::string&sentence) { said.push_back(sentence); });
  FrameFiles a{PathPattern("sub/{frame:06}.png")}, b{PathPattern("sub/{frame:06}.png")};
  a.open(context_of(folder, first, "the sink 'images'"));
  CHECK(refusal([&] { b.open(context_of(folder, second, "the sink 'images'")); })
            .starts_with("cannot create '" + (folder.path() / "sub/{frame:06}.png").string() +
                         "': it is being written by another run"));
  a.finish();
  CHECK(names_in(folder.path() / "sub").empty());
  write_file(folder.path() / "sub/000003.png.part77-3", "half");
  write_file(folder.path() / "sub/000003.svg.part77-3", "of something else");
  FrameFiles c{PathPattern("sub/{frame:06}.png")};
  c.open(context_of(folder, second, "the sink 'images'"));
  c.finish();
  CHECK(said == std::vector<std::string>{"removing '" + (folder.path() / "sub/000003.png.part77-3").string() +
                                         "', which a run that was killed had not finished"});
  CHECK(names_in(folder.path() / "sub") == std::vector<std::string>{"000003.svg.part77-3"});
}
