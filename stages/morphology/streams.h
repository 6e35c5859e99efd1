// A pass on the CPU as a chain of row streams, for a range of columns: ImageRows reads rows of the image,
// WindowRows applies a window, EdgeRows puts the border back between two windows. The last stream of the
// chain asks the one before it for rows, and so on. Each stream keeps as many rows as its window is high, so
// that a pass stays in the processor's cache. Memory comes from a Carver. Internal.
#pragma once

#include <algorithm>
#include <vector>

#include "stages/morphology/samples.h"

namespace contorno {

/// Hands out parts of a block of memory, aligned to kRowBlock; with a null base it only counts bytes.
class Carver {
 public:
  explicit Carver(std::byte* base) : base_(base) {}
  template <class T>
  T* take(std::size_t count) {
    const std::size_t at = used_;
    used_ += align_up(count * sizeof(T), kRowBlock);
    return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + at);
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* base_;
  std::size_t used_ = 0;
};

/// How many W a row of `samples` takes, with the room after it that row kernels need. It is an odd number of
/// cache lines, so that one column of many rows is spread over the sets of the cache.
template <class W>
std::size_t row_room(std::size_t samples) {
  const std::size_t lines = (samples * sizeof(W) + kRowBlock - 1) / kRowBlock + 1;
  return (lines | 1) * kRowBlock / sizeof(W);
}

template <class W>
class RowStream {
 public:
  virtual ~RowStream() = default;
  /// Writes the next row to `room`, which has row_room() samples.
  virtual void next(W* room) = 0;
};

/// Columns from <= x < to, in coordinates of the image; they may lie outside of it.
struct Span {
  int from = 0, to = 0;
  int size() const { return to - from; }
};

template <class Rule>
class ImageRows final : public RowStream<typename Rule::W> {
 public:
  using S = typename Rule::Stored;
  using W = typename Rule::W;

  /// `outside` is the value outside of the image with the borders Constant and Identity.
  ImageRows(const ImageView& image, int plane, MorphologyBorder border, W outside, Span columns,
            int first_row)
      : image_(image),
        plane_(plane),
        border_(border),
        outside_(outside),
        columns_(columns),
        row_(first_row),
        pixel_(image.format.layout == Layout::Interleaved ? image.format.channels : 1) {}

  void next(W* room) override {
    const int width = image_.format.width;
    const int y = border_position(row_++, image_.format.height, border_);
    if (y < 0) {
      std::fill_n(room, columns_.size() * pixel_, outside_);
      return;
    }
    const S* row = image_.row<const S>(y, plane_);
    const Span inside{std::clamp(columns_.from, 0, width), std::clamp(columns_.to, 0, width)};
    for (int x = columns_.from; x < std::min(columns_.to, 0); ++x) edge_pixel(row, x, room);
    const S* from = row + static_cast<std::ptrdiff_t>(inside.from) * pixel_;
    W* to = room + static_cast<std::ptrdiff_t>(inside.from - columns_.from) * pixel_;
    const auto samples = static_cast<std::ptrdiff_t>(inside.size()) * pixel_;
    if constexpr (std::is_same_v<S, W>)
      std::copy_n(from, samples, to);
    else
      for (std::ptrdiff_t i = 0; i < samples; ++i) to[i] = Rule::load(from[i]);
    for (int x = std::max(columns_.from, width); x < columns_.to; ++x) edge_pixel(row, x, room);
    // The next row comes from memory while this one is worked on.
    if (y + 1 < image_.format.height) {
      const auto* next = reinterpret_cast<const char*>(from) + image_.row_pitch;
      for (std::ptrdiff_t at = 0; at < samples * static_cast<std::ptrdiff_t>(sizeof(S)); at += 64)
        __builtin_prefetch(next + at);
    }
  }

 private:
  void edge_pixel(const S* row, int x, W* room) const {
    W* to = room + static_cast<std::ptrdiff_t>(x - columns_.from) * pixel_;
    const int from = border_position(x, image_.format.width, border_);
    for (int c = 0; c < pixel_; ++c)
      to[c] = from < 0 ? outside_ : Rule::load(row[static_cast<std::ptrdiff_t>(from) * pixel_ + c]);
  }

