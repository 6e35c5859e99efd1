#include "stages/contours/cpu/level_words.h"

#include <array>
#include <bit>
#include <limits>
#include <type_traits>

#include "cuda/memory.h"
#include "pipeline/shared/loops.h"
#include "stages/contours/cpu/mark_samples.h"

namespace contorno {
namespace {

constexpr int kMostRowWords = kMaxSide / 64;
// Rows of cells that a task reads; it reads one more row of samples than that.
constexpr int kStripRows = 64;

/// Least and greatest of some samples, without NaN.
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void add(const Range& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
};

/// In what samples of type T are compared with each other: halves as floats, others as they are.
template <class T>
using Compared = std::conditional_t<std::is_same_v<T, Half>, float, T>;
template <class T>
Compared<T> compared(T sample) {
  if constexpr (std::is_same_v<T, Half>)
    return half_to_float(sample);
  else
    return sample;
}

template <class V>
constexpr V kLeast = std::numeric_limits<V>::has_infinity ? -std::numeric_limits<V>::infinity()
                                                          : std::numeric_limits<V>::lowest();
template <class V>
constexpr V kGreatest = std::numeric_limits<V>::has_infinity ? std::numeric_limits<V>::infinity()
                                                             : std::numeric_limits<V>::max();

/// The range of 64 values; `nan`: one of them is not a number.
template <class V>
Range range_of(const V* values, SampleScale scale, bool& nan) {
  // Several at a time, which compilers turn into vector instructions.
  constexpr int kLanes = 16;
  std::array<V, kLanes> low, high, odd{};
  low.fill(kGreatest<V>);
  high.fill(kLeast<V>);
  for (int i = 0; i < 64; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) {
      const V value = values[i + lane];
      low[lane] = value < low[lane] ? value : low[lane];
      high[lane] = value > high[lane] ? value : high[lane];
      odd[lane] = value == value ? odd[lane] : V{1};
    }
  V least = low[0], most = high[0], any = odd[0];
  for (int lane = 1; lane < kLanes; ++lane) {
    least = low[lane] < least ? low[lane] : least;
    most = high[lane] > most ? high[lane] : most;
    any = odd[lane] > any ? odd[lane] : any;
  }
  nan = any != V{0};
  return {value_of(least, scale), value_of(most, scale)};
}

/// Reads rows of samples of one channel, word by word.
template <class T>
class RowReader {
 public:
  using V = Compared<T>;
  RowReader(const Plane& samples, const PlaneBits& usable) : samples_(samples), usable_(usable) {}

  /// The ranges of a row's words, each with the first sample of the next one. `owns`: the row's NaN are
  /// noted.
  void read(int row, bool owns, Range* ranges) {
    const char* at = samples_.data + row * samples_.row_pitch;
    if (owns) usable_.row_flags[row] = 0;
    for (int col = 0; col < samples_.width; col += 64) {
      const int word = col / 64, count = std::min(64, samples_.width - col);
      bool nan = false;
      ranges[word] = range_of(values_at(at + col * samples_.step, count), samples_.scale, nan);
      if (nan && owns) note_nan(row, word, count);
    }
    for (int col = 64; col < samples_.width; col += 64) {
      const double next = value_of(*reinterpret_cast<const T*>(at + col * samples_.step), samples_.scale);
      if (next == next) ranges[col / 64 - 1].add({next, next});
    }
  }

 private:
  /// 64 values; where there are fewer, the first one again.
  const V* values_at(const char* at, int count) {
    if constexpr (std::is_same_v<T, V>)
      if (count == 64 && samples_.step == sizeof(T)) return values_ = reinterpret_cast<const V*>(at);
    for (int i = 0; i < 64; ++i)
      copy_[i] = compared(*reinterpret_cast<const T*>(at + (i < count ? i : 0) * samples_.step));
    return values_ = copy_.data();
  }
  void note_nan(int row, int word, int count) {
    std::uint64_t nans = 0;
    for (int i = 0; i < count; ++i) nans |= static_cast<std::uint64_t>(values_[i] != values_[i]) << i;
    usable_.begin_flag(row, kRowHasUnusable);
    usable_.usable_row(row)[word] &= ~nans;
  }

