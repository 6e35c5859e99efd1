// The kernels of morphology on the device. A rectangle takes three: rows, from the image into words;
// columns of both windows of an opening; rows again, back into the image. Other elements: words, the runs of
// each length in shared memory, words back. Windows along a line cost the same for every length.
// Internal.
#pragma once

#include "stages/morphology_lanes.cuh"

namespace contorno::morphology_cuda {

// Measured on an H200: many small blocks, so that some load while others compute.
inline constexpr unsigned kLineThreads = 256;
inline constexpr unsigned kColumnThreads = 512;
inline constexpr unsigned kTileThreads = 512;
inline constexpr unsigned kTermThreads = 256;
inline constexpr int kTileWords = 40;    ///< of the input tile, a thread
inline constexpr int kTileOutputs = 24;  ///< of the output tile, a thread
inline constexpr int kGroup = 7;  ///< steps that a thread takes along a line; odd, so that banks differ

/// The extreme over `length` steps from every step of `lines` lines next to each other: step e of line l lies
/// at e * lines + l. `totals` has the room of `raw`, both with room for two groups behind the last step.
/// Returns where the results are, for the first `steps` - (length - 1) steps. All threads call it, behind a
/// barrier; it ends with one.
///
/// Two levels instead of van Herk's long blocks: a thread makes running extremes over its group; a window is
/// the end of one group, whole groups, and the beginning of another.
template <class W, Extreme kExtreme, int kFixedLines>
__device__ unsigned* window_along_fixed(unsigned* raw, unsigned* totals, int any_lines, int steps, int length,
                                        int thread, int threads) {
  using R = Running<W, kExtreme>;
  const int lines = kFixedLines != 0 ? kFixedLines : any_lines;
  const int results = steps - (length - 1);
  if (length <= kGroup) {
    for (int at = thread; at < results * lines; at += threads) {
      R running(raw[at]);
      for (int k = 1; k < length; ++k) running.take(raw[at + k * lines]);
      totals[at] = running.word();
    }
    __syncthreads();
    return totals;
  }
  const int groups = (steps + kGroup - 1) / kGroup;
  for (int i = thread; i < groups * lines; i += threads) {
    const int base = i / lines * kGroup * lines + i % lines;
    R running(raw[base]);
    totals[base] = raw[base];
#pragma unroll
    for (int e = 1; e < kGroup; ++e) {
      running.take(raw[base + e * lines]);
      totals[base + e * lines] = running.word();
    }
  }
  __syncthreads();
  for (int i = thread; i < groups * lines; i += threads) {
    const int group = i / lines, base = group * kGroup * lines + i % lines;
    const int first = group * kGroup;
    if (first >= results) continue;
    R rest[kGroup];
    rest[kGroup - 1] = R(raw[base + (kGroup - 1) * lines]);
#pragma unroll
    for (int e = kGroup - 2; e >= 0; --e) {
      rest[e] = rest[e + 1];
      rest[e].take(raw[base + e * lines]);
    }
    // Whole groups that every window of this group covers. The last step of a window is the running extreme
    // of the group that it ends in; where it ends the group, that is one more whole group for the next
    // window.
    R middle = rest[kGroup - 1];
    for (int ahead = 1; ahead < (length - 1) / kGroup; ++ahead)
      middle.take(totals[base + (ahead * kGroup + kGroup - 1) * lines]);
    const unsigned* ends = totals + base + (length - 1) * lines;
    int end = (length - 1) % kGroup;
#pragma unroll
    for (int e = 0; e < kGroup; ++e) {
      const unsigned last = ends[e * lines];
      R window = middle;
      window.take(rest[e]);
      window.take(last);
      raw[base + e * lines] = window.word();
      if (++end == kGroup) middle.take(last), end = 0;
    }
  }
  __syncthreads();
  return raw;
}

/// The numbers of lines that are most common are constants of the code.
template <class W, Extreme kExtreme>
__device__ unsigned* window_along(unsigned* raw, unsigned* totals, int lines, int steps, int length,
                                  int thread, int threads) {
  if (length == 1) return raw;
  if (lines == 32)
    return window_along_fixed<W, kExtreme, 32>(raw, totals, lines, steps, length, thread, threads);
  if (lines == 3)
    return window_along_fixed<W, kExtreme, 3>(raw, totals, lines, steps, length, thread, threads);
  if (lines == 1)
    return window_along_fixed<W, kExtreme, 1>(raw, totals, lines, steps, length, thread, threads);
  return window_along_fixed<W, kExtreme, 0>(raw, totals, lines, steps, length, thread, threads);
}

/// An image in memory, for kernels.
struct Pixels {
  char* data = nullptr;
  std::ptrdiff_t row = 0, plane = 0;  ///< bytes
  bool words = false;                 ///< rows begin at multiples of four bytes

