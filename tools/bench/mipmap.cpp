// The contorno side of tools/bench/mipmap: reads commands from standard input, one a line, and answers each
// with a line, so that it can be timed in turns with other programs.
//   load FILE HEIGHT WIDTH CHANNELS THREADS   uint8, interleaved
//   run plain|light|alpha|lanczos3 TIMES      seconds of each chain down to 32 px, memory kept
// With the argument `device` it needs no input: chains of 8192x4096 RGBA on the device, beside copies.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/memory.h"
#include "cuda/device.h"
#include "pipeline/graph/planned.h"
#include "stages/mipmap/chain.h"
#include "stages/mipmap/stage.h"
#include "tools/bench/commands.h"
#include "tools/bench/conditions.h"
#if CONTORNO_HAVE_CUDA
#include "stages/mipmap/cuda.h"
#endif

namespace contorno {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

MipmapOptions options_called(const std::string& name) {
  return {.filter = name == "lanczos3" ? MipmapFilter::Lanczos3 : MipmapFilter::Box,
          .linear_light = name == "light",
          .premultiplied = name == "alpha"};
}

class Bench {
 public:
  Bench(const std::string& file, const ImageFormat& format, int threads)
      : threads_(threads), memory_(packed_bytes(format), MemoryKind::Host) {
    image_ = packed_view(memory_.data(), format);
    std::ifstream in(file, std::ios::binary);
    for (int row = 0; row < format.height; ++row)
      in.read(image_.row<char>(row), static_cast<std::streamsize>(format.row_bytes()));
    if (!in) throw std::runtime_error("cannot read " + file);
  }

  /// Seconds of each of `times` chains; a first one is not counted.
  std::vector<double> run(const std::string& name, int times) {
    const MipmapChain chain(image_.format, options_called(name));
    if (levels_.size() < chain.bytes()) levels_ = Block(chain.bytes(), MemoryKind::Host);
    const Block scratch(chain.scratch_bytes(threads_) + 1, MemoryKind::Host);
    std::vector<ImageView> views;
    for (int level = 1; level < chain.levels(); ++level)
      views.push_back(chain.level_in(levels_.data(), level));
    std::vector<double> seconds;
    for (int time = 0; time <= times; ++time) {
      const auto start = Clock::now();
      chain.build(image_, views, scratch.data(), threads_, best_simd());
      if (time > 0) seconds.push_back(seconds_since(start));
    }
    return seconds;
  }

