#include "stages/morphology/reconstruct.h"

#include <algorithm>
#include <limits>
#include <span>

#include "base/error.h"
#include "pipeline/shared/loops.h"
#include "stages/morphology/pixel_queue.h"
#include "stages/morphology/plan.h"

namespace contorno {
namespace {

template <class S>
struct Order {
  using W = S;
  static W load(S sample) { return sample; }
  static S store(W value) { return value; }
};
template <>
struct Order<float> {
  using W = std::int32_t;
  static W load(float sample) { return OrderedFloat::from(sample); }
  static float store(W value) { return OrderedFloat::to(value); }
};

/// Values stand for the order of the samples: as it is for a reconstruction by dilation, turned round for one
/// by erosion, so that one algorithm does both (complements swap minima with maxima).
template <class S, ReconstructionMethod kMethod>
struct Values {
  using W = typename Order<S>::W;
  static constexpr W turn(W value) {
    return kMethod == ReconstructionMethod::Dilation ? value : static_cast<W>(~value);
  }
  static W load(S sample) { return turn(Order<S>::load(sample)); }
  static S store(W value) { return Order<S>::store(turn(value)); }
};

/// What a pixel can still take up, as a value that does not exceed anything if it is nothing.
template <class W>
W lowest_that_grows(W value, W limit) {
  return value < limit ? value : std::numeric_limits<W>::max();
}

/// Flags the pixels of `row` of which a backward scan left a neighbour ahead of it, to the right or `below`,
/// lower than it could be. Returns how many.
template <bool kEight, class W>
int mark_unsettled(const W* __restrict row, const W* __restrict mask, const W* __restrict below,
                   const W* __restrict below_mask, int width, std::uint8_t* __restrict marks) {
  const auto mark = [&](int x, int left, int right) {
    W lowest =
        std::min(lowest_that_grows(row[right], mask[right]), lowest_that_grows(below[x], below_mask[x]));
    if constexpr (kEight) {
      lowest = std::min(lowest, lowest_that_grows(below[left], below_mask[left]));
      lowest = std::min(lowest, lowest_that_grows(below[right], below_mask[right]));
    }
    marks[x] = row[x] > lowest ? 1 : 0;
  };
  mark(0, 0, std::min(1, width - 1));
  for (int x = 1; x + 1 < width; ++x) mark(x, x - 1, x + 1);
  mark(width - 1, std::max(width - 2, 0), width - 1);
  int count = 0;
  for (int x = 0; x < width; ++x) count += marks[x];
  return count;
}

int band_begin(int height, int bands, int band) {
  return static_cast<int>(static_cast<std::int64_t>(height) * band / bands);
}

/// One channel: `result` and `mask` are planes of values.
template <class W>
class Channel {
 public:
  Channel(W* result, const W* mask, int width, int height, Neighbours neighbours)
      : result_(result),
        mask_(mask),
        width_(width),
        height_(height),
        eight_(neighbours == Neighbours::Eight),
        around_{-1, 1, -width, width, -width - 1, -width + 1, width - 1, width + 1} {}

  void reconstruct(std::uint32_t* next, std::uint32_t* next_seed, std::uint8_t* waiting) {
    const auto few = static_cast<std::int64_t>(values().size()) / kFewUnsettled;
    std::int64_t unsettled = 0;
    for (int round = 0; round < kMostScans && (round == 0 || unsettled > few); ++round) {
      for (int y = 0; y < height_; ++y) scan_row(y, y - 1, 1);
      unsettled = 0;
      for (int y = height_ - 1; y >= 0; --y) {
        scan_row(y, y + 1, -1);
        unsettled += mark_row(y, waiting);
      }
    }
    if (unsettled == 0) return;
    PixelQueue<W> queue(values(), next, next_seed, waiting);
    for (std::uint32_t pixel = 0; pixel < values().size(); ++pixel)
      if (waiting[pixel] != 0) waiting[pixel] = 0, queue.add_seed(pixel);
    drain(queue);
  }

  /// Each of the bands is at its own fixed point, and nobody is waiting.
  void join(int bands, std::uint32_t* next, std::uint32_t* next_seed, std::uint8_t* waiting) {
    PixelQueue<W> queue(values(), next, next_seed, waiting);
    int seeded = 0;  // rows
    for (int band = 1; band < bands; ++band) {
      const int seam = band_begin(height_, bands, band);
      // A row between two seams is a seed once.
      const int above = std::max(seam - 1, seeded);
      seeded = seam + 1;
      for (std::ptrdiff_t pixel = at(0, above); pixel < at(0, seeded); ++pixel)
        queue.add_seed(static_cast<std::uint32_t>(pixel));
    }
    drain(queue);
  }

 private:
  /// Scans go on until fewer than one in so many pixels is unsettled: a pixel that waits costs as much as
  /// scanning so many.
  static constexpr int kFewUnsettled = 100;
  static constexpr int kMostScans = 4;  ///< each way

