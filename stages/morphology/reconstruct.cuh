// Reconstruction on the device, in one launch. Each warp brings tiles of 32 x 32 pixels to their fixed point
// in registers. A tile whose edge pixels have grown wakes the neighbouring tiles, and the grid works in
// rounds until no tile is awake. The fixed point is unique, so the order in which tiles are worked on does
// not change the result. Internal.
#pragma once

#include "stages/morphology/pixels.cuh"
#include "stages/morphology/sample_kernels.h"

namespace contorno::morphology_cuda {

inline constexpr unsigned kReconstructThreads = 128, kCutThreads = 256;

struct ReconstructJob {
  Pixels result, mask;
  int width = 0, height = 0;
  int step = 1;      ///< samples from pixel to pixel
  int channels = 1;  ///< that are worked on
  bool planar = false;
  bool eight = true;
  int complement = 0;  ///< what samples are xored with (ReconstructValue)
  int tiles_x = 1, tiles_y = 1;
  unsigned* state = nullptr;       ///< kReconstructState words, zero at the start
  unsigned char* awake = nullptr;  ///< two flags a tile, in two arrays, zero at the start

  CONTORNO_HD int tiles() const { return tiles_x * tiles_y * channels; }
};

/// A barrier of the whole grid, whose blocks must all run at the same time.
__device__ inline void meet_grid(unsigned* arrivals) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const unsigned before = atomicAdd(arrivals, 1U);
    const unsigned goal = (before / gridDim.x + 1) * gridDim.x;
    while (load_acquire(arrivals) < goal) spin_pause();
    __threadfence();
  }
  __syncthreads();
}

/// Samples as integers in their order, xored with `complement`: 0 for reconstructions by dilation, ~0 for
/// those by erosion, which reverses the order, so that the kernel always takes maxima.
template <class S>
struct ReconstructValue {
  static constexpr int kLowest = -0x7fffffff - 1;
  static __device__ int load(const S* at, int complement) {
    const S sample = __ldcg(at);
    if constexpr (std::is_same_v<S, float>)
      return OrderedFloat::from(sample) ^ complement;
    else
      return static_cast<int>(sample) ^ complement;
  }
  static __device__ S store(int value, int complement) {
    if constexpr (std::is_same_v<S, float>)
      return OrderedFloat::to(value ^ complement);
    else
      return static_cast<S>(value ^ complement);
  }
};
constexpr int complement_for(ReconstructionMethod method) {
  return method == ReconstructionMethod::Erosion ? ~0 : 0;
}

/// A tile in the registers of a warp: lane x holds column x. All functions are called by whole warps.
template <class S>
class ReconstructTile {
  using Value = ReconstructValue<S>;
  static constexpr unsigned kAll = 0xffffffffU;

 public:
  __device__ ReconstructTile(const ReconstructJob& job, int tile) : job_(job) {
    const int per_channel = job.tiles_x * job.tiles_y;
    channel_ = tile / per_channel;
    tile_x_ = tile % job.tiles_x, tile_y_ = tile % per_channel / job.tiles_x;
    x0_ = tile_x_ * kTileSide, y0_ = tile_y_ * kTileSide;
    lane_ = static_cast<int>(threadIdx.x) % 32;
  }

  __device__ void load() {
    const int x = x0_ + lane_;
#pragma unroll
    for (int y = 0; y < kTileSide; ++y) {
      grown_[y] = at(x, y0_ + y);
      limit_[y] = Value::kLowest;
      if (inside(x, y0_ + y)) limit_[y] = Value::load(sample(job_.mask, x, y0_ + y), job_.complement);
    }
    take_edges();
  }

  /// Grows the tile until a sweep down and a sweep up change nothing. A sweep up is a sweep down of the tile
  /// upside down, so that the code is there once.
  __device__ void settle() {
    for (bool changed = true; __any_sync(kAll, changed ? 1 : 0) != 0;) {
      changed = false;
#pragma unroll 1
      for (int sweep = 0; sweep < 2; ++sweep) {
#pragma unroll
        for (int y = 0; y < kTileSide; ++y) changed |= grow_row(y, y == 0 ? 0 : y - 1);
        turn_over();
      }
    }
  }

