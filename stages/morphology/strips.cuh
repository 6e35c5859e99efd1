// The general kernels of morphology, for elements with heights and for those that are too large for a tile.
// An image lies in words, each with the same sample of as many strips of rows (Strips): a neighbouring
// sample, in x or y, is then in a neighbouring word, in the same lane. window_rows brings an image into words
// and back, and applies a run along the rows on the way; window_terms combines such rows. Internal.
//
// window_terms is a map over words, and still no loop of Thrust: a thread reads a word for each of the terms,
// hundreds for a large element. Thrust gives a thread two elements, one after the other, which leaves half as
// many threads to wait for memory at the same time.
#pragma once

#include "stages/morphology/device_plan.h"
#include "stages/morphology/line.cuh"
#include "stages/morphology/pixels.cuh"

namespace contorno::morphology_cuda {

// Measured on an H200: many small blocks, so that some load while others compute.
inline constexpr unsigned kLineThreads = 256;
inline constexpr unsigned kTermThreads = 256;

/// Whether every lane of row `row` lies in the image.
template <class W>
__device__ bool all_inside(const Strips& strips, int row) {
  return row >= 0 && row + (kLanes<W> - 1) * strips.strip < strips.height;
}

/// `word` of row `row`, with `outside` in the lanes whose row is not in the image.
template <class W>
__device__ unsigned clipped(const Strips& strips, int row, unsigned word, unsigned outside) {
  if (all_inside<W>(strips, row)) return word;
  unsigned result = 0;
  for (int lane = 0; lane < kLanes<W>; ++lane) {
    const int y = row + lane * strips.strip;
    result |= in_lane<W>(lane_of<W>(y >= 0 && y < strips.height ? word : outside, lane), lane);
  }
  return result;
}

/// The word at sample `x` of row `row`, which may reach into a neighbouring strip or outside. Lanes whose row
/// is below the image must hold `outside` in memory.
template <class W>
__device__ unsigned word_at(const unsigned* words, const Strips& strips, int x, int row, unsigned outside) {
  if (x < 0 || x >= strips.samples()) return outside;
  int shift = 0;
  while (row >= strips.strip && shift < kLanes<W>) row -= strips.strip, ++shift;
  while (row < 0 && shift > -kLanes<W>) row += strips.strip, --shift;
  if (row < 0 || row >= strips.strip || shift >= kLanes<W> || shift <= -kLanes<W>) return outside;
  const unsigned word = words[static_cast<std::ptrdiff_t>(row) * strips.samples() + x];
  constexpr int kBits = 8 * static_cast<int>(sizeof(W));
  if (shift == 0) return word;
  if (shift > 0) return word >> (kBits * shift) | outside << (32 - kBits * shift);
  return word << (kBits * -shift) | outside >> (32 - kBits * -shift);
}

/// The arguments of window_rows: a run along rows, from an image or words to an image or words.
struct RowsJob {
  Strips strips;                  ///< how the input lies in words
  Pixels image;                   ///< input, if `in` is null
  const unsigned* in = nullptr;   ///< words
  unsigned* out = nullptr;        ///< words; null: the output is an image, `target`
  int first = 0, length = 1;      ///< the window: pixels first .. first + length - 1 from the result's
  int columns = 0;                ///< pixels of a result row
  int segment = 0, segments = 1;  ///< pixels of a result row that a block makes
  int taken = 0;                  ///< words of the line in shared memory
  unsigned complement = 0;        ///< complement_for(the window's extreme)
  unsigned outside = 0;           ///< value beyond the ends of input rows
  unsigned next_outside = 0;      ///< value of output lanes whose row is not in the image
  // Only for output to an image: how values are stored, and where the image begins on the strips.
  Pixels target, source;
  int target_width = 0, target_height = 0, crop_x = 0, crop_y = 0;
  PassResult result = PassResult::Store;
  bool keeps_alpha = false;
};

/// Loads words of row `row` of the strips from an image to `line`: samples first_sample .. first_sample +
/// count
/// - 1, complemented for the window.
template <class Rule>
__device__ void load_strips(const RowsJob& job, int plane, int row, int first_sample, int count,
                            unsigned* line) {
  using S = typename Rule::Stored;
  using W = typename Rule::W;
  const int samples = job.strips.samples();
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(kLineThreads)) {
    const int s = first_sample + i;
    unsigned word = 0;
    for (int lane = 0; lane < kLanes<W>; ++lane) {
      const int y = row + lane * job.strips.strip;
      const bool inside = s >= 0 && s < samples && y < job.strips.height;
      word |= inside ? in_lane<W>(Rule::load(job.image.line<const S>(plane, y)[s]), lane)
                     : in_lane<W>(lane_of<W>(job.outside, lane), lane);
    }
    line[i] = word ^ job.complement;
  }
}

/// load_strips from words in memory between kernels.
__device__ inline void load_words(const RowsJob& job, int plane, int row, int first_sample, int count,
                                  unsigned* line) {
  const int samples = job.strips.samples();
  const unsigned* in = job.in + plane * static_cast<std::ptrdiff_t>(job.strips.words()) +
                       static_cast<std::ptrdiff_t>(row) * samples;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(kLineThreads)) {
    const int s = first_sample + i;
    line[i] = (s >= 0 && s < samples ? in[s] : job.outside) ^ job.complement;
  }
}

