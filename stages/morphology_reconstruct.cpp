#include "stages/morphology_reconstruct.h"

#include <algorithm>
#include <array>

#include "cuda/error.h"
#include "pipeline/loops.h"
#include "stages/morphology_plan.h"

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

/// By dilation, values are the samples' order; by erosion, the same turned round, so that one algorithm does
/// both: complements swap minima with maxima.
template <class S, ReconstructionMethod kMethod>
struct Values {
  using W = typename Order<S>::W;
  static constexpr W turn(W value) {
    return kMethod == ReconstructionMethod::Dilation ? value : static_cast<W>(~value);
  }
  static W load(S sample) { return turn(Order<S>::load(sample)); }
  static S store(W value) { return Order<S>::store(turn(value)); }
};

/// A queue of pixels in which none is twice: a ring as long as the channel has pixels, and a flag a pixel.
class PixelQueue {
 public:
  /// `waiting` may hold anything.
  PixelQueue(std::uint32_t* ring, std::uint8_t* waiting, std::size_t pixels)
      : ring_(ring), waiting_(waiting), size_(pixels) {
    std::fill_n(waiting_, pixels, std::uint8_t{0});
  }
  void push(std::uint32_t pixel) {
    if (waiting_[pixel] != 0) return;
    waiting_[pixel] = 1;
    ring_[end_] = pixel;
    end_ = end_ + 1 == size_ ? 0 : end_ + 1;
    ++count_;
  }
  bool pop(std::uint32_t* pixel) {
    if (count_ == 0) return false;
    *pixel = ring_[begin_];
    begin_ = begin_ + 1 == size_ ? 0 : begin_ + 1;
    --count_;
    waiting_[*pixel] = 0;
    return true;
  }

 private:
  std::uint32_t* ring_;
  std::uint8_t* waiting_;
  std::size_t size_, begin_ = 0, end_ = 0, count_ = 0;
};

/// One channel: `result` and `mask` are planes of values.
template <class W>
class Channel {
 public:
  Channel(W* result, const W* mask, int width, int height, Neighbours neighbours)
      : result_(result),
        mask_(mask),
        width_(width),
        height_(height),
        eight_(neighbours == Neighbours::Eight) {}

  void reconstruct(PixelQueue& queue) {
    for (int y = 0; y < height_; ++y) scan_row(y, y - 1, 1);
    for (int y = height_ - 1; y >= 0; --y) {
      scan_row(y, y + 1, -1);
      find_unsettled(y, queue);
    }
    drain(queue);
  }

  /// Rows `y` - 1 and `y` belonged to different bands, each of which is at its own fixed point.
  void join(int y, PixelQueue& queue) {
    for (int x = 0; x < width_; ++x) spread(x, y - 1, queue), spread(x, y, queue);
    drain(queue);
  }

 private:
  void drain(PixelQueue& queue) {
    std::uint32_t pixel = 0;
    const auto width = static_cast<std::uint32_t>(width_);
    while (queue.pop(&pixel)) spread(static_cast<int>(pixel % width), static_cast<int>(pixel / width), queue);
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

  bool could_grow(W value, std::ptrdiff_t q) const { return result_[q] < value && result_[q] < mask_[q]; }

  /// Pixels of which the backward scan left a neighbour ahead of it lower than it could be.
  void find_unsettled(int y, PixelQueue& queue) {
    const W* row = result_ + at(0, y);
    const bool below = y + 1 < height_;
    for (int x = 0; x < width_; ++x) {
      const W value = row[x];
      bool grows = x + 1 < width_ && could_grow(value, at(x + 1, y));
      if (below) {
        grows |= could_grow(value, at(x, y + 1));
        if (eight_) {
          grows |= x > 0 && could_grow(value, at(x - 1, y + 1));
          grows |= x + 1 < width_ && could_grow(value, at(x + 1, y + 1));
        }
      }
      if (grows) queue.push(static_cast<std::uint32_t>(at(x, y)));
    }
  }

  void spread(int x, int y, PixelQueue& queue) {
    const W value = result_[at(x, y)];
    const int top = std::max(y - 1, 0), bottom = std::min(y + 1, height_ - 1);
    const int left = std::max(x - 1, 0), right = std::min(x + 1, width_ - 1);
    for (int v = top; v <= bottom; ++v)
      for (int u = left; u <= right; ++u) {
        if (!eight_ && u != x && v != y) continue;
        const std::ptrdiff_t q = at(u, v);
        if (!could_grow(value, q)) continue;
        result_[q] = std::min(value, mask_[q]);
        queue.push(static_cast<std::uint32_t>(q));
      }
  }

  W* result_;
  const W* mask_;
  int width_, height_;
  bool eight_;
};

std::size_t pixels_of(const ImageFormat& format) {
  return static_cast<std::size_t>(format.width) * static_cast<std::size_t>(format.height);
}

std::size_t channel_bytes(const ImageFormat& format) {
  const std::size_t pixels = pixels_of(format);
  return 2 * align_up(pixels * element_size(format.type)) + align_up(pixels * sizeof(std::uint32_t)) +
         align_up(pixels);
}

/// What one channel needs, in memory of channel_bytes(); bands of rows use their own parts of it.
template <class W>
struct ChannelMemory {
  W *result, *limit;
  std::uint32_t* ring;
  std::uint8_t* waiting;

  ChannelMemory(std::byte* memory, std::size_t pixels)
      : result(reinterpret_cast<W*>(memory)),
        limit(reinterpret_cast<W*>(memory + align_up(pixels * sizeof(W)))),
        ring(reinterpret_cast<std::uint32_t*>(memory + 2 * align_up(pixels * sizeof(W)))),
        waiting(reinterpret_cast<std::uint8_t*>(ring) + align_up(pixels * sizeof(std::uint32_t))) {}
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
  const auto band_begin = [&](int band) {
    return static_cast<int>(static_cast<long long>(format.height) * band / bands);
  };
  for_rows(bands, bands, [&](int band) {
    const int begin = band_begin(band), rows = band_begin(band + 1) - begin;
    for (int y = begin; y < begin + rows; ++y) copy_in(y);
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(begin) * format.width;
    PixelQueue queue(memory.ring + at, memory.waiting + at,
                     static_cast<std::size_t>(rows) * static_cast<std::size_t>(format.width));
    Channel<W>(memory.result + at, memory.limit + at, format.width, rows, neighbours).reconstruct(queue);
  });
  if (bands > 1) {
    PixelQueue queue(memory.ring, memory.waiting, pixels);
    Channel<W> whole(memory.result, memory.limit, format.width, format.height, neighbours);
    for (int band = 1; band < bands; ++band) whole.join(band_begin(band), queue);
  }
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
  // As many whole channels as every thread gets alike; the threads share each of the others.
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
