// The first step of a tile: its samples become bits. Each sample of the map is read once here (65 x 33 a
// tile), with all loads of a thread in flight together; everything later works on bits and reads again only
// the samples of crossed edges.
#pragma once

#include "stages/contour_engine_nodes.cuh"

namespace contorno::contour_engine {

inline constexpr int kBitsThreads = 256;

/// Where a tile lies.
struct TilePlace {
  int tile, plane, row0, col0, rows, columns;  ///< rows and columns of cells
};

template <class P>
__device__ __forceinline__ TilePlace place_of_tile(const Job<P>& job, int tile) {
  const int tiles = job.tiles_x * job.tiles_y;
  TilePlace place;
  place.tile = tile;
  place.plane = tile / tiles;
  const int in_plane = tile % tiles;
  place.row0 = in_plane / job.tiles_x * kTileRows;
  place.col0 = in_plane % job.tiles_x * kTileColumns;
  place.rows = min(kTileRows, job.cell_rows - place.row0);
  place.columns = min(kTileColumns, job.cell_columns - place.col0);
  return place;
}

/// The tile of a block. Interleaved classes lie side by side: their tiles run together, so that lines are
/// fetched once.
template <class P>
__device__ __forceinline__ TilePlace place_of_block(const Job<P>& job, int block) {
  const bool interleaved = job.map.plane_pitch < job.map.row_pitch;
  return place_of_tile(job, interleaved ? block % job.planes * (job.tiles_x * job.tiles_y) + block / job.planes
                                        : block);
}

/// The cells of a tile, a word a row.
struct TileBits {
  unsigned long long high[kTileRows + 1];  ///< samples above the level, columns 0..63
  unsigned long long crossed[kTileRows], saddle[kTileRows];
  unsigned high_last[kTileRows + 1];  ///< column 64
  unsigned unusual;                   ///< links must be found from exact points
};

struct BitsShared {
  unsigned long long valid[kTileRows + 1];
  unsigned valid_last[kTileRows + 1];
};

/// The samples of a tile that one thread looks at: rows warp, warp + 8, ...; columns lane, lane + 32, and 64.
template <class T>
struct TileSamples {
  static constexpr int kWarps = kBitsThreads / 32;
  static constexpr int kSteps = (kTileRows + kWarps) / kWarps;
  typename Sample<T>::Value value[kSteps][3];
  unsigned used;  ///< bit part + 3 * step: not masked

  /// Only asks for them: the loads of a thread are in flight together.
  template <class P>
  __device__ __forceinline__ void load(const Job<P>& job, const TilePlace& place) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const unsigned char* const first =
        job.map.data + place.plane * job.map.plane_pitch + (place.row0 + warp) * job.map.row_pitch;
    used = ~0U;
#pragma unroll
    for (int part = 0; part < 3; ++part) {
      const int col = min(place.col0 + part * 32 + (part < 2 ? lane : 0), job.map.width - 1);
      const unsigned char* const column = first + col * job.map.sample_pitch;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        const int row = warp + step * kWarps;
        if (row > place.rows) break;
        value[step][part] = Sample<T>::read(column + step * kWarps * job.map.row_pitch);
        if (job.map.mask != nullptr && is_masked(job.map, place.row0 + row, col))
          used &= ~(1U << (part + 3 * step));
      }
    }
  }
};

/// Fills bits.high and s.valid. Whether any sample of the tile is not finite, masked, or so close to the level
/// that a crossing could fall exactly on it. Ends with a barrier.
template <class T, class P>
__device__ __forceinline__ bool make_bits(const Job<P>& job, const TilePlace& place, const TileSamples<T>& samples,
                                          TileBits& bits, BitsShared& s) {
  using Value = typename Sample<T>::Value;
  const double level = job.level[place.plane % job.levels];
  const Value threshold = threshold_of(level, Value{});
  // A crossing can only fall on a sample if |level - a| < 2^-36 |b - a| (rows and columns are below 2^16).
  // With all |samples| below 2^16 m that needs |level - a| < 2^-19 m.
  const Value centre = static_cast<Value>(level);
  const Value magnitude = fmax(fabs(centre), Value{1});
  const Value near = magnitude * static_cast<Value>(0x1p-18);
  const Value large = magnitude * static_cast<Value>(0x1p15);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  bool unusual = samples.used != ~0U;
#pragma unroll
  for (int step = 0; step < TileSamples<T>::kSteps; ++step) {
    const int row = warp + step * TileSamples<T>::kWarps;
    if (row > place.rows) break;
    unsigned high[3];
    unsigned valid[3];
#pragma unroll
    for (int part = 0; part < 3; ++part) {
      const Value v = samples.value[step][part];
      high[part] = __ballot_sync(~0U, v > threshold);
      unusual |= !(fabs(v - centre) > near && fabs(v) < large);
      valid[part] = __ballot_sync(~0U, v == v && (samples.used >> (part + 3 * step) & 1) != 0);
    }
    if (lane == 0) {
      bits.high[row] = high[0] | static_cast<unsigned long long>(high[1]) << 32;
      bits.high_last[row] = high[2] & 1;
      s.valid[row] = valid[0] | static_cast<unsigned long long>(valid[1]) << 32;
      s.valid_last[row] = valid[2] & 1;
    }
  }
  return __syncthreads_or(unusual ? 1 : 0) != 0;
}