  std::span<const W> values() const {
    return {result_, static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_)};
  }
  std::ptrdiff_t at(int x, int y) const { return static_cast<std::ptrdiff_t>(y) * width_ + x; }

  /// Takes over what comes from row `before` and, within the row, from where the scan came.
  void scan_row(int y, int before, int step) {
    W* row = result_ + at(0, y);
    const W* mask = mask_ + at(0, y);
    if (before >= 0 && before < height_) {
      const W* other = result_ + at(0, before);
      if (eight_ && width_ > 1) {
        row[0] = std::max({row[0], other[0], other[1]});
        for (int x = 1; x + 1 < width_; ++x)
          row[x] = std::max(std::max(row[x], other[x]), std::max(other[x - 1], other[x + 1]));
        row[width_ - 1] = std::max({row[width_ - 1], other[width_ - 1], other[width_ - 2]});
      } else {
        for (int x = 0; x < width_; ++x) row[x] = std::max(row[x], other[x]);
      }
    }
    W carried = std::numeric_limits<W>::min();
    for (int i = 0, x = step > 0 ? 0 : width_ - 1; i < width_; ++i, x += step) {
      carried = std::min(std::max(carried, row[x]), mask[x]);
      row[x] = carried;
    }
  }

  int mark_row(int y, std::uint8_t* waiting) const {
    const std::ptrdiff_t row = at(0, y), below = at(0, y + 1);
    // Below the last row is one in which nothing can grow.
    const bool last = y + 1 == height_;
    const W *under = last ? result_ + row : result_ + below, *limit = last ? under : mask_ + below;
    const auto mark = eight_ ? mark_unsettled<true, W> : mark_unsettled<false, W>;
    return mark(result_ + row, mask_ + row, under, limit, width_, waiting + row);
  }

  void drain(PixelQueue<W>& queue) {
    std::uint32_t pixel = 0;
    while (queue.pop(&pixel)) spread(pixel, queue);
  }
  void spread(std::uint32_t pixel, PixelQueue<W>& queue) {
    const auto width = static_cast<std::uint32_t>(width_);
    const auto x = static_cast<int>(pixel % width), y = static_cast<int>(pixel / width);
    const W value = result_[pixel];
    if (x > 0 && x + 1 < width_ && y > 0 && y + 1 < height_) {
      const int neighbours = eight_ ? 8 : 4;
      for (int i = 0; i < neighbours; ++i) raise(pixel + around_[i], value, queue);
      return;
    }
    for (int v = std::max(y - 1, 0); v <= std::min(y + 1, height_ - 1); ++v)
      for (int u = std::max(x - 1, 0); u <= std::min(x + 1, width_ - 1); ++u)
        if (eight_ || u == x || v == y) raise(at(u, v), value, queue);
  }
  void raise(std::ptrdiff_t pixel, W value, PixelQueue<W>& queue) {
    const W raised = std::min(value, mask_[pixel]);
    if (result_[pixel] >= raised) return;
    result_[pixel] = raised;
    queue.push(static_cast<std::uint32_t>(pixel));
  }

  W* result_;
  const W* mask_;
  int width_, height_;
  bool eight_;
  std::ptrdiff_t around_[8];  ///< the way to the neighbours, four of edges first
};

std::size_t pixels_of(const ImageFormat& format) {
  return static_cast<std::size_t>(format.width) * static_cast<std::size_t>(format.height);
}

std::size_t channel_bytes(const ImageFormat& format) {
  const std::size_t pixels = pixels_of(format);
  return 2 * align_up(pixels * element_size(format.type)) + 2 * align_up(pixels * sizeof(std::uint32_t)) +
         align_up(pixels);
}

/// What one channel needs, in memory of channel_bytes(); bands of rows use their own parts of it.
template <class W>
struct ChannelMemory {
  W *result, *limit;
  std::uint32_t *next, *next_seed;
  std::uint8_t* waiting;

