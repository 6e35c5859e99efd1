#include "plugins/files/dataset/source.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "plugins/files/arrays/npy.h"
#include "plugins/files/shared/file_names.h"
#include "plugins/shared/playback.h"
#include "tests/file_content.h"
#include "tests/source_folder.h"
#include "tests/temporary_folder.h"

using namespace contorno;
namespace fs = std::filesystem;

namespace {

/// A stand-in for a real decoder: a file "WxH" is an image whose samples count up.
bool fake_decode(const std::string& path, std::uint64_t, Picture& out, std::string& error) {
  std::ifstream file(path);
  char x = 0;
  if (!(file >> out.width >> x >> out.height)) {
    error = "cannot decode '" + path + "'";
    return false;
  }
  out.pixels.resize(static_cast<std::size_t>(out.width) * static_cast<std::size_t>(out.height) * 4);
  std::iota(out.pixels.begin(), out.pixels.end(), std::uint8_t{0});
  return true;
}

void put_map(const fs::path& path, std::vector<std::uint64_t> shape, float first) {
  std::vector<float> samples(
      std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>()));
  std::iota(samples.begin(), samples.end(), first);
  fs::create_directories(path.parent_path());
  write_npy(path, ElementType::F32, shape, samples.data());
}
void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

using Values = std::vector<std::pair<std::string, ParamValue>>;
std::unique_ptr<Source> open(const fs::path& location, const Values& values,
                             FrameDecoder decoder = fake_decode) {
  static std::vector<std::unique_ptr<SourceType>> types;  // parameter sets refer to their declaration
  types.push_back(std::make_unique<SourceType>(dataset_source(std::move(decoder))));
  ParamSet params(types.back()->params);
  params.set("location", location.string());
  for (const auto& [name, value] : values) params.set(name, value);
  return types.back()->make(params);
}

/// Memory for one frame, as the runner has it.
struct Slot {
  std::vector<std::byte> frame_memory, maps_memory;
  FrameInput input;
  explicit Slot(const StreamFormat& format) {
    if (format.frame) {
      frame_memory.resize(packed_bytes(*format.frame));
      input.frame = packed_view(frame_memory.data(), *format.frame);
    }
    maps_memory.resize(packed_bytes(*format.maps));
    input.maps = packed_view(maps_memory.data(), *format.maps);
  }
  float map(int y, int x, int plane = 0) const { return input.maps.row<float>(y, plane)[x]; }
};

std::string error_of(const fs::path& location, const Values& values) {
  try {
    open(location, values);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}
}  // namespace

TEST_CASE("a dataset plays maps in natural order with the frames of the same name or number") {
  const TemporaryFolder folder;
  put_map(folder.path() / "maps/10.npy", {2, 3, 4}, 1000);
  put_map(folder.path() / "maps/2.npy", {2, 3, 4}, 200);
  put_map(folder.path() / "maps/a.npy", {2, 3, 4}, 5);
  put(folder.path() / "frames/0010_left.png", "8x9");
  put(folder.path() / "frames/2.jpg", "8x9");
  put(folder.path() / "frames/a.png", "8x9");
  const auto source = open(folder.path(), {{"layout", std::string("chw")}, {"rate", 25.0}});
  const StreamFormat format = source->format();
  REQUIRE(format.maps);
  REQUIRE(format.frame);
  CHECK(format.maps->channels == 2);
  CHECK(format.maps->width == 4);
  CHECK(format.maps->layout == Layout::Planar);
  CHECK(format.maps->placement == Placement{.scale_x = 2, .scale_y = 3});
  CHECK(format.frame->channels == 4);
  CHECK(format.frame_count == 3);
  CHECK(format.rate_numerator == 25);
  CHECK(format.rate_denominator == 1);
  Slot slot(format);
  const std::vector<std::pair<std::string, float>> expected = {
      {"2.npy", 200}, {"10.npy", 1000}, {"a.npy", 5}};
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(source->read(slot.input) == ReadResult::Frame);
    CHECK(slot.input.info.name == expected[i].first);
    CHECK(slot.input.info.pts_ns == static_cast<std::int64_t>(i) * 40000000);
    CHECK(slot.map(0, 0) == expected[i].second);
    CHECK(slot.map(2, 3, 1) == expected[i].second + 23);
    CHECK(slot.input.frame.row<std::uint8_t>(1)[0] == 32);
  }
  CHECK(source->read(slot.input) == ReadResult::End);
  CHECK(source->read(slot.input) == ReadResult::End);
}

