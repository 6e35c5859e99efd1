#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "base/memory.h"
#include "cuda/device.h"
#include "cuda/stream.h"
#include "pipeline/shared/clock.h"
#include "pipeline/shared/loops.h"
#include "stages/contours/cuda/engine.h"
#include "tools/bench/bench.h"
#include "tools/say.h"

namespace contorno {
namespace {

/// A number in [0, 1) for a lattice point.
double lattice(int y, int x, unsigned seed) {
  std::uint64_t h = static_cast<std::uint64_t>(y) * 0x9E3779B97F4A7C15ULL +
                    static_cast<std::uint64_t>(x) * 0xC2B2AE3D27D4EB4FULL + seed;
  h = (h ^ h >> 31) * 0x94D049BB133111EBULL;
  h = (h ^ h >> 29) * 0xBF58476D1CE4E5B9ULL;
  return static_cast<double>(h >> 11) * 0x1p-53;
}

/// Noise on a lattice of `cell` samples, smooth between its points.
double smooth_noise(int y, int x, double cell, unsigned seed) {
  if (cell <= 1) return lattice(y, x, seed);
  const double fy = y / cell, fx = x / cell;
  const int iy = static_cast<int>(fy), ix = static_cast<int>(fx);
  const auto ease = [](double f) { return f * f * (3 - 2 * f); };
  const double wy = ease(fy - iy), wx = ease(fx - ix);
  return (lattice(iy, ix, seed) * (1 - wx) + lattice(iy, ix + 1, seed) * wx) * (1 - wy) +
         (lattice(iy + 1, ix, seed) * (1 - wx) + lattice(iy + 1, ix + 1, seed) * wx) * wy;
}

struct EngineCase {
  const char* name;
  int width, height, planes;
  ElementType type;
  double cell;  ///< samples between the lattice points of the noise
};

constexpr EngineCase kCases[] = {
    {"511x95x8 f32 blobs", 511, 95, 8, ElementType::F32, 40},
    {"511x95x8 f32 busy", 511, 95, 8, ElementType::F32, 16},
    {"511x95x8 u8 busy", 511, 95, 8, ElementType::U8, 16},
    {"511x95x8 f32 dense", 511, 95, 8, ElementType::F32, 4},
    {"1920x1080x4 f32 blobs", 1920, 1080, 4, ElementType::F32, 100},
    {"4096x4096 f32 smooth", 4096, 4096, 1, ElementType::F32, 100},
    {"4096x4096 f32 busy", 4096, 4096, 1, ElementType::F32, 10},
    {"2048x2048 f32 noise", 2048, 2048, 1, ElementType::F32, 1},
};

void fill(const ImageView& map, double cell, unsigned seed) {
  const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  for (int plane = 0; plane < map.format.channels; ++plane)
    for_rows(threads, map.format.height, [&](int y) {
      for (int x = 0; x < map.format.width; ++x) {
        const double value = smooth_noise(y, x, cell, seed + static_cast<unsigned>(plane));
        if (map.format.type == ElementType::U8)
          map.row<std::uint8_t>(y, plane)[x] = static_cast<std::uint8_t>(255 * value);
        else
          map.row<float>(y, plane)[x] = static_cast<float>(value);
      }
    });
}

struct Times {
  double median = 0, p99 = 0;
};

/// `time(i)` in us, many times; the first ones do not count.
template <class F>
Times measure(int runs, const F& time) {
  constexpr int kWarmUp = 20;
  std::vector<double> all;
  for (int i = 0; i < runs + kWarmUp; ++i) {
    const double us = time(i);
    if (i >= kWarmUp) all.push_back(us);
  }
  std::sort(all.begin(), all.end());
  return {all[all.size() / 2], all[std::min(all.size() - 1, all.size() * 99 / 100)]};
}

template <class F>
double host_us(const Stream& stream, const F& enqueue) {
  const std::int64_t start = now_ns();
  enqueue();
  stream.synchronize();
  return static_cast<double>(now_ns() - start) * 1e-3;
}

/// Time between two events around what `enqueue` puts into the stream.
template <class F>
double device_us(const Stream& stream, const Event& start, const Event& stop, const F& enqueue) {
  start.record(stream.get());
  enqueue();
  stop.record(stream.get());
  stream.synchronize();
  return Event::elapsed_us(start, stop);
}

/// What the device's memory takes and gives, in bytes a microsecond.
double memory_rate(const Stream& stream) {
  constexpr std::size_t kBytes = std::size_t{1} << 29;
  const Block from(kBytes, MemoryKind::Device), to(kBytes, MemoryKind::Device);
  const Event start = Event::create(), stop = Event::create();
  const Times copy = measure(20, [&](int) {
    return device_us(stream, start, stop, [&] { copy_async(to.data(), from.data(), kBytes, stream.get()); });
  });
  return 2.0 * static_cast<double>(kBytes) / copy.median;
}

/// One case with everything that it needs on both sides; several inputs, so that caches do not help.
class EngineBench {
 public:
  explicit EngineBench(const EngineCase& one) : case_(one) {
    spec_.map = {.width = one.width,
                 .height = one.height,
                 .channels = one.planes,
                 .type = one.type,
                 .layout = Layout::Planar};
    spec_.levels = {one.type == ElementType::U8 ? 0.5 * 255 : 0.5};
    const auto samples = static_cast<std::uint64_t>(one.width) * static_cast<std::uint64_t>(one.height) *
                         static_cast<std::uint64_t>(one.planes);
    spec_.point_capacity = std::min<std::uint64_t>(2 * samples, 8'000'000);
    spec_.contour_capacity = std::min<std::uint64_t>(samples, 2'000'000);
    map_bytes_ = packed_bytes(spec_.map);
    upload_.emplace(upload_bands(spec_.map));
    workspace_ = Block(engine_.plan(spec_), MemoryKind::Device);
    pinned_ = Block(map_bytes_ * kInputs, MemoryKind::Pinned);
    device_ = Block(map_bytes_ * kInputs, MemoryKind::Device);
    const ContoursFormat format{.width = one.width,
                                .height = one.height,
                                .classes = one.planes,
                                .point_capacity = spec_.point_capacity,
                                .contour_capacity = spec_.contour_capacity};
    out_ = Block(packed_bytes(format), MemoryKind::Device);
    host_ = Block(packed_bytes(format), MemoryKind::Pinned);
    out_view_ = packed_view(out_.data(), format);
    host_view_ = packed_view(host_.data(), format);
    engine_.prepare(workspace_.data(), stream_.get());
    for (std::size_t i = 0; i < kInputs; ++i) capture(i);
    copy_async(device_.data(), pinned_.data(), device_.size(), stream_.get());
    stream_.synchronize();
  }

