// K. Della Schiava's programs for a device: cudasync and openmpcuda, written anew from algorithm 2 and
// section 3.3.
#include <omp.h>

#include <algorithm>
#include <memory>

#include "tools/bench/sources/della_schiava.h"
#include "tools/bench/sources/device.cuh"

namespace contorno::sources {
namespace {

constexpr int kBands = 4;
constexpr int kSmallest = 512;  // levels with a smaller side are not cut into bands

/// Makes rows [begin, end) of `out`; each thread makes one pixel.
__global__ void generate_mipmap(const uchar4* in, int in_width, int in_height, uchar4* out, int out_width,
                                int begin, int end) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = begin + static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= out_width || y >= end) return;
  float sums[4] = {0, 0, 0, 0};
  for (int row = 0; row < 2; ++row)
    for (int col = 0; col < 2; ++col) {
      const int at_x = min(max(2 * x + col, 0), in_width - 1), at_y = min(max(2 * y + row, 0), in_height - 1);
      const uchar4 pixel = in[static_cast<std::size_t>(at_y) * in_width + at_x];
      sums[0] += 0.25F * pixel.x, sums[1] += 0.25F * pixel.y, sums[2] += 0.25F * pixel.z,
          sums[3] += 0.25F * pixel.w;
    }
  out[static_cast<std::size_t>(y) * out_width + x] =
      make_uchar4(static_cast<unsigned char>(sums[0] + 0.5F), static_cast<unsigned char>(sums[1] + 0.5F),
                  static_cast<unsigned char>(sums[2] + 0.5F), static_cast<unsigned char>(sums[3] + 0.5F));
}