TEST_CASE("a map of another size changes the format, and is delivered after that") {
  const TemporaryFolder folder;
  put_map(folder.path() / "0.npy", {3, 4}, 0);
  put_map(folder.path() / "1.npy", {5, 6}, 50);
  const auto source = open(folder.path(), {});
  Slot slot(source->format());
  CHECK(source->read(slot.input) == ReadResult::Frame);
  REQUIRE(source->read(slot.input) == ReadResult::FormatChanged);
  CHECK(source->format().maps->width == 6);
  Slot larger(source->format());
  CHECK(source->read(larger.input) == ReadResult::Frame);
  CHECK(larger.map(4, 5) == 79);
  CHECK(larger.input.info.pts_ns == 100000000);
  CHECK(source->read(larger.input) == ReadResult::End);
}

TEST_CASE("bad maps and maps without their frame fail with a reason, and the stream goes on") {
  const TemporaryFolder folder;
  put(folder.path() / "maps/0.npy", "no array");
  put_map(folder.path() / "maps/1.npy", {3, 4}, 10);
  put_map(folder.path() / "maps/2.npy", {3, 4}, 20);
  put_map(folder.path() / "maps/3.npy", {3, 4}, 30);
  put_map(folder.path() / "maps/4.npy", {3, 4}, 40);
  put(folder.path() / "frames/1.png", "4x3");
  put(folder.path() / "frames/3.png", "torn");
  put(folder.path() / "frames/4.png", "4x3");
  const auto source = open(folder.path(), {});
  Slot slot(source->format());
  REQUIRE(source->read(slot.input) == ReadResult::Bad);
  CHECK(contains(slot.input.error, "0.npy' is not a readable .npy file"));
  CHECK(slot.input.info.name == "0.npy");
  CHECK(source->read(slot.input) == ReadResult::Frame);
  REQUIRE(source->read(slot.input) == ReadResult::Bad);
  CHECK(contains(slot.input.error, "maps/2.npy' has no frame of the same name or number in '"));
  REQUIRE(source->read(slot.input) == ReadResult::Bad);
  CHECK(contains(slot.input.error, "cannot decode"));
  CHECK(source->read(slot.input) == ReadResult::Frame);
  CHECK(slot.map(0, 0) == 40);
  CHECK(slot.input.info.pts_ns == 400000000);
  CHECK(source->read(slot.input) == ReadResult::End);
  const auto maps_only = open(folder.path(), {{"frames", false}}, nullptr);
  CHECK_FALSE(maps_only->format().frame);
  CHECK_THROWS_AS(open(folder.path(), {}, nullptr), Error);
}

TEST_CASE(
    "a frame without its map fails in its turn, in natural order; other files beside the frames do not") {
  const TemporaryFolder folder;
  for (const char* number : {"2", "10", "11"})
    put_map(folder.path() / "maps" / (std::string(number) + ".npy"), {3, 4}, 0);
  for (const char* name : {"002.png", "3.png", "10.jpg", "11.png", "12.PNG", "times.csv", ".hidden.png"})
    put(folder.path() / "frames" / name, "4x3");
  const auto source = open(folder.path(), {});
  CHECK(source->format().frame_count == 5);
  Slot slot(source->format());
  const std::vector<std::pair<std::string, bool>> expected = {
      {"2.npy", true}, {"3.png", false}, {"10.npy", true}, {"11.npy", true}, {"12.PNG", false}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(source->read(slot.input) == (expected[i].second ? ReadResult::Frame : ReadResult::Bad));
    CHECK(slot.input.info.name == expected[i].first);
    CHECK(slot.input.info.pts_ns == static_cast<std::int64_t>(i) * 100000000);
  }
  CHECK(slot.input.error == "frame '" + (folder.path() / "frames/12.PNG").string() +
                                "' has no map of the same name or number in '" +
                                (folder.path() / "maps").string() + "'");
  CHECK(source->read(slot.input) == ReadResult::End);
  CHECK(open(folder.path(), {{"frames", false}})->format().frame_count == 3);
}