  /// Writes the pixels that have grown and wakes the neighbouring tiles that touch them; returns whether it
  /// woke any.
  __device__ bool store(unsigned char* awake) const {
    unsigned rows = 0;
#pragma unroll
    for (int y = 0; y < kTileSide; ++y) {
      if (!inside(x0_ + lane_, y0_ + y)) continue;
      S* to = sample(job_.result, x0_ + lane_, y0_ + y);
      if (Value::load(to, job_.complement) == grown_[y]) continue;
      *to = Value::store(grown_[y], job_.complement);
      rows |= 1U << y;
    }
    const unsigned top = __ballot_sync(kAll, (rows & 1U) != 0), bottom = __ballot_sync(kAll, rows >> 31 != 0);
    const unsigned left = __shfl_sync(kAll, rows, 0), right = __shfl_sync(kAll, rows, 31);
    // Each of the lanes 0 to 8 wakes one neighbour; neighbours are numbered row by row, and lane 4 would be
    // the tile itself.
    const int dx = lane_ % 3 - 1, dy = lane_ / 3 - 1;
    const unsigned sides = dy < 0 ? top : dy > 0 ? bottom : (dx < 0 ? left : right);
    const unsigned touched = dy == 0 || dx == 0 ? sides : dx < 0 ? sides & 1U : sides >> 31;
    const int u = tile_x_ + dx, v = tile_y_ + dy;
    const bool wakes =
        lane_ < 9 && lane_ != 4 && touched != 0 && u >= 0 && v >= 0 && u < job_.tiles_x && v < job_.tiles_y;
    if (wakes) awake[(channel_ * job_.tiles_y + v) * job_.tiles_x + u] = 1;
    return __any_sync(kAll, wakes ? 1 : 0) != 0;
  }

 private:
  __device__ bool inside(int x, int y) const {
    return x >= 0 && y >= 0 && x < job_.width && y < job_.height;
  }
  __device__ S* sample(const Pixels& image, int x, int y) const {
    return image.template line<S>(job_.planar ? channel_ : 0, y) +
           static_cast<std::ptrdiff_t>(x) * job_.step + (job_.planar ? 0 : channel_);
  }
  __device__ int at(int x, int y) const {
    return inside(x, y) ? Value::load(sample(job_.result, x, y), job_.complement) : Value::kLowest;
  }

  /// Turns the tile upside down.
  __device__ void turn_over() {
#pragma unroll
    for (int y = 0; y < kTileSide / 2; ++y) {
      const int grown = grown_[y], limit = limit_[y];
      grown_[y] = grown_[kTileSide - 1 - y], limit_[y] = limit_[kTileSide - 1 - y];
      grown_[kTileSide - 1 - y] = grown, limit_[kTileSide - 1 - y] = limit;
    }
  }

  /// Grows the outermost pixels of the tile by the pixels around it.
  __device__ void take_edges() {
    const int x = x0_ + lane_;
    int above = at(x, y0_ - 1), below = at(x, y0_ + kTileSide);
    if (job_.eight) {
      above = max(above, max(at(x - 1, y0_ - 1), at(x + 1, y0_ - 1)));
      below = max(below, max(at(x - 1, y0_ + kTileSide), at(x + 1, y0_ + kTileSide)));
    }
    grown_[0] = min(max(grown_[0], above), limit_[0]);
    grown_[kTileSide - 1] = min(max(grown_[kTileSide - 1], below), limit_[kTileSide - 1]);
    // Lane y looks to the left and right of row y; then rows ask their lane.
    int left = at(x0_ - 1, y0_ + lane_), right = at(x0_ + kTileSide, y0_ + lane_);
    if (job_.eight) {
      const int left_up = __shfl_up_sync(kAll, left, 1), left_down = __shfl_down_sync(kAll, left, 1);
      const int right_up = __shfl_up_sync(kAll, right, 1), right_down = __shfl_down_sync(kAll, right, 1);
      left = max(left, max(left_up, left_down)), right = max(right, max(right_up, right_down));
    }
#pragma unroll
    for (int y = 0; y < kTileSide; ++y) {
      const int from_left = __shfl_sync(kAll, left, y), from_right = __shfl_sync(kAll, right, y);
      if (lane_ == 0) grown_[y] = max(grown_[y], from_left);
      if (lane_ == 31) grown_[y] = max(grown_[y], from_right);
      grown_[y] = min(grown_[y], limit_[y]);
    }
  }