class Streams {
 public:
  explicit Streams(int count) : all_(static_cast<std::size_t>(count)) {
    for (cudaStream_t& one : all_) need(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  }
  ~Streams() {
    for (cudaStream_t one : all_) cudaStreamDestroy(one);
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  cudaStream_t operator[](int i) const { return all_[static_cast<std::size_t>(i)]; }

 private:
  std::vector<cudaStream_t> all_;
};

struct Mark {
  cudaEvent_t event = nullptr;
  Mark() { need(cudaEventCreate(&event)); }
  ~Mark() { cudaEventDestroy(event); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
};

/// Events around each piece of work, where a timeline is asked for.
class Recorder {
 public:
  explicit Recorder(std::vector<Bar>* bars) : bars_(bars) {
    if (bars_ != nullptr) need(cudaEventRecord(zero_.event));
  }
  template <class F>
  void around(int stream, cudaStream_t handle, int level, const char* what, const F& work) {
    if (bars_ == nullptr) return work();
    auto span = std::make_unique<Span>();
    span->bar = {.stream = stream, .level = level, .what = what};
    need(cudaEventRecord(span->begin.event, handle));
    work();
    need(cudaEventRecord(span->end.event, handle));
#pragma omp critical(contorno_sources_recorder)
    spans_.push_back(std::move(span));
  }
  void finish() {
    if (bars_ == nullptr) return;
    need(cudaDeviceSynchronize());
    for (const auto& span : spans_) {
      float begin = 0, end = 0;
      need(cudaEventElapsedTime(&begin, zero_.event, span->begin.event));
      need(cudaEventElapsedTime(&end, zero_.event, span->end.event));
      span->bar.begin_ms = static_cast<double>(begin), span->bar.end_ms = static_cast<double>(end);
      bars_->push_back(span->bar);
    }
  }

 private:
  struct Span {
    Bar bar;
    Mark begin, end;
  };
  std::vector<Bar>* bars_;
  Mark zero_;
  std::vector<std::unique_ptr<Span>> spans_;
};

std::vector<DeviceArray<std::uint8_t>> device_levels(const std::vector<Level>& levels) {
  std::vector<DeviceArray<std::uint8_t>> memory;
  for (const Level& level : levels) memory.emplace_back(level.bytes());
  return memory;
}

void launch(const std::vector<Level>& levels, const std::vector<DeviceArray<std::uint8_t>>& memory,
            std::size_t to, int begin, int end, cudaStream_t stream) {
  const Level &in = levels[to - 1], &out = levels[to];
  const dim3 block(32, 32), grid(blocks_for(static_cast<std::size_t>(out.width), 32),
                                 blocks_for(static_cast<std::size_t>(end - begin), 32));
  if (end <= begin) return;
  generate_mipmap<<<grid, block, 0, stream>>>(reinterpret_cast<const uchar4*>(memory[to - 1].get()), in.width,
                                              in.height, reinterpret_cast<uchar4*>(memory[to].get()),
                                              out.width, begin, end);
  need(cudaGetLastError());
}

/// Copies rows [begin, end) of a level, in either direction.
void copy_rows(const Level& level, std::uint8_t* device, int begin, int end, cudaMemcpyKind kind,
               cudaStream_t stream) {
  const std::size_t row = 4 * static_cast<std::size_t>(level.width),
                    at = row * static_cast<std::size_t>(begin);
  if (end <= begin) return;
  const std::size_t bytes = row * static_cast<std::size_t>(end - begin);
  if (kind == cudaMemcpyHostToDevice)
    need(cudaMemcpyAsync(device + at, level.pixels + at, bytes, kind, stream));
  else
    need(cudaMemcpyAsync(level.pixels + at, device + at, bytes, kind, stream));
}

/// Rows of band `band`; those of a level halve with it.
int band_begin(int height, int band) {
  return static_cast<int>(static_cast<std::int64_t>(height) * band / kBands);
}

}  // namespace

void mipmaps_cuda(const std::vector<Level>& levels, std::vector<Bar>* timeline) {
  const std::vector<DeviceArray<std::uint8_t>> memory = device_levels(levels);
  Recorder recorder(timeline);
  recorder.around(0, nullptr, 0, "HtoD", [&] {
    need(cudaMemcpy(memory[0].get(), levels[0].pixels, levels[0].bytes(), cudaMemcpyHostToDevice));
  });
  for (std::size_t to = 1; to < levels.size(); ++to)
    recorder.around(0, nullptr, static_cast<int>(to), "kernel",
                    [&] { launch(levels, memory, to, 0, levels[to].height, nullptr); });
  for (std::size_t to = 1; to < levels.size(); ++to)
    recorder.around(0, nullptr, static_cast<int>(to), "DtoH", [&] {
      need(cudaMemcpy(levels[to].pixels, memory[to].get(), levels[to].bytes(), cudaMemcpyDeviceToHost));
    });
  recorder.finish();
}

void mipmaps_streams(const std::vector<Level>& levels, std::vector<Bar>* timeline) {
  const std::vector<DeviceArray<std::uint8_t>> memory = device_levels(levels);
  const Streams streams(kBands);
  Recorder recorder(timeline);
  std::size_t banded = 1;  // levels before this one are made in bands
  while (banded < levels.size() && std::min(levels[banded].width, levels[banded].height) >= kSmallest)
    ++banded;
  const std::unique_ptr<Mark[]> made(new Mark[levels.size() * kBands]);
  const auto mark = [&](std::size_t level, int band) {
    return made[level * kBands + static_cast<std::size_t>(band)].event;
  };
#pragma omp parallel for num_threads(kBands) schedule(static, 1)
  for (int band = 0; band < kBands; ++band)
    recorder.around(band, streams[band], 0, "HtoD", [&] {
      copy_rows(levels[0], memory[0].get(), band_begin(levels[0].height, band),
                band_begin(levels[0].height, band + 1), cudaMemcpyHostToDevice, streams[band]);
      need(cudaEventRecord(mark(0, band), streams[band]));
    });
  for (std::size_t to = 1; to < banded; ++to) {
#pragma omp parallel for num_threads(kBands) schedule(static, 1)
    for (int band = 0; band < kBands; ++band) {
      // A level may only be read when all of its bands are there.
      for (int other = 0; other < kBands; ++other)
        need(cudaStreamWaitEvent(streams[band], mark(to - 1, other)));
      const int begin = band_begin(levels[to].height, band), end = band_begin(levels[to].height, band + 1);
      recorder.around(band, streams[band], static_cast<int>(to), "kernel",
                      [&] { launch(levels, memory, to, begin, end, streams[band]); });
      need(cudaEventRecord(mark(to, band), streams[band]));
      recorder.around(band, streams[band], static_cast<int>(to), "DtoH", [&] {
        copy_rows(levels[to], memory[to].get(), begin, end, cudaMemcpyDeviceToHost, streams[band]);
      });
    }
  }
  // Small levels: the first stream makes them, the second one brings them back.
  for (int band = 0; band < kBands; ++band) need(cudaStreamWaitEvent(streams[0], mark(banded - 1, band)));
  for (std::size_t to = banded; to < levels.size(); ++to) {
    recorder.around(0, streams[0], static_cast<int>(to), "kernel",
                    [&] { launch(levels, memory, to, 0, levels[to].height, streams[0]); });
    need(cudaEventRecord(mark(to, 0), streams[0]));
    need(cudaStreamWaitEvent(streams[1], mark(to, 0)));
    recorder.around(1, streams[1], static_cast<int>(to), "DtoH", [&] {
      copy_rows(levels[to], memory[to].get(), 0, levels[to].height, cudaMemcpyDeviceToHost, streams[1]);
    });
  }
  for (int band = 0; band < kBands; ++band) need(cudaStreamSynchronize(streams[band]));
  recorder.finish();
}

}  // namespace contorno::sources
