// What the sink of mipmap levels refuses, and how its parts join; tests/stages/mipmap/oracle_test.py reads
// its files with other programs.
#include "plugins/files/levels/writer.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/file_content.h"
#include "tests/stages/mipmap/reference.h"
#include "tests/temporary_folder.h"

using namespace contorno;
using namespace contorno::test;

namespace {

std::unique_ptr<Sink> sink_to(const std::string& path, int first = 0) {
  ParamSet params(mipmaps_sink().params);
  params.set("path", path);
  params.set("first", std::int64_t{first});
  return mipmaps_sink().make(params);
}

ExitCode refusal(const std::string& path, const ImageFormat& format, const std::filesystem::path& root,
                 int first = 0) {
  try {
    SinkContext context;
    context.format = format;
    context.output_root = root.string();
    sink_to(path, first)->open(context);
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::Ok;
}

}  // namespace

TEST_CASE("files of levels do not depend on the number of threads") {
  const TestImage in = random_image<std::uint8_t>(700, 900, 3, 20, 5);
  const Mipmaps all = mipmaps(in.view, {.stop = 100}, 1);
  for (const int compression : {0, 1, 6}) {
    const std::string tiff = encode_tiff(all.levels, {.compression = compression, .threads = 1});
    const std::string png = encode_png(in.view, {.compression = compression, .threads = 1});
    for (const int threads : {2, 3}) {
      CHECK(encode_tiff(all.levels, {.compression = compression, .threads = threads}) == tiff);
      CHECK(encode_png(in.view, {.compression = compression, .threads = threads}) == png);
    }
  }
}

TEST_CASE("the sink of levels writes one file, or one a level, from the level that is asked for") {
  const TemporaryFolder folder;
  const TestImage in = random_image<std::uint8_t>(80, 70, 4, 21);
  StageHarness stage(mipmap_stage(), {{"stop", std::int64_t{16}}});
  stage.run({in.view});
  const auto write = [&](const std::string& path, int first) {
    const auto sink = sink_to(path, first);
    SinkContext context;
    context.format = stage.image().format;
    context.output_root = folder.path().string();
    sink->open(context);
    sink->write({.number = 7}, stage.image());
    sink->finish();
    return sink->summary();
  };
  CHECK(write("all/{frame:03}.tif", 0).ends_with("all/007.tif"));
  CHECK(content(folder.path() / "all/007.tif").starts_with("II*"));
  CHECK(write("each/{frame}_{level}.png", 1).starts_with("3 files"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "each/7_0.png"));
  for (int level = 1; level <= 3; ++level)
    CHECK(content(folder.path() / ("each/7_" + std::to_string(level) + ".png")).substr(1, 3) == "PNG");
}

TEST_CASE("the sink of levels refuses before the first frame") {
  const TemporaryFolder folder;
  const ImageFormat image{.width = 80, .height = 70, .channels = 3};
  const ImageFormat atlas = atlas_format(image, {.width = 80, .height = 70, .levels = 3});
  CHECK(refusal("a.tif", atlas, folder.path()) == ExitCode::Ok);
  CHECK(refusal("a.tif", image, folder.path()) == ExitCode::Ok);
  CHECK(refusal("{level}.png", atlas, folder.path()) == ExitCode::Ok);
  CHECK(refusal("a.png", image, folder.path()) == ExitCode::Ok);
  CHECK(refusal("a.png", atlas, folder.path()) == ExitCode::BadConfig);
  CHECK(refusal("a.jpg", atlas, folder.path()) == ExitCode::BadConfig);
  CHECK(refusal("../a.tif", atlas, folder.path()) == ExitCode::BadConfig);
  CHECK(refusal("a.tif", atlas, folder.path(), 3) == ExitCode::BadConfig);
  CHECK(refusal("a.tif", atlas, folder.path(), 2) == ExitCode::Ok);
}