  template <class S>
  __device__ S* line(int plane_index, int y) const {
    return reinterpret_cast<S*>(data + plane_index * plane + y * row);
  }
};

enum class Place { Image, Words };

/// One window along rows, between any two places.
struct RowsJob {
  Strips strips;  ///< of the input
  Pixels image;   ///< input, if that is an image
  const unsigned* in = nullptr;
  unsigned* out = nullptr;
  int first = 0, length = 1;      ///< the window: pixels first .. first + length - 1 from the result's
  int columns = 0;                ///< pixels of a result row
  int segment = 0, segments = 1;  ///< pixels of a result row that a block makes
  int taken = 0;                  ///< words of the line in shared memory
  unsigned outside = 0;           ///< where the input ends
  unsigned next_outside = 0;      ///< in words of the output whose row is not in the image
  // To an image: what to do with the value, and where the image begins on the strips.
  Pixels target, source;
  int target_width = 0, target_height = 0, crop_x = 0, crop_y = 0;
  bool keeps_alpha = false;
};

/// Samples first_sample .. first_sample + count - 1 of words of `row`, from the strips of an image.
template <class Rule>
__device__ void load_strips(const RowsJob& job, int plane, int row, int first_sample, int count,
                            unsigned* line) {
  using S = typename Rule::Stored;
  using W = typename Rule::W;
  const int samples = job.strips.samples();
  const auto one = [&](int s) {
    unsigned word = 0;
    for (int lane = 0; lane < kLanes<W>; ++lane) {
      const int y = row + lane * job.strips.strip;
      const bool inside = s >= 0 && s < samples && y < job.strips.height;
      word |= inside ? in_lane<W>(Rule::load(job.image.line<const S>(plane, y)[s]), lane)
                     : in_lane<W>(lane_of<W>(job.outside, lane), lane);
    }
    line[s - first_sample] = word;
  };
  const int thread = static_cast<int>(threadIdx.x);
  if constexpr (sizeof(W) == 1) {
    if (job.image.words && all_inside<W>(job.strips, row)) {
      const int last = first_sample + count;
      const int quads_from = first_sample >> 2, quads_to = (last + 3) >> 2;
      for (int quad = quads_from + thread; quad < quads_to; quad += static_cast<int>(kLineThreads)) {
        const int s = 4 * quad;
        if (s >= first_sample && s + 4 <= last && s >= 0 && s + 4 <= samples) {
          unsigned words[4];
          for (int lane = 0; lane < 4; ++lane)
            words[lane] = job.image.line<const unsigned>(plane, row + lane * job.strips.strip)[quad];
          transpose(words);
          *reinterpret_cast<uint4*>(line + (s - first_sample)) =
              uint4{words[0], words[1], words[2], words[3]};
        } else {
          for (int k = 0; k < 4; ++k)
            if (s + k >= first_sample && s + k < last) one(s + k);
        }
      }
      return;
    }
  }
  for (int i = thread; i < count; i += static_cast<int>(kLineThreads)) one(first_sample + i);
}

/// Results for samples first_sample .. first_sample + count - 1 of words of `row`, into the strips of an
/// image.
template <class Rule, PassResult kResult>
__device__ void store_strips(const RowsJob& job, int plane, int row, int first_sample, int count,
                             const unsigned* line) {
  using S = typename Rule::Stored;
  using W = typename Rule::W;
  const int thread = static_cast<int>(threadIdx.x), pixel = job.strips.pixel;
  if constexpr (sizeof(W) == 1 && kResult == PassResult::Store) {
    if (job.target.words && !job.keeps_alpha && job.crop_x == 0 && job.crop_y == 0 && first_sample % 4 == 0 &&
        row + 3 * job.strips.strip < job.target_height) {
      for (int quad = thread; quad < count >> 2; quad += static_cast<int>(kLineThreads)) {
        unsigned words[4];
        for (int k = 0; k < 4; ++k) words[k] = line[4 * quad + k];
        transpose(words);
        for (int lane = 0; lane < 4; ++lane)
          job.target.line<unsigned>(plane, row + lane * job.strips.strip)[(first_sample >> 2) + quad] =
              words[lane];
      }
      for (int i = (count & ~3) + thread; i < count; i += static_cast<int>(kLineThreads))
        for (int lane = 0; lane < 4; ++lane)
          job.target.line<S>(plane, row + lane * job.strips.strip)[first_sample + i] =
              lane_of<W>(line[i], lane);
      return;
    }
  }
  for (int i = thread; i < count; i += static_cast<int>(kLineThreads)) {
    const int s = first_sample + i - job.crop_x * pixel;
    if (s < 0 || s >= job.target_width * pixel) continue;
    for (int lane = 0; lane < kLanes<W>; ++lane) {
      const int y = row + lane * job.strips.strip - job.crop_y;
      if (y < 0 || y >= job.target_height) continue;
      S* to = job.target.line<S>(plane, y) + s;
      const S source = job.source.line<const S>(plane, y)[s];
      const S before =
          kResult == PassResult::MinusOutput || kResult == PassResult::OutputAndComplement ? *to : S{};
      const S value = Rule::template result<kResult>(lane_of<W>(line[i], lane), source, before);
      *to = job.keeps_alpha && s % 4 == 3 ? source : value;
    }
  }
}

/// A block makes one segment of one row of words.
template <class Rule, Extreme kExtreme, Place kFrom, Place kTo, PassResult kResult>
__global__ void __launch_bounds__(kLineThreads, 6) window_rows(const RowsJob job) {
  using W = typename Rule::W;
  unsigned* shared = &block_shared<unsigned>();
  const int block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int segment = block % job.segments, row = block / job.segments % job.strips.strip;
  const int plane = block / job.segments / job.strips.strip;
  const int pixel = job.strips.pixel, x = segment * job.segment;
  const int columns = min(job.segment, job.columns - x);
  const int first_sample = (x + job.first) * pixel, count = (columns + job.length - 1) * pixel;
  // So that quads of samples are quads of words in shared memory.
  unsigned* line = shared + (first_sample & 3);
  if constexpr (kFrom == Place::Image) {
    load_strips<Rule>(job, plane, row, first_sample, count, line);
  } else {
    const unsigned* in = job.in + plane * static_cast<std::ptrdiff_t>(job.strips.words()) +
                         static_cast<std::ptrdiff_t>(row) * job.strips.samples();
    for (int i = thread; i < count; i += static_cast<int>(kLineThreads)) {
      const int s = first_sample + i;
      line[i] = s >= 0 && s < job.strips.samples() ? in[s] : job.outside;
    }
  }
  __syncthreads();
  const unsigned* result =
      window_along<W, kExtreme>(line, shared + job.taken, pixel, columns + job.length - 1, job.length, thread,
                                static_cast<int>(kLineThreads));
  if constexpr (kTo == Place::Image) {
    store_strips<Rule, kResult>(job, plane, row, x * pixel, columns * pixel, result);
  } else {
    const auto pitch = static_cast<std::ptrdiff_t>(job.columns) * pixel;
    unsigned* out =
        job.out + (static_cast<std::ptrdiff_t>(plane) * job.strips.strip + row) * pitch + x * pixel;
    const bool plain = all_inside<W>(job.strips, row);
    for (int i = thread; i < columns * pixel; i += static_cast<int>(kLineThreads))
      out[i] = plain ? result[i] : clipped<W>(job.strips, row, result[i], job.next_outside);
  }
}

/// One window down the columns of words, or two of which the second is of the other extreme.
struct ColumnsJob {
  Strips strips;
  const unsigned* in = nullptr;
  unsigned* out = nullptr;
  int first = 0, length = 1, second_first = 0, second_length = 0;  ///< 0: no second window
  int lines = 32, line_bits = 5, steps = 0;  ///< words across and rows of words down a block's input
  int rows = 0;                              ///< that a block makes
  int across = 1, down = 1;                  ///< blocks
  unsigned outside = 0, second_outside = 0, next_outside = 0;
};

template <class Rule, Extreme kExtreme>
__global__ void __launch_bounds__(kColumnThreads, 3) window_columns(const ColumnsJob job) {
  using W = typename Rule::W;
  constexpr Extreme kOther = kExtreme == Extreme::Minimum ? Extreme::Maximum : Extreme::Minimum;
  const int block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int x0 = block % job.across * job.lines, y0 = block / job.across % job.down * job.rows;
  const int plane = block / job.across / job.down;
  const int size = (job.steps + 2 * kGroup) * job.lines;
  unsigned* raw = &block_shared<unsigned>();
  unsigned* totals = raw + size;
  const std::ptrdiff_t offset = plane * static_cast<std::ptrdiff_t>(job.strips.words());
  const int top = y0 + job.second_first + job.first;
  const int samples = job.strips.samples();
  const int column = thread & (job.lines - 1), x = x0 + column;
  const int first_step = thread >> job.line_bits, step = static_cast<int>(kColumnThreads) >> job.line_bits;
  const std::ptrdiff_t pitch = samples;
  if (top >= 0 && top + job.steps <= job.strips.strip && x0 + job.lines <= samples) {
    const unsigned* from = job.in + offset + (top + first_step) * pitch + x;
#pragma unroll 8
    for (int e = first_step; e < job.steps; e += step, from += step * pitch)
      raw[(e << job.line_bits) + column] = *from;
  } else {
    for (int e = first_step; e < job.steps; e += step)
      raw[(e << job.line_bits) + column] = word_at<W>(job.in + offset, job.strips, x, top + e, job.outside);
  }
  __syncthreads();
  unsigned* made = window_along<W, kExtreme>(raw, totals, job.lines, job.steps, job.length, thread,
                                             static_cast<int>(kColumnThreads));
  if (job.second_length != 0) {
    const int steps = job.steps - (job.length - 1), second_top = y0 + job.second_first;
    if (!all_inside<W>(job.strips, second_top) || !all_inside<W>(job.strips, second_top + steps - 1)) {
      for (int e = first_step; e < steps; e += step) {
        unsigned& word = made[(e << job.line_bits) + column];
        word = clipped<W>(job.strips, second_top + e, word, job.second_outside);
      }
      __syncthreads();
    }
    made = window_along<W, kOther>(made, made == raw ? totals : raw, job.lines, steps, job.second_length,
                                   thread, static_cast<int>(kColumnThreads));
  }
  if (x >= samples) return;
  const int rows = min(job.rows, job.strips.strip - y0);
  const bool plain = all_inside<W>(job.strips, y0 + rows - 1);
  unsigned* to = job.out + offset + (y0 + first_step) * pitch + x;
  for (int e = first_step; e < rows; e += step, to += step * pitch) {
    const unsigned word = made[(e << job.line_bits) + column];
    *to = plain ? word : clipped<W>(job.strips, y0 + e, word, job.next_outside);
  }
}

/// A table of runs, and the terms that use it, for the device.
struct DeviceTable {
  int reads = 0, shifts[4] = {};  ///< in words
  int terms_begin = 0, terms_end = 0;
};
/// A run or a member: words to the right of and rows below the window's corner.
struct DeviceTerm {
  int shift = 0, row = 0;
  float add = 0;
};

struct TileJob {
  Strips strips;
  const unsigned* in = nullptr;
  unsigned* out = nullptr;
  const DeviceTable* tables = nullptr;
  const DeviceTerm* terms = nullptr;
  int table_count = 0;
  int left = 0, top = 0;           ///< the window's corner, in words and rows
  int in_across = 0, in_down = 0;  ///< the input tile
  int out_across = 0, out_down = 0;
  int cell_bits = 0;         ///< out_across = 32 << cell_bits
  int across = 1, down = 1;  ///< blocks
  bool settle = false;
  unsigned outside = 0, next_outside = 0;
};

/// A window of any shape: the tile is in shared memory, the runs of each length replace each other there, and
/// every thread keeps the extremes of its results in registers.
template <class Rule, Extreme kExtreme>
__global__ void __launch_bounds__(kTileThreads) window_tile(const TileJob job) {
  using W = typename Rule::W;
  using R = Running<W, kExtreme>;
  constexpr int kThreads = static_cast<int>(kTileThreads), kWarps = kThreads / 32;
  unsigned* tile = &block_shared<unsigned>();
  const int block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32, warp = thread / 32;
  const int x0 = block % job.across * job.out_across, y0 = block / job.across % job.down * job.out_down;
  const std::ptrdiff_t offset =
      block / job.across / job.down * static_cast<std::ptrdiff_t>(job.strips.words());
  const int top = y0 + job.top, left = x0 + job.left, samples = job.strips.samples();
  const bool within =
      top >= 0 && top + job.in_down <= job.strips.strip && left >= 0 && left + job.in_across <= samples;
  for (int r = warp; r < job.in_down; r += kWarps) {
    const unsigned* from = job.in + offset + static_cast<std::ptrdiff_t>(top + r) * samples + left;
    unsigned* to = tile + r * job.in_across;
    if (within) {
      // All loads of a stretch are on their way before the first is waited for.
      for (int begin = lane; begin < job.in_across; begin += 256) {
        unsigned words[8];
#pragma unroll
        for (int k = 0; k < 8; ++k) words[k] = begin + 32 * k < job.in_across ? from[begin + 32 * k] : 0;
#pragma unroll
        for (int k = 0; k < 8; ++k)
          if (begin + 32 * k < job.in_across) to[begin + 32 * k] = words[k];
      }
    } else {
      for (int c = lane; c < job.in_across; c += 32)
        to[c] = word_at<W>(job.in + offset, job.strips, left + c, top + r, job.outside);
    }
  }
  __syncthreads();
  unsigned held[kTileWords];
#pragma unroll
  for (int k = 0; k < kTileWords; ++k) held[k] = tile[k * kThreads + thread];
  // Results are dealt out in rows of 32 words, a row to a warp; what a warp takes next lies a whole number of
  // rows below.
  const int cells = (job.out_across >> 5) * job.out_down, count = cells / kWarps;
  const int column = (warp & ((1 << job.cell_bits) - 1)) * 32 + lane, first_row = warp >> job.cell_bits;
  const int rows_apart = kWarps >> job.cell_bits, apart = rows_apart * job.in_across;
  const unsigned* corner = tile + first_row * job.in_across + column;
  R best[kTileOutputs];
#pragma unroll
  for (int k = 0; k < kTileOutputs; ++k) best[k] = R(broadcast<W>(Rule::nothing(kExtreme)));
  for (int t = 0; t < job.table_count; ++t) {
    const DeviceTable table = job.tables[t];
    if (table.reads > 0) {
#pragma unroll
      for (int k = 0; k < kTileWords; ++k) {
        R running(held[k]);
        running.take(tile[k * kThreads + thread + table.shifts[1]]);
        if (table.reads > 2) running.take(tile[k * kThreads + thread + table.shifts[2]]);
        if (table.reads > 3) running.take(tile[k * kThreads + thread + table.shifts[3]]);
        held[k] = running.word();
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < kTileWords; ++k) tile[k * kThreads + thread] = held[k];
      __syncthreads();
    }
    for (int term = table.terms_begin; term < table.terms_end; ++term) {
      const unsigned* at = corner + job.terms[term].row * job.in_across + job.terms[term].shift;
#pragma unroll
      for (int k = 0; k < kTileOutputs; ++k)
        if (k < count) best[k].take(at[k * apart]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int k = 0; k < kTileOutputs; ++k) {
    const int x = x0 + column, row = y0 + first_row + k * rows_apart;
    if (k < count && x < samples && row < job.strips.strip) {
      const unsigned word = job.settle ? settled_word<Rule>(best[k].word()) : best[k].word();
      job.out[offset + static_cast<std::ptrdiff_t>(row) * samples + x] =
          clipped<W>(job.strips, row, word, job.next_outside);
    }
  }
}

struct TermsJob {
  Strips strips;  ///< of the output
  Strips table;   ///< of the input, which may be wider
  const unsigned* in = nullptr;
  unsigned* out = nullptr;
  const DeviceTerm* terms = nullptr;
  int begin = 0, end = 0;
  int left = 0, top = 0;
  bool first = true, last = true;  ///< of several that make one window together
  bool settle = false;
  unsigned outside = 0, next_outside = 0;
};

/// Adds `height` to every lane that is a sample.
template <class Rule>
__device__ unsigned raised_word(unsigned word, float height) {
  using W = typename Rule::W;
  unsigned result = 0;
  for (int lane = 0; lane < kLanes<W>; ++lane) {
    W value = lane_of<W>(word, lane);
    if constexpr (Rule::kFloat) {
      if (value != OrderedFloat::kNothing) value = OrderedFloat::from(OrderedFloat::to(value) + height);
    } else {
      value = static_cast<W>(value + static_cast<W>(height));
    }
    result |= in_lane<W>(value, lane);
  }
  return result;
}

/// A window of any shape and size, with or without heights, straight from words in memory.
template <class Rule, Extreme kExtreme>
__global__ void __launch_bounds__(kTermThreads) window_terms(const TermsJob job) {
  using W = typename Rule::W;
  using R = Running<W, kExtreme>;
  const auto words = static_cast<long long>(job.strips.words());
  const long long index = static_cast<long long>(blockIdx.x) * kTermThreads + threadIdx.x;
  if (index >= words * job.strips.planes) return;
  const auto plane = static_cast<std::ptrdiff_t>(index / words);
  const int in_plane = static_cast<int>(index % words);
  const int x = in_plane % job.strips.samples(), row = in_plane / job.strips.samples();
  const unsigned* in = job.in + plane * static_cast<std::ptrdiff_t>(job.table.words());
  R running(job.first ? broadcast<W>(Rule::nothing(kExtreme)) : job.out[index]);
  for (int t = job.begin; t < job.end; ++t) {
    const DeviceTerm term = job.terms[t];
    unsigned word =
        word_at<W>(in, job.table, x + job.left + term.shift, row + job.top + term.row, job.outside);
    if constexpr (Rule::kHeights) word = raised_word<Rule>(word, term.add);
    running.take(word);
  }
  unsigned word = running.word();
  if (job.last) {
    if (job.settle) word = settled_word<Rule>(word);
    word = clipped<W>(job.strips, row, word, job.next_outside);
  }
  job.out[index] = word;
}

struct PadJob {
  Pixels in, out;
  int width = 0, height = 0, planes = 1;  ///< of the output, in pixels
  int in_width = 0, in_height = 0, left = 0, top = 0;
  int pixel_bytes = 1;
  MorphologyBorder border = MorphologyBorder::Replicate;
};

/// The image with the pixels of its border around it.
__global__ void __launch_bounds__(kTermThreads) pad_image(const PadJob job) {
  const long long index = static_cast<long long>(blockIdx.x) * kTermThreads + threadIdx.x;
  const long long area = static_cast<long long>(job.width) * job.height;
  if (index >= area * job.planes) return;
  const int plane = static_cast<int>(index / area), x = static_cast<int>(index % area % job.width),
            y = static_cast<int>(index % area / job.width);
  const int u = border_position(x - job.left, job.in_width, job.border);
  const int v = border_position(y - job.top, job.in_height, job.border);
  const char* from = job.in.line<const char>(plane, v) + static_cast<std::ptrdiff_t>(u) * job.pixel_bytes;
  char* to = job.out.line<char>(plane, y) + static_cast<std::ptrdiff_t>(x) * job.pixel_bytes;
  for (int b = 0; b < job.pixel_bytes; ++b) to[b] = from[b];
}

}  // namespace contorno::morphology_cuda