  const ImageView& image_;
  int plane_;
  MorphologyBorder border_;
  W outside_;
  Span columns_;
  int row_, pixel_;
};

/// The rows of a window's output, in which everything outside of the image is replaced by the border.
template <class Rule>
class EdgeRows final : public RowStream<typename Rule::W> {
 public:
  using W = typename Rule::W;

  /// `upstream` gives the rows from max(0, first_row) on, for the same columns. `settle`: values are limited
  /// to the range of samples (Rule::settled). `pixel`: samples of a pixel.
  EdgeRows(RowStream<W>& upstream, bool settle, W outside, Span columns, int first_row, int width, int height,
           int pixel)
      : upstream_(upstream),
        settle_(settle),
        outside_(outside),
        columns_(columns),
        row_(first_row),
        width_(width),
        height_(height),
        pixel_(pixel) {}

  void next(W* room) override {
    const int y = row_++;
    const auto samples = static_cast<std::ptrdiff_t>(columns_.size()) * pixel_;
    if (y < 0 || y >= height_) {
      std::fill_n(room, samples, outside_);
      return;
    }
    upstream_.next(room);
    if (settle_)
      for (std::ptrdiff_t i = 0; i < samples; ++i) room[i] = Rule::settled(room[i]);
    const std::ptrdiff_t left = std::clamp(-columns_.from, 0, columns_.size());
    const std::ptrdiff_t right = std::clamp(columns_.to - width_, 0, columns_.size());
    std::fill_n(room, left * pixel_, outside_);
    std::fill_n(room + (samples - right * pixel_), right * pixel_, outside_);
  }

 private:
  RowStream<W>& upstream_;
  bool settle_;
  W outside_;
  Span columns_;
  int row_, width_, height_, pixel_;
};

/// A window's output. `upstream` must give rows that begin `window.left` pixels beside the output's first
/// column and `window.top` rows beside its first row (both are mostly negative), and that are
/// window.columns() - 1 pixels wider.
template <class Rule>
class WindowRows final : public RowStream<typename Rule::W> {
 public:
  using W = typename Rule::W;

  /// `pixel`: samples of a pixel; `pixels`: pixels of an output row.
  WindowRows(const Window& window, Simd simd, int pixel, int pixels, Carver& carver)
      : window_(window),
        kernels_(row_kernels<W>(window.extreme, simd)),
        pixel_(pixel),
        samples_(static_cast<std::size_t>(pixels) * static_cast<std::size_t>(pixel)),
        rows_(window.rows()) {
    if constexpr (Rule::kFloat && Rule::kHeights) raised_float_ = raised_float_kernel(window.extreme, simd);
    in_samples_ = samples_ + static_cast<std::size_t>(window.columns() - 1) * static_cast<std::size_t>(pixel);
    pitch_ = row_room<W>(in_samples_);
    columnwise_ = window.rectangle && rows_ > kFewRows;
    rings_ = carver.take<Ring>(window.tables.size());
    for (std::size_t t = 0; t < window.tables.size(); ++t) {
      const Ring ring = make_ring(t, carver);
      if (rings_ != nullptr) rings_[t] = ring;
    }
    if (columnwise_) {
      blocks_ = carver.take<W>(2 * static_cast<std::size_t>(rows_) * pitch_);
      total_ = carver.take<W>(pitch_);
    }
    sources_ = carver.take<const W*>(std::max<std::size_t>(window.terms.size(), 4));
    add_ = carver.take<Add>(window.terms.size());
    if (add_ != nullptr)
      for (std::size_t t = 0; t < window.terms.size(); ++t) add_[t] = static_cast<Add>(window.terms[t].add);
  }

  void start(RowStream<W>& upstream) { upstream_ = &upstream, pulled_ = 0, output_ = 0; }

  void next(W* room) override {
    if (columnwise_)
      next_columnwise(room);
    else
      next_of_runs(room);
  }

 private:
  using Add = std::conditional_t<Rule::kFloat, float, W>;
  /// Up to so many rows, reading all of them is cheaper than running extremes.
  static constexpr int kFewRows = 5;

