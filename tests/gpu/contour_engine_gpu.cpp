// On a device: the CUDA contour engine against the naive reference, then its times. Prints a table last.
//   contour_engine_gpu [check|bench|all|profile] [cases] [plain]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "cuda/device.h"
#include "cuda/memory.h"
#include "cuda/stream.h"
#include "stages/contour_engine_cuda.h"
#include "tests/gpu/contour_cases.h"

using namespace contorno;

namespace {

bool plain = false;  ///< without clusters and overlapping launches (racecheck cannot follow them)

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
    class_begin = take((static_cast<std::size_t>(spec.map.channels) + 1) * 4);
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

void enqueue(const CudaContourEngine& engine, const ImageView& map, const MaskView& mask, void* workspace,
             const OutputBlock& block, std::byte* out, const Stream& stream) {
  if (engine.spec().points == ContourEngineSpec::Points::Float32)
    engine.enqueue(map, mask, workspace, block.view<ContoursView, contorno::Point>(out), stream.get());
  else
    engine.enqueue(map, mask, workspace, block.view<ContoursView64, Point64>(out), stream.get());
}

/// Runs one case `frames` times in a row on the device and reads the last result. `small_tiles` 0: on the way
/// of large maps, -1: by its size. `arena` grows as needed.
testing::Result run_device(const testing::Case& c, const Stream& stream, int frames, int small_tiles,
                           Block& arena, std::string& problem) {
  CudaContourEngine engine;
  ContourEngineSpec spec = c.spec;
  if (plain) spec.launches = ContourEngineSpec::Launches::Plain;
  if (small_tiles >= 0) spec.small_tiles = small_tiles;
  const std::size_t workspace_bytes = engine.plan(spec);
  const OutputBlock block(c.spec);
  const std::size_t map_bytes = align_up(c.samples.size());
  const std::size_t mask_bytes = align_up(c.mask.size() + 1);
  const std::size_t all = map_bytes + mask_bytes + workspace_bytes + block.bytes;
  if (arena.size() < all) arena = Block(), arena = Block(all + all / 2, MemoryKind::Device);
  std::byte* const map = arena.data();
  std::byte* const mask = map + map_bytes;
  std::byte* const workspace = mask + mask_bytes;
  std::byte* const out = workspace + workspace_bytes;
  fill_async(workspace, 0xBD, workspace_bytes, stream.get());
  fill_async(out, 0x5C, block.bytes, stream.get());
  copy_async(map, c.samples.data(), c.samples.size(), stream.get());
  if (!c.mask.empty()) copy_async(mask, c.mask.data(), c.mask.size(), stream.get());
  engine.prepare(workspace, stream.get());
  const ImageView view{map, c.spec.map, c.row_pitch, c.plane_pitch};
  const MaskView mask_view{c.mask.empty() ? nullptr : reinterpret_cast<std::uint8_t*>(mask),
                           c.spec.map.width};
  for (int frame = 0; frame < frames; ++frame)
    enqueue(engine, view, mask_view, workspace, block, out, stream);
  std::vector<unsigned char> host(block.bytes);
  copy_async(host.data(), out, block.bytes, stream.get());
  stream.synchronize();
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
  result.class_begin.assign(begin, begin + c.spec.map.channels + 1);
  return result;
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
  // Few cases are for the sanitizers, which are slow.
  for (int kind = 0; count >= 100 && kind < testing::kPlaneKinds; ++kind) {
    cases.push_back(large_case(kind, 700, 650, ElementType::F32, 0.5, 1));
    cases.push_back(large_case(kind, 8192, 3, ElementType::F64, 0.1, 1));
    cases.push_back(large_case(kind, 2, 8192, ElementType::U8, 128, 20));
    cases.push_back(large_case(kind, 300, 500, ElementType::U8, 128, 20));
  }
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
  Block arena;
  int failures = 0;
  std::uint64_t contours = 0;
  for (std::size_t i = 0; i < cases.size() && failures < 12; ++i) {
    std::string problem;
    for (const int small_tiles : {-1, 0}) {
      if (!problem.empty()) break;
      const testing::Result got =
          run_device(cases[i], stream, i % 3 == 0 ? 3 : 1, small_tiles, arena, problem);
      if (problem.empty()) problem = testing::difference(got, want[i]);
      if (problem.empty() && i % 5 == 0 && want[i].contours > 1) {
        testing::Case tight = cases[i];
        tight.spec.contour_capacity = want[i].contours - 1;
        if (run_device(tight, stream, 2, small_tiles, arena, problem).contours < want[i].contours)
          problem = "contours not counted";
        tight.spec.contour_capacity = want[i].contours;
        tight.spec.point_capacity = want[i].points / 2;
        if (run_device(tight, stream, 2, small_tiles, arena, problem).points <= tight.spec.point_capacity)
          problem = "points not counted";
      }
      if (!problem.empty() && small_tiles == 0) problem += " (as a large map)";
    }
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

// Bench ----------------------------------------------------------------------------------------------------
/// Smooth noise: a random lattice, interpolated with cosine weights; `cell` samples a lattice cell.
void lattice_noise(std::vector<float>& v, int width, int height, double cell, unsigned seed) {
  const auto random = [seed](int y, int x) {
    std::uint64_t h = static_cast<std::uint64_t>(y) * 0x9E3779B97F4A7C15ULL +
                      static_cast<std::uint64_t>(x) * 0xC2B2AE3D27D4EB4FULL + seed;
    h = (h ^ h >> 31) * 0x94D049BB133111EBULL;
    h = (h ^ h >> 29) * 0xBF58476D1CE4E5B9ULL;
    return static_cast<double>(h >> 11) * 0x1p-53;
  };
  v.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  std::vector<std::thread> threads;
  const int workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  for (int t = 0; t < workers; ++t)
    threads.emplace_back([&, t] {
      for (int y = t; y < height; y += workers)
        for (int x = 0; x < width; ++x) {
          double value = random(y, x);
          if (cell > 1) {
            const double fy = y / cell;
            const double fx = x / cell;
            const int iy = static_cast<int>(fy);
            const int ix = static_cast<int>(fx);
            const auto ease = [](double f) { return f * f * (3 - 2 * f); };
            const double wy = ease(fy - iy);
            const double wx = ease(fx - ix);
            value = (random(iy, ix) * (1 - wx) + random(iy, ix + 1) * wx) * (1 - wy) +
                    (random(iy + 1, ix) * (1 - wx) + random(iy + 1, ix + 1) * wx) * wy;
          }
          v[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)] =
              static_cast<float>(value);
        }
    });
  for (std::thread& thread : threads) thread.join();
}

struct BenchCase {
  const char* name;
  int width, height, planes;
  ElementType type;
  double cell, level;
  double target_device, target_host;  ///< us, 0: none
};

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}
double quantile(std::vector<double> v, double q) {
  std::sort(v.begin(), v.end());
  return v[std::min(v.size() - 1, static_cast<std::size_t>(q * static_cast<double>(v.size())))];
}

std::vector<std::string> rows;
bool profile = false;  ///< a few plain launches only, for a profiler

void bench(const BenchCase& b) {
  ContourEngineSpec spec;
  spec.map = {
      .width = b.width, .height = b.height, .channels = b.planes, .type = b.type, .layout = Layout::Planar};
  spec.levels = {b.level};
  const auto cells = static_cast<std::uint64_t>(b.width) * static_cast<std::uint64_t>(b.height) *
                     static_cast<std::uint64_t>(b.planes);
  spec.point_capacity = std::min<std::uint64_t>(2 * cells, 8'000'000);
  spec.contour_capacity = std::min<std::uint64_t>(cells, 2'000'000);
  CudaContourEngine engine;
  Block workspace(engine.plan(spec), MemoryKind::Device);
  const std::size_t map_bytes = packed_bytes(spec.map);
  constexpr int kInputs = 3;
  Block pinned(map_bytes * kInputs, MemoryKind::Pinned);
  Block device(map_bytes * kInputs, MemoryKind::Device);
  std::vector<float> v;
  for (int k = 0; k < kInputs; ++k) {
    const ImageView view = packed_view(pinned.data() + static_cast<std::size_t>(k) * map_bytes, spec.map);
    for (int plane = 0; plane < b.planes; ++plane) {
      lattice_noise(v, b.width, b.height, b.cell, static_cast<unsigned>(1000 * k + plane));
      for (int y = 0; y < b.height; ++y)
        for (int x = 0; x < b.width; ++x) {
          const float value = v[static_cast<std::size_t>(y) * static_cast<std::size_t>(b.width) +
                                static_cast<std::size_t>(x)];
          const bool u8 = b.type == ElementType::U8;
          testing::write_sample(
              b.type, view.row<unsigned char>(y, plane) + static_cast<std::size_t>(x) * element_size(b.type),
              u8 ? 255.0 * value : value);
        }
    }
  }
  const Stream stream = Stream::create();
  ContoursFormat format{.width = b.width,
                        .height = b.height,
                        .classes = b.planes,
                        .point_capacity = spec.point_capacity,
                        .contour_capacity = spec.contour_capacity};
  Block out(packed_bytes(format), MemoryKind::Device);
  Block host(packed_bytes(format), MemoryKind::Pinned);
  const ContoursView out_view = packed_view(out.data(), format);
  const ContoursView host_view = packed_view(host.data(), format);
  engine.prepare(workspace.data(), stream.get());
  copy_async(device.data(), pinned.data(), map_bytes * kInputs, stream.get());
  stream.synchronize();
  std::vector<CapturedGraph> kernels;
  std::vector<CapturedGraph> whole;
  const Event start = Event::create();
  const Event stop = Event::create();
  for (int k = 0; k < kInputs; ++k) {
    std::byte* const map = device.data() + static_cast<std::size_t>(k) * map_bytes;
    CapturedGraph::begin_capture(stream);
    engine.enqueue(packed_view(map, spec.map), {}, workspace.data(), out_view, stream.get());
    kernels.push_back(CapturedGraph::end_capture(stream));
    CapturedGraph::begin_capture(stream);
    copy_async(map, pinned.data() + static_cast<std::size_t>(k) * map_bytes, map_bytes, stream.get());
    engine.enqueue(packed_view(map, spec.map), {}, workspace.data(), out_view, stream.get());
    engine.enqueue_export(out_view, host_view, stream.get());
    whole.push_back(CapturedGraph::end_capture(stream));
  }
  if (profile) {
    for (int k = 0; k < 2; ++k)
      engine.enqueue(packed_view(device.data(), spec.map), {}, workspace.data(), out_view, stream.get());
    engine.enqueue_export(out_view, host_view, stream.get());
    stream.synchronize();
    return;
  }
  const int runs = 300;
  std::vector<double> on_device;
  std::vector<double> on_host;
  std::vector<double> upload;
  for (int i = 0; i < runs; ++i) {
    start.record(stream.get());
    kernels[static_cast<std::size_t>(i % kInputs)].launch(stream);
    stop.record(stream.get());
    stream.synchronize();
    if (i >= 20) on_device.push_back(Event::elapsed_us(start, stop));
  }
  for (int i = 0; i < runs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    whole[static_cast<std::size_t>(i % kInputs)].launch(stream);
    stream.synchronize();
    const auto end = std::chrono::steady_clock::now();
    if (i >= 20) on_host.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
  }
  for (int i = 0; i < runs / 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    copy_async(device.data(), pinned.data(), map_bytes, stream.get());
    stream.synchronize();
    const auto end = std::chrono::steady_clock::now();
    if (i >= 10) upload.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
  }
  char line[300];
  std::snprintf(line, sizeof(line), "%-26s %8llu %7llu | %7.1f %7.1f (%5.0f) | %8.1f %8.1f (%5.0f) up %7.1f",
                b.name,
                static_cast<unsigned long long>(host_view.counts->points - host_view.counts->contours),
                static_cast<unsigned long long>(host_view.counts->contours), median(on_device),
                quantile(on_device, 0.99), b.target_device, median(on_host), quantile(on_host, 0.99),
                b.target_host, median(upload));
  rows.emplace_back(line);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  plain = argc > 3 && std::string(argv[3]) == "plain";
  const int cases = argc > 2 ? std::atoi(argv[2]) : 3000;
  if (!device_report().available) {
    std::printf("no device: %s\n", device_report().reason.c_str());
    return 69;
  }
  int failures = 0;
  profile = what == "profile";
  if (what == "check" || what == "all") failures = check(cases);
  if (what != "check") {
    const auto f32 = ElementType::F32;
    bench({"511x95x8 f32 sparse", 511, 95, 8, f32, 40, 0.5, 25, 70});
    bench({"511x95x8 f32 17k", 511, 95, 8, f32, 16, 0.5, 28, 80});
    bench({"511x95x8 u8 17k", 511, 95, 8, ElementType::U8, 16, 0.5 * 255, 28, 55});
    bench({"511x95x8 f32 88k", 511, 95, 8, f32, 4, 0.5, 0, 0});
    bench({"1920x1080x4 f32 blobs", 1920, 1080, 4, f32, 100, 0.5, 40, 0});
    bench({"4096x4096 f32 smooth", 4096, 4096, 1, f32, 100, 0.5, 60, 0});
    bench({"4096x4096 f32 busy", 4096, 4096, 1, f32, 10, 0.5, 180, 0});
    bench({"2048x2048 f32 noise", 2048, 2048, 1, f32, 1, 0.5, 400, 0});
    std::printf("%-26s %8s %7s | device us: median, p99 (target) | pinned to host: median, p99 (target)\n",
                "case", "segments", "contours");
    for (const std::string& row : rows) std::printf("%s\n", row.c_str());
  }
  return failures == 0 ? 0 : 1;
}
