// The kernel that draws, with a block for each tile. Where insides or labels may lie anywhere it paints every
// tile, and so copies the frame, too; otherwise it paints only the tiles that something reaches.
//
// When the distances of some classes are known, each thread works on its pixels one after the other. This
// keeps code short and registers few, so that many warps run at once: the kernel waits for memory and
// instructions.
#pragma once

#include "cuda/resident.cuh"
#include "stages/overlay/measure.cuh"

namespace contorno::overlay_cuda {

inline constexpr unsigned kPaintBlocks = 3;  ///< that fit on a multiprocessor since 8.0

/// Draws one class on a tile. `squared` and `dots` are the fields of its segments and points; null: none
/// reach the tile.
__device__ inline void paint_class(const Job& job, const Place& place, const Class& a_class,
                                   const unsigned* squared, const unsigned* dots, std::uint32_t* pixels) {
  const OverlayPen pen = a_class.pen;
  const int slot = a_class.slot;
  place.for_pixels([&](int column, int row, unsigned i) {
    const int at = row * kFieldPitch + column;
    const float distance = squared != nullptr ? std::bit_cast<float>(squared[at]) : kUnreached;
    const float dot = dots != nullptr ? std::bit_cast<float>(dots[at]) : kUnreached;
    const bool inside =
        slot >= 0 &&
        (job.inside_row(slot, place.y + row)[place.column] >> static_cast<unsigned>(column) & 1U) != 0;
    if (distance < pen.squared_reach || dot < pen.squared_reach)
      pen(pixels + i, distance, dot, inside);
    else if (inside)
      blend_pixel(pixels + i, pen.line, pen.fill);
  });
}

__device__ inline void paint_round(const Job& job, const Place& place, const Round& round,
                                   PaintShared& shared) {
  const unsigned* squared = shared.fields;
  for (unsigned k = round.from; k < round.to; ++k) {
    const Class& a_class = job.class_table[round.first + k];
    const bool measured = shared.begin[k] != shared.end[k];
    if (!measured && a_class.slot < 0) continue;
    const unsigned* const dots = measured && job.has_markers ? squared + kFields / 2 * kFieldSize : nullptr;
    paint_class(job, place, a_class, measured ? squared : nullptr, dots, shared.pixels);
    if (measured) squared += kFieldSize;
  }
}

/// Loads where the references of at most kPaintThreads classes lie, a class a thread; returns whether this
/// thread's class has some. A barrier must follow.
__device__ inline bool load_bins(const Job& job, unsigned tile, unsigned first, PaintShared& shared) {
  const auto classes = static_cast<unsigned>(job.classes);
  if (first + threadIdx.x >= classes) return false;
  const std::size_t bin = static_cast<std::size_t>(tile) * classes + first + threadIdx.x;
  const unsigned begin = job.bin_begin[bin], end = job.bin_end[bin];
  shared.begin[threadIdx.x] = begin, shared.end[threadIdx.x] = end;
  return begin != end;
}

/// Draws all classes on a tile; `found` is what load_bins returned for the first ones. Called by the whole
/// block.
__device__ inline void paint_classes(const Job& job, unsigned tile, const Place& place, bool found,
                                     PaintShared& shared) {
  const auto all = static_cast<unsigned>(job.classes);
  for (unsigned first = 0; first < all; first += kPaintThreads) {
    if (first > 0) {
      __syncthreads();
      found = load_bins(job, tile, first, shared);
    }
    if (__syncthreads_or(found) == 0 && job.filled == 0) continue;
    const unsigned classes = all - first < kPaintThreads ? all - first : kPaintThreads;
    for (unsigned from = 0; from < classes;) {
      const Round round = round_from(job, shared, first, from, classes);
      measure(job, place, round, shared);
      paint_round(job, place, round, shared);
      from = round.to;
    }
  }
}

__device__ inline void paint_stamp(const Job& job, int x, int y, const PlacedStamp& stamp,
                                   std::uint32_t* pixel) {
  const Picture picture = job.pictures[stamp.stamp];
  const int line = y - stamp.y, column = x - stamp.x;
  if (line < 0 || line >= picture.size.height || column < 0 || column >= picture.size.width) return;
  const Colour colour =
      job.pixels[picture.first + static_cast<std::ptrdiff_t>(line) * picture.size.width + column];
  if (colour.alpha != 0) blend_pixel(pixel, colour, colour.alpha);
}

__device__ inline void paint_label(const Job& job, int x, int y, int label, std::uint32_t* pixel) {
  const PlacedLabel& placed = job.placed[label];
  const int column = x - placed.box.x, line = y - placed.box.y;
  if (line < 0 || line >= placed.box.size.height || column < 0 || column >= placed.box.size.width) return;
  const PlacedStamp* pieces = job.pieces + static_cast<std::ptrdiff_t>(label) * job.label_pieces;
  for (int i = 0; i < placed.pieces; ++i) paint_stamp(job, column, line, pieces[i], pixel);
}

/// Draws the numbers of contours, right-aligned in the legend, on one pixel.
__device__ inline void paint_counts(const Job& job, int x, int y, std::uint32_t* pixel) {
  const auto size_of = [&](int n) { return job.pictures[n].size; };
  const auto put = [&](const PlacedStamp& digit) { paint_stamp(job, x, y, digit, pixel); };
  for (int k = 0; k < job.classes; ++k)
    if (const FramePoint end = job.class_table[k].count_end; end.x >= 0)
      LeftwardStamps(end, size_of, put).number(job.counted[k], job.first_digit);
}

/// Draws what the legend says of objects.
__device__ inline void paint_objects(const Job& job, int x, int y, int pieces, std::uint32_t* pixel) {
  const StampSize size = job.pictures[job.legend.stamp].size;
  const int line = y - job.legend.y, column = x - job.legend.x;
  if (line < 0 || line >= size.height || column < 0 || column >= size.width) return;
  for (int i = 0; i < pieces; ++i) paint_stamp(job, x, y, job.legend_pieces[i], pixel);
}

__device__ inline void paint_stamps(const Job& job, const Place& place, std::uint32_t* pixels) {
  const int labels = job.labels > 0 ? *job.placed_count : 0;
  if (labels == 0 && !job.has_legend && job.first_digit < 0) return;
  const int pieces = job.legend_form.shown ? *job.legend_piece_count : 0;
  place.for_pixels([&](int column, int row, unsigned i) {
    const int x = place.x + column, y = place.y + row;
    for (int label = 0; label < labels; ++label) paint_label(job, x, y, label, pixels + i);
    if (job.has_legend) paint_stamp(job, x, y, job.legend, pixels + i);
    if (job.first_digit >= 0) paint_counts(job, x, y, pixels + i);
    if (pieces > 0) paint_objects(job, x, y, pieces, pixels + i);
  });
}

/// `words`: pixels of four bytes lie at multiples of four bytes.
template <int kChannels>
__device__ std::uint32_t load_pixel(const unsigned char* at, bool words) {
  if (kChannels == 4 && words) return *reinterpret_cast<const std::uint32_t*>(at);
  std::uint32_t pixel = 0;
  for (int c = 0; c < kChannels; ++c) pixel |= static_cast<std::uint32_t>(at[c]) << (8 * c);
  return pixel;
}

template <int kChannels>
__device__ void store_pixel(unsigned char* at, std::uint32_t pixel, bool words) {
  if (kChannels == 4 && words) {
    *reinterpret_cast<std::uint32_t*>(at) = pixel;
    return;
  }
  for (int c = 0; c < kChannels; ++c) at[c] = static_cast<unsigned char>(pixel >> (8 * c));
}

/// Paints one tile; `drawable`: the list of references is complete, otherwise the frame is only copied.
template <int kChannels>
__device__ void paint_tile(const Job& job, bool drawable, unsigned tile, PaintShared& shared) {
  const Place place(job.grid, tile);
  const std::ptrdiff_t left = static_cast<std::ptrdiff_t>(place.x) * kChannels;
  const unsigned char* const in = job.in + place.y * job.in_pitch + left;
  unsigned char* const out = job.out + place.y * job.out_pitch + left;
  // All loads of the tile are in flight at the same time.
  std::uint32_t held[kTilePixels / kPaintThreads] = {};
#pragma unroll
  for (unsigned p = 0; p < kTilePixels / kPaintThreads; ++p) {
    const unsigned i = p * kPaintThreads + threadIdx.x;
    const int row = static_cast<int>(i / kTileSide), column = static_cast<int>(i % kTileSide);
    if (row < place.rows && column < place.columns)
      held[p] = load_pixel<kChannels>(in + row * job.in_pitch + column * kChannels, job.words);
  }
  const bool found = drawable && load_bins(job, tile, 0, shared);
#pragma unroll
  for (unsigned p = 0; p < kTilePixels / kPaintThreads; ++p)
    shared.pixels[p * kPaintThreads + threadIdx.x] = held[p];
  if (drawable) {
    paint_classes(job, tile, place, found, shared);
    paint_stamps(job, place, shared.pixels);
  }
  place.for_pixels([&](int column, int row, unsigned i) {
    store_pixel<kChannels>(out + row * job.out_pitch + column * kChannels, shared.pixels[i], job.words);
  });
}

template <int kChannels>
__global__ void __launch_bounds__(kPaintThreads, blocks_sharing(kPaintThreads, kPaintBlocks))
    paint_tiles(const Job job) {
  auto& shared = block_shared<PaintShared>();
  const unsigned tiles = job.all_tiles ? job.tiles() : *job.touched_count;
  const bool drawable = job.drawable();
  for (unsigned i = blockIdx.x; i < tiles; i += gridDim.x) {
    paint_tile<kChannels>(job, drawable, job.all_tiles ? i : job.touched[i], shared);
    __syncthreads();  // before the next tile's bins
  }
}

}  // namespace contorno::overlay_cuda