  ChannelMemory(std::byte* memory, std::size_t pixels)
      : result(reinterpret_cast<W*>(memory)),
        limit(reinterpret_cast<W*>(memory + align_up(pixels * sizeof(W)))),
        next(reinterpret_cast<std::uint32_t*>(memory + 2 * align_up(pixels * sizeof(W)))),
        next_seed(next + align_up(pixels * sizeof(std::uint32_t)) / sizeof(std::uint32_t)),
        waiting(reinterpret_cast<std::uint8_t*>(next_seed) + align_up(pixels * sizeof(std::uint32_t))) {}
};

/// Copies the channel to planes of values, of marker (never above the mask) and mask, and back. With more
/// than one thread, every band of rows comes to its own fixed point first: the way to it is free, as long as
/// nothing rises above the reconstruction.
template <class S, ReconstructionMethod kMethod>
void reconstruct_channel(const ImageView& image, const ImageView& mask, int channel, Neighbours neighbours,
                         std::byte* scratch, int threads) {
  using Rule = Values<S, kMethod>;
  using W = typename Rule::W;
  const ImageFormat& format = image.format;
  const bool planar = format.layout == Layout::Planar;
  const int step = planar ? 1 : format.channels, first = planar ? 0 : channel, plane = planar ? channel : 0;
  const std::size_t pixels = pixels_of(format);
  const ChannelMemory<W> memory(scratch, pixels);
  const auto copy_in = [&](int y) {
    const S *marker_row = image.row<const S>(y, plane) + first,
            *mask_row = mask.row<const S>(y, plane) + first;
    W *to = memory.result + static_cast<std::ptrdiff_t>(y) * format.width,
      *to_mask = memory.limit + static_cast<std::ptrdiff_t>(y) * format.width;
    for (int x = 0; x < format.width; ++x) {
      to_mask[x] = Rule::load(mask_row[static_cast<std::ptrdiff_t>(x) * step]);
      to[x] = std::min(Rule::load(marker_row[static_cast<std::ptrdiff_t>(x) * step]), to_mask[x]);
    }
  };
  const int bands = std::clamp(threads, 1, std::max(1, format.height));
  for_rows(bands, bands, [&](int band) {
    const int begin = band_begin(format.height, bands, band);
    const int rows = band_begin(format.height, bands, band + 1) - begin;
    for (int y = begin; y < begin + rows; ++y) copy_in(y);
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(begin) * format.width;
    Channel<W>(memory.result + at, memory.limit + at, format.width, rows, neighbours)
        .reconstruct(memory.next + at, memory.next_seed + at, memory.waiting + at);
  });
  if (bands > 1)
    Channel<W>(memory.result, memory.limit, format.width, format.height, neighbours)
        .join(bands, memory.next, memory.next_seed, memory.waiting);
  for_rows(bands, format.height, [&](int y) {
    S* row = image.row<S>(y, plane) + first;
    const W* from = memory.result + static_cast<std::ptrdiff_t>(y) * format.width;
    for (int x = 0; x < format.width; ++x) row[static_cast<std::ptrdiff_t>(x) * step] = Rule::store(from[x]);
  });
}

template <class S>
void reconstruct_as(ReconstructionMethod method, const ImageView& image, const ImageView& mask, int channel,
                    Neighbours neighbours, std::byte* scratch, int threads) {
  switch (method) {
    case ReconstructionMethod::Dilation:
      return reconstruct_channel<S, ReconstructionMethod::Dilation>(image, mask, channel, neighbours, scratch,
                                                                    threads);
    case ReconstructionMethod::Erosion:
      return reconstruct_channel<S, ReconstructionMethod::Erosion>(image, mask, channel, neighbours, scratch,
                                                                   threads);
  }
  throw InternalError("unknown reconstruction");
}

}  // namespace

std::size_t reconstruction_scratch_bytes(const ImageFormat& format, int threads) {
  return channel_bytes(format) *
         static_cast<std::size_t>(std::clamp(threads, 1, std::max(1, format.channels)));
}

void reconstruct_in_place(ReconstructionMethod method, const ImageView& image, const ImageView& mask,
                          const MorphologyOptions& options, std::byte* scratch, int threads) {
  const ImageFormat& format = image.format;
  const bool alpha = keeps_alpha(format, options.alpha);
  const int channels = alpha ? 3 : format.channels;
  const auto reconstruct = [&](int channel, std::byte* memory, int channel_threads) {
    if (format.type == ElementType::U8)
      reconstruct_as<std::uint8_t>(method, image, mask, channel, options.neighbours, memory, channel_threads);
    else if (format.type == ElementType::U16)
      reconstruct_as<std::uint16_t>(method, image, mask, channel, options.neighbours, memory,
                                    channel_threads);
    else
      reconstruct_as<float>(method, image, mask, channel, options.neighbours, memory, channel_threads);
  };
  // Every thread gets the same number of whole channels; all threads together work on each of the others.
  const int workers = std::clamp(threads, 1, channels), even = channels / workers * workers;
  const int whole = threads > channels ? 0 : even;
  for_rows(workers, workers, [&](int worker) {
    std::byte* memory = scratch + channel_bytes(format) * static_cast<std::size_t>(worker);
    for (int channel = worker; channel < whole; channel += workers) reconstruct(channel, memory, 1);
  });
  for (int channel = whole; channel < channels; ++channel) reconstruct(channel, scratch, threads);
  if (alpha)
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x) {
        const auto bytes = element_size(format.type);
        const auto offset = (static_cast<std::size_t>(x) * 4 + 3) * bytes;
        std::copy_n(mask.row<const char>(y) + offset, bytes, image.row<char>(y) + offset);
      }
}

}  // namespace contorno