  const Plane& samples_;
  const PlaneBits& usable_;
  const V* values_ = nullptr;
  std::array<V, 64> copy_{};
};

/// The levels between the samples of a range: those that are not below all of them, and below one.
RankSpan span_of(const Range& range, std::span<const double> levels) {
  const auto rank = [&](double value) {
    return static_cast<std::uint16_t>(std::lower_bound(levels.begin(), levels.end(), value) - levels.begin());
  };
  const RankSpan span{rank(range.low), rank(range.high)};
  return span.begin < span.end ? span : RankSpan{};
}

/// The spans of the cells in some rows.
template <class T>
void read_strip(const Plane& samples, std::span<const double> levels, const ChannelWords& channel, int first,
                int end) {
  RowReader<T> reader(samples, channel.usable);
  std::array<Range, kMostRowWords> both[2];
  const auto words = static_cast<std::size_t>(channel.cells.row_words);
  reader.read(first, true, both[first & 1].data());
  for (int row = first; row < end; ++row) {
    Range* const below = both[(row + 1) & 1].data();
    reader.read(row + 1, row + 1 < end || end == samples.height - 1, below);
    for (std::size_t word = 0; word < words; ++word) {
      Range range = both[row & 1][word];
      range.add(below[word]);
      channel.cells.row(row)[word] = span_of(range, levels);
    }
    channel.cells.sum_up(row);
  }
}

/// The spans of the words of samples: those of all words of cells to which one of the samples belongs.
void spread_row(const ChannelWords& channel, int row) {
  const std::int64_t words = channel.cells.row_words;
  const int cell_rows = channel.usable.height - 1;
  RankSpan* const to = channel.samples.row(row);
  std::fill_n(to, words, RankSpan{});
  for (const int cell_row : {row - 1, row}) {
    if (cell_row < 0 || cell_row >= cell_rows) continue;
    const RankSpan* const from = channel.cells.row(cell_row);
    for (std::int64_t word = 0; word < words; ++word) {
      to[word].add(from[word]);
      if (word > 0) to[word].add(from[word - 1]);
    }
  }
  channel.samples.sum_up(row);
}

}  // namespace

void WordSpans::sum_up(std::int64_t row) const {
  RankSpan* const to = blocks + row * row_blocks;
  std::fill_n(to, row_blocks, RankSpan{});
  for (std::int64_t word = 0; word < row_words; ++word) to[word / kBlockWords].add(this->row(row)[word]);
}

namespace {

ChannelWords lay_out(std::byte* base, const ImageFormat& map, std::size_t& bytes) {
  ChannelWords channel;
  std::size_t at = 0;
  const auto place = [&]<class T>(T*& pointer, std::int64_t count) {
    pointer = base == nullptr ? nullptr : reinterpret_cast<T*>(base + at);
    at = align_up(at + static_cast<std::size_t>(count) * sizeof(T));
  };
  const std::int64_t rows = map.height, words = (map.width + 63) / 64;
  for (WordSpans* spans : {&channel.cells, &channel.samples}) {
    spans->row_words = words;
    spans->row_blocks = (words + WordSpans::kBlockWords - 1) / WordSpans::kBlockWords;
    place(spans->spans, rows * words);
    place(spans->blocks, rows * spans->row_blocks);
  }
  channel.usable = {.width = map.width, .height = map.height, .row_words = words};
  place(channel.usable.usable, rows * words);
  place(channel.usable.row_flags, rows);
  bytes = at;
  return channel;
}

}  // namespace

std::size_t channel_words_bytes(const ImageFormat& map) {
  std::size_t bytes = 0;
  lay_out(nullptr, map, bytes);
  return bytes;
}

ChannelWords channel_words(void* block, const ImageFormat& map) {
  std::size_t bytes = 0;
  return lay_out(static_cast<std::byte*>(block), map, bytes);
}

void read_channel(const Plane& samples, const ImageView& mask, std::span<const double> levels,
                  const ChannelWords& channel, int threads) {
  const int cell_rows = samples.height - 1;
  for_tasks(threads, (cell_rows + kStripRows - 1) / kStripRows, [&](int strip) {
    const int first = strip * kStripRows, end = std::min(first + kStripRows, cell_rows);
    with_sample_type(samples.type,
                     [&]<class T>(const T*) { read_strip<T>(samples, levels, channel, first, end); });
  });
  for_rows(threads, samples.height, [&](int row) { spread_row(channel, row); });
  if (mask.data != nullptr) apply_mask(mask, channel.usable, threads);
}

}  // namespace contorno