TEST_CASE("the stream opens in the format of the first map with the expected number of classes") {
  const TemporaryFolder folder;
  put_map(folder.path() / "0.npy", {3, 4, 5}, 0);
  put_map(folder.path() / "1.npy", {3, 4, 2}, 0);
  put_map(folder.path() / "2.npy", {3, 4, 2}, 0);
  const auto source = open(folder.path(), {{"layout", std::string("hwc")}});
  CHECK(source->format().maps->channels == 5);
  source->expect_classes(7);  // there is none
  CHECK(source->format().maps->channels == 5);
  source->expect_classes(2);
  CHECK(source->format().maps->channels == 2);
  Slot slot(source->format());
  CHECK(source->read(slot.input) == ReadResult::FormatChanged);  // the first map still comes first
  CHECK(source->format().maps->channels == 5);
  Slot other(source->format());
  CHECK(source->read(other.input) == ReadResult::Frame);
  CHECK(other.input.info.name == "0.npy");
  CHECK(source->read(other.input) == ReadResult::FormatChanged);
  CHECK(source->read(slot.input) == ReadResult::Frame);
  CHECK(source->read(slot.input) == ReadResult::Frame);
  CHECK(source->read(slot.input) == ReadResult::End);
}

TEST_CASE("one file is a dataset, and one with four sides a sequence") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "s.npy";
  put_map(path, {3, 2, 2, 1}, 0);
  const auto source = open(path, {{"layout", std::string("hwc")}, {"repeat", std::int64_t{2}}});
  CHECK(source->format().frame_count == 6);
  CHECK(source->format().maps->layout == Layout::Interleaved);
  Slot slot(source->format());
  for (int i = 0; i < 6; ++i) {
    REQUIRE(source->read(slot.input) == ReadResult::Frame);
    CHECK(slot.map(0, 0) == static_cast<float>(i % 3 * 4));
    CHECK(slot.input.info.pts_ns == i * 100000000ll);
  }
  CHECK(source->read(slot.input) == ReadResult::End);
}

TEST_CASE("maps of float64 are delivered as float32, rounded to the nearest") {
  const TemporaryFolder folder;
  std::vector<double> samples(2 * 5 * 3);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = 1.0 / (3.0 + static_cast<double>(i));
  for (const char* layout : {"chw", "hwc"}) {
    const bool planar = std::string_view(layout) == "chw";
    write_npy(folder.path() / "a.npy", ElementType::F64,
              planar ? std::vector<std::uint64_t>{3, 2, 5} : std::vector<std::uint64_t>{2, 5, 3},
              samples.data());
    const auto source = open(folder.path(), {{"layout", std::string(layout)}});
    CHECK(source->format().maps->type == ElementType::F32);
    Slot slot(source->format());
    REQUIRE(source->read(slot.input) == ReadResult::Frame);
    for (std::size_t y = 0, i = 0; planar ? i < samples.size() : y < 2; ++y)
      for (int x = 0; x < (planar ? 5 : 15); ++x, ++i)
        CHECK(slot.input.maps.row<float>(static_cast<int>(y % 2), static_cast<int>(y / 2))[x] ==
              static_cast<float>(samples[i]));
  }
}

TEST_CASE("a dataset that cannot be played is refused with a sentence") {
  const TemporaryFolder folder;
  CHECK(contains(error_of(folder.path() / "none", {}), "there is no dataset at"));
  CHECK(contains(error_of(folder.path(), {}), "there is no .npy, .npz, .tif, .h5, .mat or .zarr file in"));
  put(folder.path() / "a.npz", "PK");
  CHECK(contains(error_of(folder.path(), {}), "a.npz' is not a readable archive of arrays: "));
  fs::remove(folder.path() / "a.npz");
  put_map(folder.path() / "a.npy", {360, 480, 8}, 0);
  CHECK(contains(error_of(folder.path(), {}), "declare layout: chw or layout: hwc"));
  CHECK(contains(error_of(folder.path(), {{"layout", std::string("chw")}}), "360 classes when read as chw"));
  put_map(folder.path() / "a.npy", {0, 5}, 0);
  CHECK(contains(error_of(folder.path(), {}), "has sides of 5 x 0, allowed are 1 to 65536 px"));
  put_map(folder.path() / "a.npy", {1, 65537}, 0);
  CHECK(contains(error_of(folder.path(), {}), "has sides of 65537 x 1"));
}