  /// The last `depth` rows of a RunTable.
  struct Ring {
    W* rows;
    int depth;
  };

  Ring make_ring(std::size_t table, Carver& carver) const {
    const int first = window_.tables[table].first_row;
    const int depth = first < 0 || columnwise_ ? 1 : rows_ - first;
    return {carver.take<W>(static_cast<std::size_t>(depth) * pitch_), depth};
  }
  W* ring_row(std::size_t table, int row) const {
    const Ring& ring = rings_[table];
    return ring.rows + static_cast<std::size_t>(row % ring.depth) * pitch_;
  }

  /// Takes the next input row into all tables; that of the last table is written to `last` if it is not null.
  void pull(W* last) {
    const std::size_t tables = window_.tables.size();
    const auto place = [&](std::size_t table) {
      return table + 1 == tables && last != nullptr ? last : ring_row(table, pulled_);
    };
    upstream_->next(place(0));
    for (std::size_t t = 1; t < tables; ++t) {
      const RunTable& table = window_.tables[t];
      const W* from = place(static_cast<std::size_t>(table.from));
      const W* reads[4];
      for (int k = 0; k < table.reads; ++k)
        reads[k] = from + static_cast<std::ptrdiff_t>(table.shifts[static_cast<std::size_t>(k)]) * pixel_;
      kernels_.combine(
          place(t), reads, table.reads,
          in_samples_ - static_cast<std::size_t>(table.length - 1) * static_cast<std::size_t>(pixel_));
    }
    ++pulled_;
  }

  void next_of_runs(W* room) {
    while (pulled_ < output_ + rows_) pull(nullptr);
    const std::size_t terms = window_.terms.size();
    for (std::size_t k = 0; k < terms; ++k) {
      const RunTerm& term = window_.terms[k];
      sources_[k] = ring_row(static_cast<std::size_t>(term.table), output_ + term.row) +
                    static_cast<std::ptrdiff_t>(term.shift) * pixel_;
    }
    ++output_;
    const int count = static_cast<int>(terms);
    if constexpr (Rule::kHeights && Rule::kFloat)
      raised_float_(room, sources_, add_, count, samples_);
    else if constexpr (Rule::kHeights)
      kernels_.combine_raised(room, sources_, add_, count, samples_);
    else
      kernels_.combine(room, sources_, count, samples_);
  }

  W* block_row(int block, int row) const {
    return blocks_ + static_cast<std::size_t>(block * rows_ + row) * pitch_;
  }

  /// The method of van Herk and Gil-Werman down the columns. Rows come in blocks as high as the window. An
  /// output row is the extreme of two: of the lower rows of one block (their extremes run upwards) and of the
  /// first rows of the next block (their extremes run downwards, in total_).
  void next_columnwise(W* room) {
    const int at = output_ % rows_;
    if (at == 0) {
      if (output_ == 0)
        for (int row = 0; row < rows_; ++row) pull(block_row(block_, row));
      else
        pull(block_row(1 - block_, rows_ - 1)), block_ = 1 - block_;
      for (int row = rows_ - 2; row >= 0; --row) {
        const W* pair[2] = {block_row(block_, row), block_row(block_, row + 1)};
        kernels_.combine(block_row(block_, row), pair, 2, samples_);
      }
      std::copy_n(block_row(block_, 0), samples_, room);
    } else {
      W* next = block_row(1 - block_, at - 1);
      pull(next);
      if (at == 1) std::copy_n(next, samples_, total_);
      kernels_.accumulate(total_, next, block_row(block_, at), room, samples_);
    }
    ++output_;
  }

  const Window& window_;
  RowKernels<W> kernels_;
  RaisedFloatKernel raised_float_ = nullptr;
  int pixel_;
  std::size_t samples_, in_samples_ = 0, pitch_ = 0;
  int rows_;
  bool columnwise_ = false;
  Ring* rings_ = nullptr;
  W *blocks_ = nullptr, *total_ = nullptr;
  const W** sources_ = nullptr;
  Add* add_ = nullptr;
  RowStream<W>* upstream_ = nullptr;
  int pulled_ = 0, output_ = 0, block_ = 0;
};

}  // namespace contorno