  void print(double bytes_per_us) {
    constexpr int kRuns = 300;
    const Event start = Event::create(), stop = Event::create();
    const Times kernels = measure(kRuns, [&](int i) {
      return device_us(stream_, start, stop, [&] { kernels_[input(i)].launch(stream_); });
    });
    const Times whole =
        measure(kRuns, [&](int i) { return host_us(stream_, [&] { whole_[input(i)].launch(stream_); }); });
    const Times upload = measure(kRuns / 3, [&](int) {
      return host_us(stream_, [&] { copy_async(device_.data(), pinned_.data(), map_bytes_, stream_.get()); });
    });
    const double read = static_cast<double>(map_bytes_) / bytes_per_us;
    contorno::print(
        "{:<23} {:>9} | {:>7.1f} {:>7.1f} {:>7.1f} {:>6.2f} | {:>8.1f} {:>8.1f} {:>8.1f} {:>6.2f}\n",
        case_.name, host_view_.counts->points - host_view_.counts->contours, kernels.median, kernels.p99,
        read, read / kernels.median, whole.median, whole.p99, upload.median, upload.median / whole.median);
  }

 private:
  static constexpr std::size_t kInputs = 3;
  static std::size_t input(int run) { return static_cast<std::size_t>(run) % kInputs; }

  void capture(std::size_t i) {
    std::byte* const from = pinned_.data() + i * map_bytes_;
    std::byte* const map = device_.data() + i * map_bytes_;
    fill(packed_view(from, spec_.map), case_.cell, static_cast<unsigned>(1000 * i));
    const ImageView view = packed_view(map, spec_.map);
    CapturedGraph::begin_capture(stream_);
    engine_.enqueue(view, {}, workspace_.data(), out_view_, stream_.get());
    kernels_[i] = CapturedGraph::end_capture(stream_);
    CapturedGraph::begin_capture(stream_);
    upload_->begin(packed_view(from, spec_.map), view, stream_.get());
    engine_.enqueue(view, &*upload_, {}, workspace_.data(), out_view_, &host_view_, stream_.get());
    whole_[i] = CapturedGraph::end_capture(stream_);
  }

  EngineCase case_;
  Stream stream_ = Stream::create();
  CudaContourEngine engine_;
  ContourEngineSpec spec_;
  std::optional<BandedUpload> upload_;
  std::size_t map_bytes_ = 0;
  Block workspace_, pinned_, device_, out_, host_;
  ContoursView out_view_, host_view_;
  CapturedGraph kernels_[kInputs], whole_[kInputs];
};

}  // namespace

void bench_engine() {
  const Stream stream = Stream::create();
  const double rate = memory_rate(stream);
  contorno::print("contour engine; device memory {:.2f} TB/s; times in us\n", rate * 1e-6);
  contorno::print("{:<23} {:>9} | {:>31} | {:>33}\n", "", "", "map to contours on the device",
                  "page-locked memory to host memory");
  contorno::print("{:<23} {:>9} | {:>7} {:>7} {:>7} {:>6} | {:>8} {:>8} {:>8} {:>6}\n", "case", "segments",
                  "median", "p99", "read", "share", "median", "p99", "upload", "share");
  for (const EngineCase& one : kCases) EngineBench(one).print(rate);
}

}  // namespace contorno