/// Crossed cells and saddles of row `threadIdx.x`, by the first warp; the segments of the whole tile.
__device__ __forceinline__ unsigned find_crossed_row(const TilePlace& place, TileBits& bits, const BitsShared& s) {
  const int row = static_cast<int>(threadIdx.x);
  unsigned long long crossed = 0;
  unsigned long long saddle = 0;
  if (row < place.rows) {
    const auto right = [](unsigned long long word, unsigned last) {
      return word >> 1 | static_cast<unsigned long long>(last) << 63;
    };
    const unsigned long long ul = bits.high[row];
    const unsigned long long ur = right(ul, bits.high_last[row]);
    const unsigned long long ll = bits.high[row + 1];
    const unsigned long long lr = right(ll, bits.high_last[row + 1]);
    const unsigned long long valid = s.valid[row] & right(s.valid[row], s.valid_last[row]) & s.valid[row + 1] &
                                     right(s.valid[row + 1], s.valid_last[row + 1]);
    crossed = ((ul | ur | ll | lr) & ~(ul & ur & ll & lr)) & valid & (~0ULL >> (64 - place.columns));
    saddle = (ul ^ ur) & (ll ^ lr) & (ul ^ ll) & crossed;
  }
  bits.crossed[row] = crossed;
  bits.saddle[row] = saddle;
  unsigned sum = static_cast<unsigned>(__popcll(crossed) + __popcll(saddle));
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0U, sum, step);
  return sum;
}

/// find_crossed: for large maps the reading is a kernel of its own, which leaves the bits of the tiles that
/// are crossed at all. Blocks go from tile to tile, the samples of the next one in flight while the bits of this
/// one are made. 4 bytes a sample read, 0.9 KiB a crossed tile written.
struct FindShared {
  TileBits bits;
  BitsShared valid;
  unsigned place;
};
inline constexpr int kFindBlocks = 4;  ///< on a multiprocessor at the same time

template <class T, class P>
__global__ void __launch_bounds__(kBitsThreads, kFindBlocks) find_crossed(const __grid_constant__ Job<P> job) {
  FindShared& s = block_shared<FindShared>();
  const int tiles = job.tiles();
  const int step = static_cast<int>(gridDim.x);
  TilePlace place = place_of_block(job, static_cast<int>(blockIdx.x));
  TileSamples<T> samples;
  samples.load(job, place);
  for (int at = static_cast<int>(blockIdx.x); at < tiles; at += step) {
    const TilePlace now = place;
    const bool unusual = make_bits(job, now, samples, s.bits, s.valid);
    if (at + step < tiles) {
      place = place_of_block(job, at + step);
      samples.load(job, place);
    }
    if (threadIdx.x < 32) {
      const unsigned segments = find_crossed_row(now, s.bits, s.valid);
      if (threadIdx.x == 0) {
        s.bits.unusual = unusual ? 1 : 0;
        s.place = segments == 0 ? kNone : atomicAdd(&job.work.counters->crossed_tiles, 1U);
        if (segments == 0)
          job.work.tile_pieces[now.tile] = {0, 0};
        else
          job.work.crossed_tiles[s.place] = static_cast<unsigned>(now.tile);
      }
    }
    __syncthreads();
    constexpr unsigned kWords = sizeof(TileBits) / 8;
    if (s.place != kNone && threadIdx.x < kWords)
      reinterpret_cast<unsigned long long*>(&job.work.tile_bits[s.place])[threadIdx.x] =
          reinterpret_cast<const unsigned long long*>(&s.bits)[threadIdx.x];
    __syncthreads();
  }
}

}  // namespace contorno::contour_engine