 private:
  int threads_;
  Block memory_, levels_;
  ImageView image_;
};

int answer() {
  std::unique_ptr<Bench> bench;
  return answer_commands("bench_mipmap", [&](const std::string& command, std::istringstream& words) {
    std::string name;
    words >> name;
    if (command == "load") {
      ImageFormat format;
      int threads = 1;
      words >> format.height >> format.width >> format.channels >> threads;
      bench = std::make_unique<Bench>(name, format, threads);
      std::cout << name_of(best_simd());
    } else if (command == "run" && bench != nullptr) {
      int times = 1;
      words >> times;
      for (const double seconds : bench->run(name, times)) std::cout << seconds << ' ';
    } else {
      return false;
    }
    return true;
  });
}

#if CONTORNO_HAVE_CUDA

template <class F>
double median_us(int times, const F& f) {
  std::vector<double> all;
  for (int time = 0; time < times + 3; ++time) {
    const double us = f();
    if (time >= 3) all.push_back(us);
  }
  std::nth_element(all.begin(), all.begin() + times / 2, all.end());
  return all[static_cast<std::size_t>(times) / 2];
}

/// Device time of what `enqueue` puts into a captured graph.
template <class F>
double device_us(const Stream& stream, const F& enqueue) {
  CapturedGraph::begin_capture(stream);
  enqueue();
  const CapturedGraph graph = CapturedGraph::end_capture(stream);
  const Event begin = Event::create(), end = Event::create();
  return median_us(50, [&] {
    begin.record(stream.get());
    graph.launch(stream);
    end.record(stream.get());
    end.synchronize();
    return Event::elapsed_us(begin, end);
  });
}

/// The time of a frame with the stage in a graph, from page-locked memory to page-locked memory.
double frame_us(const ImageView& image, std::int64_t level, std::size_t last_band) {
  ParamSet params(mipmap_stage().params);
  params.set("level", level);
  GraphSpec graph;
  graph.nodes.push_back(
      {.name = "mipmap", .type = &mipmap_stage(), .params = params, .inputs = {{Origin::kSource, 0}}});
  Capacities capacities(1);
  PlannedGraph planned({.graph = &graph,
                        .backend = Backend::Cuda,
                        .probe_every = kNoFrame,
                        .capacities = &capacities,
                        .exports = {{0, 0}},
                        .last_band = last_band});
  planned.plan({{image.format}, "bench"});
  const ImageView& input = std::get<ImageView>(planned.source_value(0));
  std::memcpy(input.data, image.data, packed_bytes(image.format));
  return median_us(20, [&] {
    const auto start = Clock::now();
    planned.launch(), planned.wait();
    return 1e6 * seconds_since(start);
  });
}

int bench_device() {
  const ImageFormat format{.width = 8192, .height = 4096, .channels = 4};
  const Block host(packed_bytes(format), MemoryKind::Pinned),
      device(packed_bytes(format), MemoryKind::Device);
  const Block copy(packed_bytes(format), MemoryKind::Device);
  const ImageView image = packed_view(host.data(), format), on_device = packed_view(device.data(), format);
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < host.size() / 8; ++i)
    reinterpret_cast<std::uint64_t*>(host.data())[i] = random();
  const Stream stream = Stream::create();
  const MipmapChain plain(format, {});
  const Block back(plain.bytes(), MemoryKind::Pinned), levels(plain.bytes(), MemoryKind::Device);
  const auto timed_copy = [&](void* to, const void* from, std::size_t bytes) {
    return device_us(stream, [&] { copy_async(to, from, bytes, stream.get()); });
  };
  const double up = timed_copy(device.data(), host.data(), host.size());
  const double down = timed_copy(back.data(), levels.data(), back.size());
  const double across = timed_copy(copy.data(), device.data(), host.size());
  std::cout << "upload " << up << " us, download of all levels " << down << " us, copy on the device "
            << across << " us (the chain's traffic at that speed: " << across * 2 / 3 << " us)\n";
  for (const std::string name : {"plain", "light", "alpha", "lanczos3"}) {
    const MipmapChain chain(format, options_called(name));
    const MipmapChainCuda cuda(chain);
    std::vector<ImageView> views;
    for (int level = 1; level < chain.levels(); ++level)
      views.push_back(chain.level_in(levels.data(), level));
    std::cout << name << " on the device: "
              << device_us(stream, [&] { cuda.build(on_device, views, nullptr, stream.get()); }) << " us\n";
  }
  for (const int width : {8190, 8191}) {
    ImageFormat odd = format;
    odd.width = width, odd.height = 4095;
    const MipmapChain chain(odd, {});
    const MipmapChainCuda cuda(chain);
    std::vector<ImageView> views;
    for (int level = 1; level < chain.levels(); ++level)
      views.push_back(chain.level_in(levels.data(), level));
    const ImageView view = packed_view(device.data(), odd);
    std::cout << width << "x4095 on the device: "
              << device_us(stream, [&] { cuda.build(view, views, nullptr, stream.get()); }) << " us\n";
  }
  for (const int bands : {1, 4, 8, 16, 32, 64}) {
    MipmapUpload upload(plain, bands);
    const double us = median_us(20, [&] {
      const auto start = Clock::now();
      upload.build(image, back.data());
      return 1e6 * seconds_since(start);
    });
    std::cout << "from and to pinned memory in " << upload.bands() << " bands: " << us << " us, "
              << us / std::max(up, down) << " of the larger copy\n";
  }
  for (const std::int64_t level : {-1, 3})
    for (const bool in_bands : {false, true}) {
      const double us = frame_us(image, level, in_bands ? kLastBandBytes : host.size());
      std::cout << "a frame through a graph, "
                << (level < 0 ? "all levels" : "level " + std::to_string(level) + " alone") << ", "
                << (in_bands ? "in bands: " : "as a whole: ") << us << " us\n";
    }
  return 0;
}

#endif

}  // namespace
}  // namespace contorno

int main(int argc, [[maybe_unused]] char** argv) try {
  if (argc == 1) return contorno::answer();
#if CONTORNO_HAVE_CUDA
  if (std::string(argv[1]) == "device" && contorno::device_report().available) {
    std::cout << contorno::conditions_line() << '\n';
    return contorno::bench_device();
  }
#endif
  std::cerr << "usage: bench_mipmap [device]: commands on standard input, or a benchmark of the device\n";
  return 2;
} catch (const std::exception& error) {
  std::cerr << "bench_mipmap: " << error.what() << '\n';
  return 1;
}
