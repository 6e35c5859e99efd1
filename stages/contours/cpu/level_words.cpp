#include "stages/contours/cpu/level_words.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/memory.h"
#include "pipeline/shared/loops.h"
#include "stages/contours/cpu/mark_samples.h"

namespace contorno {
namespace {

constexpr int kMostRowWords = kMaxSide / 64;
// Rows that a task reads, and one more on each side.
constexpr int kStripRows = 64;
static_assert(kStripRows % WordSpans::kBlockRows == 0, "a task has whole blocks");
// Room for bits: levels of a word of samples, on the average. They take two bytes a sample, of which only
// those are touched that are used.
constexpr std::int64_t kKeptPerWord = 16;

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
  // The loop works on vectors, which compilers do not make of a plain one here.
  constexpr int kLanes = 16 / sizeof(V);
  using Lanes [[gnu::vector_size(16)]] = V;
  Lanes low = kGreatest<V> - Lanes{}, high = kLeast<V> - Lanes{};
  decltype(low != high) odd{};
  for (int i = 0; i < 64; i += kLanes) {
    Lanes value;
    std::memcpy(&value, values + i, sizeof(value));
    low = value < low ? value : low;
    high = value > high ? value : high;
    odd |= value != value;  // NOLINT(misc-redundant-expression): what is not a number differs from itself
  }
  V least = low[0], most = high[0];
  nan = odd[0] != 0;
  for (int lane = 1; lane < kLanes; ++lane) {
    least = std::min<V>(least, low[lane]);
    most = std::max<V>(most, high[lane]);
    nan |= odd[lane] != 0;
  }
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
RankSpan span_of(const Range& range, const std::vector<double>& levels) {
  const auto rank = [&](double value) {
    return static_cast<std::uint16_t>(std::lower_bound(levels.begin(), levels.end(), value) - levels.begin());
  };
  const RankSpan span{rank(range.low), rank(range.high)};
  return span.begin < span.end ? span : RankSpan{};
}

/// Reads a strip of rows. What needs the rows beside it as well is done while their samples are in the cache.
template <class T>
class StripReader {
 public:
  StripReader(const Plane& samples, const ChannelLevels& levels, const ChannelWords& channel)
      : samples_(samples), levels_(levels), channel_(channel), reader_(samples, channel.usable) {}

  /// Fills in the words of some rows.
  void read(int first, int end) {
    const int words = static_cast<int>(channel_.cells.row_words), from = std::max(first - 1, 0);
    reader_.read(from, from == first, ranges_[from & 1].data());
    for (int row = from; row < end; ++row) {
      RankSpan* const cells = cells_[row & 1].data();
      if (row + 1 < samples_.height) {
        reader_.read(row + 1, row + 1 < end, ranges_[(row + 1) & 1].data());
        find_cells(row, words, cells);
      } else {
        std::fill_n(cells, words, RankSpan{});
      }
      if (row < first) continue;
      std::copy_n(cells, words, channel_.cells.row(row));
      channel_.cells.sum_up(row);
      find_samples(row, words);
      channel_.samples.sum_up(row);
      keep_bits(row, words);
    }
  }

 private:
  void find_cells(int row, int words, RankSpan* cells) const {
    for (int word = 0; word < words; ++word) {
      Range range = ranges_[row & 1][static_cast<std::size_t>(word)];
      range.add(ranges_[(row + 1) & 1][static_cast<std::size_t>(word)]);
      cells[word] = span_of(range, levels_.values);
    }
  }
  /// The spans of the words of samples: those of all words of cells to which one of the samples belongs.
  void find_samples(int row, int words) const {
    RankSpan before;
    for (int word = 0; word < words; ++word) {
      RankSpan own = cells_[0][static_cast<std::size_t>(word)];
      own.add(cells_[1][static_cast<std::size_t>(word)]);
      before.add(own);
      channel_.samples.row(row)[word] = before;
      before = own;
    }
  }
  void keep_bits(int row, int words) const {
    const KeptBits& kept = channel_.kept;
    const RankSpan* const spans = channel_.samples.row(row);
    std::uint64_t count = 0;
    for (int word = 0; word < words; ++word) count += spans[word].count();
    if (count == 0) return;
    std::uint64_t at = std::atomic_ref(*kept.used).fetch_add(count, std::memory_order_relaxed);
    const bool fits = at + count <= kept.capacity;
    for (int word = 0; word < words; ++word) {
      if (spans[word].count() == 0) continue;
      const bool are_kept = fits && !compare(row, word, spans[word], kept.bits + at);
      kept.begin[row * channel_.samples.row_words + word] =
          are_kept ? static_cast<std::uint32_t>(at) : KeptBits::kNone;
      at += spans[word].count();
    }
  }
  /// Whether samples are suspect.
  bool compare(int row, int word, const RankSpan& span, std::uint64_t* bits) const {
    const WordSamples from(samples_, row, word);
    std::uint64_t any = 0, suspects = 0;
    for (std::uint32_t rank = span.begin; rank < span.end; ++rank)
      any |= levels_.readers[rank].read(from.at, 0, from.count, bits++, &suspects);
    return any != 0;
  }

  const Plane& samples_;
  const ChannelLevels& levels_;
  const ChannelWords& channel_;
  RowReader<T> reader_;
  std::array<Range, kMostRowWords> ranges_[2];    // of two rows of samples
  std::array<RankSpan, kMostRowWords> cells_[2];  // of the rows of cells above and below a row of samples
};

}  // namespace

void WordSpans::sum_up(std::int64_t row) const {
  RankSpan* const to = block_row(row);
  if (row % kBlockRows == 0) std::fill_n(to, row_blocks, RankSpan{});
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
    place(spans->blocks, (rows + WordSpans::kBlockRows - 1) / WordSpans::kBlockRows * spans->row_blocks);
  }
  channel.usable = {.width = map.width, .height = map.height, .row_words = words};
  place(channel.usable.usable, rows * words);
  place(channel.usable.row_flags, rows);
  channel.kept.capacity = static_cast<std::uint64_t>(rows * words) * kKeptPerWord;
  place(channel.kept.used, 1);
  place(channel.kept.begin, rows * words);
  place(channel.kept.bits, rows * words * kKeptPerWord);
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

WordSamples::WordSamples(const Plane& samples, std::int64_t row, std::int64_t word)
    : count(static_cast<std::size_t>(std::min<std::int64_t>(64, samples.width - 64 * word))) {
  const std::size_t size = element_size(samples.type);
  const char* const from = samples.data + row * samples.row_pitch + 64 * word * samples.step;
  at = from;
  if (samples.step == static_cast<std::ptrdiff_t>(size)) return;
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(copy + i * size, from + static_cast<std::ptrdiff_t>(i) * samples.step, size);
  at = copy;
}

void read_channel(const Plane& samples, const ImageView& mask, const ChannelLevels& levels,
                  const ChannelWords& channel, int threads) {
  *channel.kept.used = 0;
  for_tasks(threads, (samples.height + kStripRows - 1) / kStripRows, [&](int strip) {
    const int first = strip * kStripRows, end = std::min(first + kStripRows, samples.height);
    with_sample_type(samples.type,
                     [&]<class T>(const T*) { StripReader<T>(samples, levels, channel).read(first, end); });
  });
  if (mask.data != nullptr) apply_mask(mask, channel.usable, threads);
}

}  // namespace contorno
