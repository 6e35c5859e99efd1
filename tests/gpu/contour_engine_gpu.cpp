// On a device: the CUDA contour engine against the naive reference. Its times are measured by `contorno bench
// engine`, those of many levels here.
//   contour_engine_gpu check [cases] [plain]
//   contour_engine_gpu levels [side [rounds]]
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/memory.h"
#include "cuda/device.h"
#include "cuda/stream.h"
#include "stages/contours/cuda/engine.h"
#include "tests/gpu/contour_cases.h"
#include "tests/gpu/many_levels.h"

using namespace contorno;

namespace {

bool plain = false;  ///< without programmatic dependent launches, as on devices that have none

/// The arrays of contours with points of either type, each followed by guard bytes.
struct OutputBlock {
  static constexpr std::size_t kGuard = 256;
  std::size_t counts, class_begin, offsets, closed, points, bytes;
  OutputBlock(const ContourEngineSpec& spec) {
    std::size_t at = 0;
    const auto take = [&](std::size_t size) {
      const std::size_t start = at;
      at = align_up(at + size + kGuard);
      return start;
    };
    counts = take(sizeof(ContourCounts));
    class_begin = take((spec.planes() + 1) * 4);
    offsets = take((spec.contour_capacity + 1) * 4);
    closed = take(spec.contour_capacity);
    points = take(spec.point_capacity * (spec.points == ContourEngineSpec::Points::Float32 ? 8 : 16));
    bytes = at;
  }
  template <class View, class P>
  View view(std::byte* base) const {
    View v{};
    v.counts = reinterpret_cast<ContourCounts*>(base + counts);
    v.class_begin = reinterpret_cast<std::uint32_t*>(base + class_begin);
    v.offsets = reinterpret_cast<std::uint32_t*>(base + offsets);
    v.closed = reinterpret_cast<std::uint8_t*>(base + closed);
    v.points = reinterpret_cast<P*>(base + points);
    return v;
  }
};

/// How a case goes to the device.
struct Way {
  int small_tiles;  ///< 0: as a large map, -1: by its size
  bool scan;        ///< numbers contours by a scan, however few they are
  int bands;        ///< about so many while it is uploaded from page-locked memory; 0: it is there
  const char* name;
};
constexpr Way kWays[] = {{-1, false, 0, ""},
                         {0, false, 0, " (as a large map)"},
                         {0, true, 0, " (as a large map, by a scan)"},
                         {-1, false, 5, " (in a few bands)"},
                         {0, false, 30, " (in bands, as a large map)"}};

/// Memory that grows as needed.
struct Arena {
  Block device, pinned;
  static std::byte* at_least(Block& block, std::size_t bytes, MemoryKind kind) {
    if (block.size() < bytes) block = Block(), block = Block(bytes + bytes / 2, kind);
    return block.data();
  }
};

void enqueue(const CudaContourEngine& engine, const ImageView& map, const MaskView& mask, void* workspace,
             const OutputBlock& block, std::byte* out, const Stream& stream) {
  if (engine.spec().points == ContourEngineSpec::Points::Float32)
    engine.enqueue(map, mask, workspace, block.view<ContoursView, contorno::Point>(out), stream.get());
  else
    engine.enqueue(map, mask, workspace, block.view<ContoursView64, Point64>(out), stream.get());
}

/// Runs one case `frames` times in a row on the device and reads the last result. `arena` grows as needed.
testing::Result run_device(const testing::Case& c, const Stream& stream, int frames, const Way& way,
                           Arena& arena, std::string& problem) {
  CudaContourEngine engine;
  ContourEngineSpec spec = c.spec;
  if (plain) spec.launches = ContourEngineSpec::Launches::Plain;
  if (way.small_tiles >= 0) spec.small_tiles = way.small_tiles;
  if (way.scan) spec.few_contours = 0;
  const std::size_t workspace_bytes = engine.plan(spec);
  const OutputBlock block(c.spec);
  const std::size_t map_bytes = align_up(c.samples.size());
  const std::size_t mask_bytes = align_up(c.mask.size() + 1);
  std::byte* const map = Arena::at_least(arena.device, map_bytes + mask_bytes + workspace_bytes + block.bytes,
                                         MemoryKind::Device);
  std::byte* const mask = map + map_bytes;
  std::byte* const workspace = mask + mask_bytes;
  std::byte* const out = workspace + workspace_bytes;
  std::byte* const pinned_map = Arena::at_least(arena.pinned, map_bytes + block.bytes, MemoryKind::Pinned);
  std::byte* const pinned_out = pinned_map + map_bytes;
  fill_async(workspace, 0xBD, workspace_bytes, stream.get());
  fill_async(out, 0x5C, block.bytes, stream.get());
  if (!c.mask.empty()) copy_async(mask, c.mask.data(), c.mask.size(), stream.get());
  engine.prepare(workspace, stream.get());
  const ImageView view{map, c.spec.map, c.row_pitch, c.plane_pitch};
  const MaskView mask_view{c.mask.empty() ? nullptr : reinterpret_cast<std::uint8_t*>(mask),
                           c.spec.map.width};
  std::memcpy(pinned_map, c.samples.data(), c.samples.size());
  std::memset(pinned_out, 0x5C, block.bytes);
  if (way.bands == 0) {
    copy_async(map, pinned_map, c.samples.size(), stream.get());
    for (int frame = 0; frame < frames; ++frame)
      enqueue(engine, view, mask_view, workspace, block, out, stream);
    copy_async(pinned_out, out, block.bytes, stream.get());
  } else {
    ImageView host_view = view;
    host_view.data = pinned_map;
    BandedUpload upload(upload_bands(c.spec.map, c.samples.size() / static_cast<std::size_t>(way.bands)));
    for (int frame = 0; frame < frames; ++frame) {
      fill_async(map, 0x3D, c.samples.size(), stream.get());
      upload.begin(host_view, view, stream.get());
      const auto host = block.view<ContoursView, contorno::Point>(pinned_out);
      engine.enqueue(view, &upload, mask_view, workspace, block.view<ContoursView, contorno::Point>(out),
                     &host, stream.get());
    }
  }
  stream.synchronize();
  const auto* const host = reinterpret_cast<const unsigned char*>(pinned_out);
  testing::Result result;
  ContourCounts counts;
  std::memcpy(&counts, &host[block.counts], sizeof(counts));
  result.points = counts.points;
  result.contours = counts.contours;
  const auto guard = [&](std::size_t end, const char* what) {
    for (std::size_t i = end; i < end + OutputBlock::kGuard; ++i)
      if (host[i] != 0x5C) problem = std::string("wrote past the end of ") + what;
  };
  const std::size_t point_size = c.spec.points == ContourEngineSpec::Points::Float32 ? 8 : 16;
  guard(block.offsets + (c.spec.contour_capacity + 1) * 4, "offsets");
  guard(block.closed + c.spec.contour_capacity, "closed");
  guard(block.points + c.spec.point_capacity * point_size, "points");
  if (counts.points > c.spec.point_capacity || counts.contours > c.spec.contour_capacity) return result;
  for (std::size_t i = 0; i < counts.points; ++i) {
    if (point_size == 8) {
      contorno::Point p;
      std::memcpy(&p, &host[block.points + i * 8], 8);
      result.at.emplace_back(p.row, p.col);
    } else {
      Point64 p;
      std::memcpy(&p, &host[block.points + i * 16], 16);
      result.at.emplace_back(p.row, p.col);
    }
  }
  const auto* offsets = reinterpret_cast<const std::uint32_t*>(&host[block.offsets]);
  result.offsets.assign(offsets, offsets + counts.contours + 1);
  result.closed.assign(&host[block.closed], &host[block.closed] + counts.contours);
  const auto* begin = reinterpret_cast<const std::uint32_t*>(&host[block.class_begin]);
  result.class_begin.assign(begin, begin + c.spec.planes() + 1);
  return result;
}

/// Several levels as the classes of a graph: where classes begin, and the level of each contour. Says what is
/// wrong.
std::string check_classes(const testing::Case& c, const testing::Result& want, const Stream& stream,
                          Arena& arena) {
  ContourEngineSpec spec = c.spec;
  spec.points = ContourEngineSpec::Points::Float32;
  CudaContourEngine engine;
  const std::size_t map_bytes = align_up(c.samples.size()), workspace_bytes = align_up(engine.plan(spec)),
                    begin_bytes = align_up((spec.planes() + 1) * 4);
  const ContoursFormat format{.classes = spec.map.channels,
                              .point_capacity = spec.point_capacity,
                              .contour_capacity = spec.contour_capacity,
                              .placement = {},
                              .attributes = Attributes(Attribute::Level)};
  std::byte* const map = Arena::at_least(
      arena.device, map_bytes + workspace_bytes + begin_bytes + packed_bytes(format), MemoryKind::Device);
  std::byte *const workspace = map + map_bytes, *const begin = workspace + workspace_bytes,
                   *const out = begin + begin_bytes;
  std::byte* const pinned =
      Arena::at_least(arena.pinned, map_bytes + packed_bytes(format), MemoryKind::Pinned);
  std::memcpy(pinned, c.samples.data(), c.samples.size());
  copy_async(map, pinned, c.samples.size(), stream.get());
  fill_async(workspace, 0xBD, static_cast<std::size_t>(out + packed_bytes(format) - workspace), stream.get());
  engine.prepare(workspace, stream.get());
  engine.enqueue_classes({map, c.spec.map, c.row_pitch, c.plane_pitch}, workspace,
                         reinterpret_cast<std::uint32_t*>(begin), packed_view(out, format), stream.get());
  copy_async(pinned + map_bytes, out, packed_bytes(format), stream.get());
  stream.synchronize();
  const ContoursView got = packed_view(pinned + map_bytes, format);
  if (!c.mask.empty()) return {};  // classes take no mask
  std::size_t plane = 0;
  for (std::size_t k = 0; k <= spec.channel_levels.size(); ++k) {
    if (got.class_begin[k] != want.class_begin[plane]) return "class " + std::to_string(k) + " begins wrong";
    if (k == spec.channel_levels.size()) break;
    for (int i = 0; i < spec.channel_levels[k]; ++i, ++plane)
      for (std::uint32_t contour = want.class_begin[plane]; contour < want.class_begin[plane + 1]; ++contour)
        if (!testing::same_bits(got.column(Attribute::Level)[contour], spec.levels[plane]))
          return "contour " + std::to_string(contour) + " has another level";
  }
  return {};
}

testing::Case large_case(int kind, int width, int height, ElementType type, double level, double scale) {
  std::mt19937_64 random(static_cast<std::uint64_t>(kind * 7919 + width));
  testing::Case c;
  c.spec.map = {.width = width, .height = height, .channels = 1, .type = type, .layout = Layout::Planar};
  c.spec.levels = {level};
  const auto cells = static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  c.spec.point_capacity = 4 * cells + 16;
  c.spec.contour_capacity = cells + 16;
  testing::allocate(c, random);
  const std::vector<double> v = testing::make_plane(kind, width, height, 0.0, random);
  std::size_t i = 0;
  for (int row = 0; row < height; ++row)
    for (int col = 0; col < width; ++col, ++i)
      testing::write_sample(type, c.samples.data() + testing::sample_offset(c, 0, row, col),
                            level + scale * v[i]);
  c.name = "kind " + std::to_string(kind) + " " + describe(c.spec.map);
  return c;
}

int check(int count) {
  std::vector<testing::Case> cases;
  for (int i = 0; i < count; ++i)
    cases.push_back(testing::make_case(1000000 + static_cast<std::uint64_t>(i), i % 4 == 0 ? 140 : 12));
  for (int i = 0; i < count / 3; ++i)
    cases.push_back(testing::make_level_case(2000000 + static_cast<std::uint64_t>(i), i % 4 == 0 ? 140 : 30));
  // Few cases are for the sanitizers, which are slow.
  for (int kind = 0; count >= 100 && kind < testing::kPlaneKinds; ++kind) {
    cases.push_back(large_case(kind, 700, 650, ElementType::F32, 0.5, 1));
    cases.push_back(large_case(kind, 8192, 3, ElementType::F64, 0.1, 1));
    cases.push_back(large_case(kind, 2, 8192, ElementType::U8, 128, 20));
    cases.push_back(large_case(kind, 300, 500, ElementType::U8, 128, 20));
  }
  // More pieces than all blocks together scatter at a time.
  if (count >= 100) cases.push_back(large_case(10, 2048, 2048, ElementType::F32, 0.5, 1));
  std::vector<testing::Result> want(cases.size());
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t)
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < cases.size(); i = next++)
        want[i] = testing::reference_result(cases[i]);
    });
  for (std::thread& thread : threads) thread.join();
  const Stream stream = Stream::create();
  Arena arena;
  int failures = 0;
  std::uint64_t contours = 0;
  for (std::size_t i = 0; i < cases.size() && failures < 12; ++i) {
    std::string problem;
    for (const Way& way : kWays) {
      if (!problem.empty()) break;
      if (way.bands != 0 && (cases[i].spec.points != ContourEngineSpec::Points::Float32 ||
                             !cases[i].spec.channel_levels.empty()))
        continue;
      const testing::Result got = run_device(cases[i], stream, i % 3 == 0 ? 3 : 1, way, arena, problem);
      if (problem.empty()) problem = testing::difference(got, want[i]);
      if (problem.empty() && i % 5 == 0 && want[i].contours > 1) {
        testing::Case tight = cases[i];
        tight.spec.contour_capacity = want[i].contours - 1;
        if (run_device(tight, stream, 2, way, arena, problem).contours < want[i].contours)
          problem = "contours not counted";
        tight.spec.contour_capacity = want[i].contours;
        tight.spec.point_capacity = want[i].points / 2;
        if (run_device(tight, stream, 2, way, arena, problem).points <= tight.spec.point_capacity)
          problem = "points not counted";
      }
      if (!problem.empty()) problem += way.name;
    }
    if (problem.empty() && !cases[i].spec.channel_levels.empty())
      problem = check_classes(cases[i], want[i], stream, arena);
    contours += want[i].contours;
    if (!problem.empty()) {
      std::printf("FAILED %s: %s\n", cases[i].name.c_str(), problem.c_str());
      ++failures;
    }
  }
  std::printf("%zu cases, %llu contours, %d failures\n", cases.size(),
              static_cast<unsigned long long>(contours), failures);
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "check";
  plain = argc > 3 && std::string(argv[3]) == "plain";
  const int cases = argc > 2 ? std::atoi(argv[2]) : 3000;
  if (what != "check" && what != "levels") {
    std::puts("usage: contour_engine_gpu check [cases] [plain] | levels [side [rounds]]");
    return 2;
  }
  if (!device_report().available) {
    std::printf("no device: %s\n", device_report().reason.c_str());
    return 69;
  }
  if (what == "levels") {
    const int side = argc > 2 ? std::atoi(argv[2]) : 4096, rounds = argc > 3 ? std::atoi(argv[3]) : 21;
    using testing::LevelsMap;
    bool same = testing::find_many_levels(LevelsMap::Gradient, side, 1000, rounds);
    same = testing::find_many_levels(LevelsMap::Terrain, side, 50, rounds) && same;
    same = testing::find_many_levels(LevelsMap::Hills, side, 50, rounds) && same;
    same = testing::find_many_levels(LevelsMap::Hills, side / 8, 3, rounds, 8) && same;
    return same ? 0 : 1;
  }
  return check(cases) == 0 ? 0 : 1;
}