  /// Grows row y by row `from`, then along itself; returns whether this lane's pixel has grown.
  __device__ bool grow_row(int y, int from) {
    const int before = grown_[y];
    int other = grown_[from];
    if (job_.eight) {
      const int left = __shfl_up_sync(kAll, other, 1), right = __shfl_down_sync(kAll, other, 1);
      other = max(other, max(left, right));
    }
    int value = min(max(before, other), limit_[y]);
    const int left = __shfl_up_sync(kAll, value, 1), right = __shfl_down_sync(kAll, value, 1);
    const bool spreads = value < limit_[y] && (left > value || right > value);
    if (__any_sync(kAll, spreads ? 1 : 0) != 0) value = spread(value, limit_[y]);
    grown_[y] = value;
    return value != before;
  }

  /// Grows pixels along the row, in both directions: a scan of the functions x -> clamp(x, value, limit),
  /// whose compositions are such functions, too.
  __device__ int spread(int value, int limit) const {
    int low = value, high = limit;
#pragma unroll 1
    for (int step = 1; step < 32; step *= 2) {
      const int before_low = __shfl_up_sync(kAll, low, static_cast<unsigned>(step));
      const int before_high = __shfl_up_sync(kAll, high, static_cast<unsigned>(step));
      if (lane_ >= step) {
        const int next = min(max(before_low, low), high);
        high = min(max(before_high, low), high), low = next;
      }
    }
    value = low, high = limit;
#pragma unroll 1
    for (int step = 1; step < 32; step *= 2) {
      const int before_low = __shfl_down_sync(kAll, value, static_cast<unsigned>(step));
      const int before_high = __shfl_down_sync(kAll, high, static_cast<unsigned>(step));
      if (lane_ + step < 32) {
        const int next = min(max(before_low, value), high);
        high = min(max(before_high, value), high), value = next;
      }
    }
    return value;
  }

  const ReconstructJob& job_;
  int channel_, tile_x_, tile_y_, x0_, y0_, lane_;
  int grown_[kTileSide], limit_[kTileSide];
};

/// All blocks must run at the same time (a cooperative launch).
template <class S>
__global__ void __launch_bounds__(kReconstructThreads) reconstruct_tiles(const ReconstructJob job) {
  const int tiles = job.tiles();
  const int warps = static_cast<int>(gridDim.x * kReconstructThreads / 32);
  const int warp = static_cast<int>((blockIdx.x * kReconstructThreads + threadIdx.x) / 32);
  for (unsigned round = 0;; ++round) {
    unsigned char* now = job.awake + (round % 2) * static_cast<unsigned>(tiles);
    unsigned char* next = job.awake + (1 - round % 2) * static_cast<unsigned>(tiles);
    bool woke = false;
    for (int tile = warp; tile < tiles; tile += warps) {
      if (round != 0 && __ldcg(now + tile) == 0) continue;
      __syncwarp();
      if (threadIdx.x % 32 == 0) now[tile] = 0;
      ReconstructTile<S> work(job, tile);
      work.load();
      work.settle();
      woke |= work.store(next);
    }
    if (woke && threadIdx.x % 32 == 0) atomicAdd(job.state + 1 + round % 3, 1U);
    if (blockIdx.x == 0 && threadIdx.x == 0) job.state[1 + (round + 1) % 3] = 0;
    meet_grid(job.state);
    if (load_acquire(job.state + 1 + round % 3) == 0) return;
  }
}

struct CutJob {
  Pixels marker, mask, result;
  int samples = 0, rows = 0, planes = 1;
  bool keeps_alpha = false;
  int complement = 0;  ///< what samples are xored with (ReconstructValue)
};

/// Begins a reconstruction: the minimum of marker and mask (their maximum for erosions), a thread a sample.
/// It is no loop of Thrust for the same reason as pad_image (pixels.cuh).
template <class S>
__global__ void __launch_bounds__(kCutThreads) cut_marker(const CutJob job) {
  using Value = ReconstructValue<S>;
  const long long index = static_cast<long long>(blockIdx.x) * kCutThreads + threadIdx.x;
  const long long area = static_cast<long long>(job.samples) * job.rows;
  if (index >= area * job.planes) return;
  const int plane = static_cast<int>(index / area), x = static_cast<int>(index % area % job.samples),
            y = static_cast<int>(index % area / job.samples);
  const S* mask = job.mask.line<const S>(plane, y) + x;
  const int limit = Value::load(mask, job.complement);
  const int value = min(Value::load(job.marker.line<const S>(plane, y) + x, job.complement), limit);
  job.result.line<S>(plane, y)[x] =
      job.keeps_alpha && x % 4 == 3 ? *mask : Value::store(value, job.complement);
}

}  // namespace contorno::morphology_cuda