TEST_CASE("a live dataset keeps its rate and can be cancelled while it waits") {
  const TemporaryFolder folder;
  put_map(folder.path() / "0.npy", {2, 2}, 0);
  const auto source = open(folder.path(), {{"live", true}, {"loop", true}, {"rate", 50.0}});
  CHECK(source->format().live);
  CHECK(source->format().frame_count == -1);
  Slot slot(source->format());
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) CHECK(source->read(slot.input) == ReadResult::Frame);
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(60));
  const auto slow = open(folder.path(), {{"live", true}, {"loop", true}, {"rate", 0.001}});
  CHECK(slow->read(slot.input) == ReadResult::Frame);
  std::thread stopper([&] { slow->cancel(); });
  CHECK(slow->read(slot.input) == ReadResult::End);
  stopper.join();
  CHECK(slow->read(slot.input) == ReadResult::End);
}

TEST_CASE("start and every choose the frames of a dataset, across its files and in every round") {
  const TemporaryFolder folder;
  put_map(folder.path() / "1.npy", {5, 1, 2, 2}, 100);
  put_map(folder.path() / "0.npy", {1, 2, 2}, 0);
  const auto source = open(folder.path(), {{"layout", std::string("chw")},
                                           {"start", std::int64_t{1}},
                                           {"every", std::int64_t{2}},
                                           {"repeat", std::int64_t{2}},
                                           {"rate", 25.0}});
  CHECK(source->format().rate_numerator * 2 == source->format().rate_denominator * 25);
  Slot slot(source->format());
  // Frame 0 is the first file, 1 to 5 are the second one's.
  const std::vector<float> expected = {100, 108, 116, 100, 108, 116};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    REQUIRE(source->read(slot.input) == ReadResult::Frame);
    CHECK(slot.map(0, 0) == expected[i]);
    CHECK(slot.input.info.pts_ns == static_cast<std::int64_t>(i) * 80'000'000);
  }
  CHECK(source->read(slot.input) == ReadResult::End);
  CHECK(contains(error_of(folder.path(), {{"layout", std::string("chw")}, {"start", std::int64_t{6}}}),
                 "it has no more than the 6 frames that 'start' leaves out"));
}

TEST_CASE("times of frames and their number stop at the greatest, and never go round") {
  StreamFormat slow;
  set_decimal_rate(slow, 0.001);
  Playback{.every = 1'000'000}.set_rate(slow);  // a frame in 31 years
  CHECK(time_of_frame(0, slow) == 0);
  CHECK(time_of_frame(8, slow) == 8'000'000'000'000'000'000);
  CHECK(time_of_frame(9, slow) == kLatestTime);
  for (const std::uint64_t number : {std::uint64_t{18}, std::uint64_t{1} << 40, ~std::uint64_t{0}})
    CHECK(time_of_frame(number, slow) == kLatestTime);
  StreamFormat fast;
  set_decimal_rate(fast, 100'000);
  CHECK(time_of_frame(1'000'000'000'000, fast) == 10'000'000'000'000'000);
  CHECK(time_of_frame(~std::uint64_t{0}, fast) == kLatestTime);
}

TEST_CASE("natural order compares numbers by value") {
  CHECK(natural_less("map2", "map10"));
  CHECK_FALSE(natural_less("map10", "map2"));
  CHECK(natural_less("a", "ab"));
  CHECK(natural_less("01", "1"));
  CHECK_FALSE(natural_less("1", "01"));
  CHECK_FALSE(natural_less("x", "x"));
  CHECK(natural_less("99999999999999999999998", "99999999999999999999999"));
}

TEST_CASE("the recorded CNN maps play with their frames") {
  const char* set = std::getenv("CONTORNO_DATA");
  const fs::path data =
      (set != nullptr ? fs::path(set) : test::source_folder().parent_path() / "shared/data") /
      "cnn-maps/street";
  if (!fs::exists(data)) return;
  const FrameDecoder sized = [](const std::string&, std::uint64_t, Picture& out, std::string&) {
    out = {.width = 480, .height = 360, .pixels = std::vector<std::uint8_t>(480 * 360 * 4)};
    return true;
  };
  const auto source = open(data, {{"layout", std::string("hwc")}}, sized);
  CHECK(source->format().maps->type == ElementType::F16);
  CHECK(source->format().maps->channels == 8);
  CHECK(source->format().maps->placement == Placement{});
  Slot slot(source->format());
  int frames = 0;
  while (source->read(slot.input) == ReadResult::Frame) ++frames;
  CHECK(frames == 5);
}