/// Stores the results `line` of row `row` of the strips in an image: samples first_sample .. first_sample +
/// count - 1.
template <class Rule>
__device__ void store_strips(const RowsJob& job, int plane, int row, int first_sample, int count,
                             const unsigned* line) {
  using S = typename Rule::Stored;
  using W = typename Rule::W;
  const int pixel = job.strips.pixel;
  const bool reads_before = reads_output(job.result);
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(kLineThreads)) {
    const int s = first_sample + i - job.crop_x * pixel;
    if (s < 0 || s >= job.target_width * pixel) continue;
    const unsigned word = line[i] ^ job.complement;
    for (int lane = 0; lane < kLanes<W>; ++lane) {
      const int y = row + lane * job.strips.strip - job.crop_y;
      if (y < 0 || y >= job.target_height) continue;
      S* to = job.target.line<S>(plane, y) + s;
      const S source = job.source.line<const S>(plane, y)[s];
      const S value = Rule::result(job.result, lane_of<W>(word, lane), source, reads_before ? *to : S{});
      *to = job.keeps_alpha && s % 4 == 3 ? source : value;
    }
  }
}

/// Each block makes one segment of one row of words.
template <class Rule>
__global__ void __launch_bounds__(kLineThreads, blocks_sharing(kLineThreads, 6))
    window_rows(const RowsJob job) {
  using W = typename Rule::W;
  unsigned* shared = &block_shared<unsigned>();
  const int block = static_cast<int>(blockIdx.x);
  const int segment = block % job.segments, row = block / job.segments % job.strips.strip;
  const int plane = block / job.segments / job.strips.strip;
  const int pixel = job.strips.pixel, x = segment * job.segment;
  const int columns = min(job.segment, job.columns - x);
  const int first_sample = (x + job.first) * pixel, count = (columns + job.length - 1) * pixel;
  if (job.in == nullptr)
    load_strips<Rule>(job, plane, row, first_sample, count, shared);
  else
    load_words(job, plane, row, first_sample, count, shared);
  __syncthreads();
  const unsigned* result =
      window_along<W>(shared, shared + job.taken, pixel, columns + job.length - 1, job.length);
  if (job.out == nullptr) return store_strips<Rule>(job, plane, row, x * pixel, columns * pixel, result);
  const auto pitch = static_cast<std::ptrdiff_t>(job.columns) * pixel;
  unsigned* out = job.out + (static_cast<std::ptrdiff_t>(plane) * job.strips.strip + row) * pitch + x * pixel;
  for (int i = static_cast<int>(threadIdx.x); i < columns * pixel; i += static_cast<int>(kLineThreads))
    out[i] = clipped<W>(job.strips, row, result[i] ^ job.complement, job.next_outside);
}

/// The arguments of window_terms: the terms [begin, end) of a window.
struct TermsJob {
  Strips strips;  ///< how the output lies in words
  Strips table;   ///< how the input lies in words; it may be wider
  const unsigned* in = nullptr;
  unsigned* out = nullptr;
  const DeviceTerm* terms = nullptr;
  int begin = 0, end = 0;
  int left = 0, top = 0;  ///< the element's upper left corner, from the result's place, in words and rows
  bool first = true, last = true;  ///< whether this launch is the first, the last of those for one window
  bool settle = false;             ///< limits results to the samples' range
  unsigned complement = 0;         ///< complement_for(the window's extreme)
  unsigned nothing = 0;            ///< Rule::nothing(the extreme) in every lane
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

/// A thread makes a word.
template <class Rule>
__global__ void __launch_bounds__(kTermThreads) window_terms(const TermsJob job) {
  using W = typename Rule::W;
  const auto words = static_cast<long long>(job.strips.words());
  const long long index = static_cast<long long>(blockIdx.x) * kTermThreads + threadIdx.x;
  if (index >= words * job.strips.planes) return;
  const auto plane = static_cast<std::ptrdiff_t>(index / words);
  const int in_plane = static_cast<int>(index % words);
  const int x = in_plane % job.strips.samples(), row = in_plane / job.strips.samples();
  const unsigned* in = job.in + plane * static_cast<std::ptrdiff_t>(job.table.words());
  RunningMaximum<W> running((job.first ? job.nothing : job.out[index]) ^ job.complement);
  for (int t = job.begin; t < job.end; ++t) {
    const DeviceTerm term = job.terms[t];
    unsigned word =
        word_at<W>(in, job.table, x + job.left + term.shift, row + job.top + term.row, job.outside);
    if constexpr (Rule::kHeights) word = raised_word<Rule>(word, term.add);
    running.take(word ^ job.complement);
  }
  unsigned word = running.word() ^ job.complement;
  if (job.last) {
    if (job.settle) word = settled_word<Rule>(word);
    word = clipped<W>(job.strips, row, word, job.next_outside);
  }
  job.out[index] = word;
}

}  // namespace contorno::morphology_cuda
