// The CPU's way: coarse levels first, on few cells; then the last levels tile by tile, so that everything but
// the finished heights stays in cache. Cells around a tile that its squares need are worked out again by
// every tile that needs them, which random numbers by counter allow: tiles know nothing of each other.
#include "stages/diamond_square/field.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "pipeline/shared/loops.h"
#include "stages/diamond_square/level.h"

namespace contorno {
namespace {

constexpr int kTileLevels = 6;  // the last ones, done in cache
constexpr int kTileColumns =
    1024;                   // 64 x 1024 cells of the last levels but one fill half of a first-level cache
constexpr int kBorder = 8;  // cells that a grid may have more than its tile

std::size_t row_cells(int cols) {
  return static_cast<std::size_t>(cols) + kBorder + RefineRows<float>::kPadding;
}

}  // namespace

class DiamondSquare::Impl {
 public:
  explicit Impl(DiamondSquarePlan plan) : plan_(std::move(plan)) {}
  virtual ~Impl() = default;
  virtual void generate(std::uint64_t seed, const ImageView& out) = 0;
  const DiamondSquarePlan& plan() const { return plan_; }

 protected:
  const DiamondSquarePlan plan_;
};

namespace {

template <class T>
class Fields final : public DiamondSquare::Impl {
 public:
  Fields(DiamondSquarePlan plan, int threads, Simd simd)
      : Impl(std::move(plan)),
        refine_(refine_kernel<T>(simd)),
        tile_exponent_(std::min(plan_.params.exponent, kTileLevels)) {
    const auto& [width, height] = std::pair(plan_.format.width, plan_.format.height);
    window_rows_ = {plan_.params.row, plan_.params.row + height - 1};
    window_cols_ = {plan_.params.col, plan_.params.col + width - 1};
    if (plan_.params.domain == DiamondSquareDomain::Finite)
      field_.side = std::int64_t{1} << plan_.params.exponent;
    if (plan_.params.domain == DiamondSquareDomain::Cyclic) field_.mask = (1U << plan_.params.exponent) - 1;
    plan_coarse();
    plan_tiles();
    threads_ = std::clamp(threads, 1, tiles_down_ * tiles_across_);
    plan_work();
  }

  void generate(std::uint64_t seed, const ImageView& out) override {
    FieldRule field = field_;
    field.key = philox_key(seed);
    for (int channel = 0; channel < plan_.format.channels; ++channel) {
      field.channel = static_cast<std::uint32_t>(channel);
      make_coarse(field);
      // Tiles go to whichever thread is free; a thread only lends its memory.
      std::atomic<int> next = 0;
      const int tiles = tiles_down_ * tiles_across_;
      for_rows(threads_, threads_, [&](int part) {
        for (int tile = next++; tile < tiles; tile = next++)
          make_tile(field, tile, work_[static_cast<std::size_t>(part)], out);
      });
    }
  }

 private:
  using N = typename Heights<T>::Noise;

  /// What one thread needs.
  struct Work {
    Block memory;
    RefineRows<T> rows;
    T* grids[2] = {nullptr, nullptr};
    T* tile = nullptr;  ///< heights of one channel, where channels lie interleaved
  };

  std::int64_t tile_step() const { return std::int64_t{1} << tile_exponent_; }
  const HeightRule& rule(std::int64_t half) const {
    return plan_.levels[static_cast<std::size_t>(plan_.params.exponent - 1 -
                                                 std::countr_zero(static_cast<std::uint64_t>(half)))];
  }

  CellGrid<T> grid_over(T* data, CellSpan rows, CellSpan cols, std::int64_t step,
                        std::ptrdiff_t pitch) const {
    return {data, pitch, rows.first, cols.first, rows.count(step), cols.count(step), step};
  }

  /// Grids from the corners down to the tiles' step, each over what the next one needs.
  void plan_coarse() {
    CellSpan rows = window_rows_, cols = window_cols_;
    std::int64_t step = 1;
    const std::int64_t corners = std::int64_t{1} << plan_.params.exponent;
    std::vector<std::size_t> places;
    std::size_t cells = 0;
    for (; step < corners; step *= 2) {
      rows = coarser_span(rows, step, field_.side), cols = coarser_span(cols, step, field_.side);
      if (2 * step < tile_step()) continue;
      const std::size_t row = row_cells(cols.count(2 * step));
      coarse_.push_back(
          grid_over(nullptr, rows, cols, 2 * step, static_cast<std::ptrdiff_t>(row * sizeof(T))));
      places.push_back(cells);
      cells += row * static_cast<std::size_t>(coarse_.back().rows);
    }
    coarse_memory_ = Block(cells * sizeof(T), MemoryKind::Host);
    for (std::size_t i = 0; i < coarse_.size(); ++i)
      coarse_[i].data = reinterpret_cast<T*>(coarse_memory_.data()) + places[i];
    std::reverse(coarse_.begin(), coarse_.end());
  }

  void plan_tiles() {
    const std::int64_t height = tile_step(), width = std::max<std::int64_t>(kTileColumns, tile_step());
    first_tile_row_ = window_rows_.first & ~(height - 1);
    first_tile_col_ = window_cols_.first & ~(width - 1);
    tile_width_ = width;
    tiles_down_ = static_cast<int>((window_rows_.last - first_tile_row_) / height) + 1;
    tiles_across_ = static_cast<int>((window_cols_.last - first_tile_col_) / width) + 1;
  }

  void plan_work() {
    const int widest = std::max(static_cast<int>(tile_width_) / 2, coarse_.back().cols);
    const std::size_t row = row_cells(widest);
    const std::size_t grid =
        row_cells(static_cast<int>(tile_width_) / 2) * (static_cast<std::size_t>(tile_step()) / 2 + kBorder);
    const bool interleaved = plan_.format.layout == Layout::Interleaved && plan_.format.channels > 1;
    const std::size_t tile = interleaved ? static_cast<std::size_t>(tile_width_ * tile_step()) : 0;
    for (int thread = 0; thread < threads_; ++thread) {
      Work& work = work_.emplace_back();
      work.memory =
          Block(align_up(row * sizeof(N)) + (5 * row + 2 * grid + tile) * sizeof(T), MemoryKind::Host);
      std::memset(work.memory.data(), 0, work.memory.size());
      work.rows.noise = reinterpret_cast<N*>(work.memory.data());
      auto* cells = reinterpret_cast<T*>(work.memory.data() + align_up(row * sizeof(N)));
      const auto take = [&cells](std::size_t count) { return std::exchange(cells, cells + count); };
      work.rows.diamonds[0] = take(row), work.rows.diamonds[1] = take(row);
      work.rows.zeros = take(row), work.rows.line = take(2 * row);
      work.grids[0] = take(grid), work.grids[1] = take(grid);
      work.tile = take(tile);
    }
  }

  T corner(const FieldRule& field, std::int64_t row, std::int64_t col) const {
    const std::uint32_t r = static_cast<std::uint32_t>(row) & field.mask,
                        c = static_cast<std::uint32_t>(col) & field.mask;
    if (plan_.corners.empty()) return corner_height<T>(philox({{r, c, 0, field.channel}}, field.key).word[0]);
    const std::uint32_t given = plan_.corners[(r != 0 ? 2U : 0U) + (c != 0 ? 1U : 0U)];
    if constexpr (std::is_same_v<T, float>)
      return std::bit_cast<float>(given);
    else
      return static_cast<T>(given);
  }

  void make_coarse(const FieldRule& field) {
    const CellGrid<T>& corners = coarse_.front();
    for (int r = 0; r < corners.rows; ++r)
      for (int c = 0; c < corners.cols; ++c)
        corners.at(r)[c] = corner(field, corners.row + r * corners.step, corners.col + c * corners.step);
    for (std::size_t i = 1; i < coarse_.size(); ++i)
      refine_(field, rule(coarse_[i].step), coarse_[i - 1], coarse_[i], work_.front().rows);
  }

  /// The part of the finest coarse grid that a tile starts from.
  CellGrid<T> start_of(CellSpan rows, CellSpan cols) const {
    const CellGrid<T>& all = coarse_.back();
    CellGrid<T> part = grid_over(nullptr, rows, cols, all.step, all.pitch);
    part.data =
        all.at(static_cast<int>((rows.first - all.row) / all.step)) + (cols.first - all.col) / all.step;
    return part;
  }

  void make_tile(const FieldRule& field, int tile, const Work& work, const ImageView& out) const {
    CellSpan rows[kTileLevels + 1], cols[kTileLevels + 1];
    const std::int64_t row = first_tile_row_ + tile / tiles_across_ * tile_step();
    const std::int64_t col = first_tile_col_ + tile % tiles_across_ * tile_width_;
    rows[0] = {std::max(row, window_rows_.first), std::min(row + tile_step() - 1, window_rows_.last)};
    cols[0] = {std::max(col, window_cols_.first), std::min(col + tile_width_ - 1, window_cols_.last)};
    for (int i = 0; i < tile_exponent_; ++i) {
      rows[i + 1] = coarser_span(rows[i], std::int64_t{1} << i, field.side);
      cols[i + 1] = coarser_span(cols[i], std::int64_t{1} << i, field.side);
    }
    CellGrid<T> coarse = start_of(rows[tile_exponent_], cols[tile_exponent_]);
    for (int i = tile_exponent_ - 1; i > 0; --i) {
      const std::int64_t step = std::int64_t{1} << i;
      const auto pitch =
          static_cast<std::ptrdiff_t>(row_cells(static_cast<int>(tile_width_) / 2) * sizeof(T));
      const CellGrid<T> fine = grid_over(work.grids[i & 1], rows[i], cols[i], step, pitch);
      refine_(field, rule(step), coarse, fine, work.rows);
      coarse = fine;
    }
    finish_tile(field, coarse, rows[0], cols[0], work, out);
  }

  void finish_tile(const FieldRule& field, const CellGrid<T>& coarse, CellSpan rows, CellSpan cols,
                   const Work& work, const ImageView& out) const {
    const int y = static_cast<int>(rows.first - window_rows_.first),
              x = static_cast<int>(cols.first - window_cols_.first);
    const int channel = static_cast<int>(field.channel), channels = out.format.channels;
    if (out.format.layout == Layout::Planar || channels == 1) {
      refine_(field, rule(1), coarse,
              grid_over(out.row<T>(y, channels == 1 ? 0 : channel) + x, rows, cols, 1, out.row_pitch),
              work.rows);
      return;
    }
    const CellGrid<T> fine =
        grid_over(work.tile, rows, cols, 1, static_cast<std::ptrdiff_t>(sizeof(T)) * tile_width_);
    refine_(field, rule(1), coarse, fine, work.rows);
    for (int r = 0; r < fine.rows; ++r) {
      T* to = out.row<T>(y + r) + static_cast<std::ptrdiff_t>(x) * channels + channel;
      const T* from = fine.at(r);
      for (int c = 0; c < fine.cols; ++c) to[static_cast<std::ptrdiff_t>(c) * channels] = from[c];
    }
  }

  Refine<T> refine_;
  int tile_exponent_;
  FieldRule field_;
  CellSpan window_rows_, window_cols_;
  std::vector<CellGrid<T>> coarse_;  ///< grids of the coarse levels, from the corners on
  Block coarse_memory_;
  std::int64_t first_tile_row_ = 0, first_tile_col_ = 0, tile_width_ = 0;
  int tiles_down_ = 1, tiles_across_ = 1, threads_ = 1;
  std::vector<Work> work_;
};

std::unique_ptr<DiamondSquare::Impl> make_fields(DiamondSquarePlan plan, int threads, Simd simd) {
  switch (plan.format.type) {
    case ElementType::U8:
      return std::make_unique<Fields<std::uint8_t>>(std::move(plan), threads, simd);
    case ElementType::U16:
      return std::make_unique<Fields<std::uint16_t>>(std::move(plan), threads, simd);
    case ElementType::F32:
      return std::make_unique<Fields<float>>(std::move(plan), threads, simd);
    case ElementType::F16:
    case ElementType::F64:
      break;
  }
  throw InternalError("heights of an unforeseen type");
}

}  // namespace

DiamondSquare::DiamondSquare(const DiamondSquareParams& params, const ImageFormat& format, int threads,
                             Simd simd)
    : impl_(make_fields(plan_diamond_square(params, format), threads, simd)) {}
DiamondSquare::~DiamondSquare() = default;
DiamondSquare::DiamondSquare(DiamondSquare&&) noexcept = default;
DiamondSquare& DiamondSquare::operator=(DiamondSquare&&) noexcept = default;

void DiamondSquare::generate(std::uint64_t seed, const ImageView& out) const {
  if (out.format.width != plan().format.width || out.format.height != plan().format.height ||
      out.format.channels != plan().format.channels || out.format.type != plan().format.type ||
      out.format.layout != plan().format.layout)
    throw Error(ExitCode::BadData, "diamond_square: planned for " + describe(plan().format) +
                                       ", asked to fill " + describe(out.format));
  impl_->generate(seed, out);
}

const DiamondSquarePlan& DiamondSquare::plan() const {
  return impl_->plan();
}

void diamond_square(const DiamondSquareParams& params, const ImageView& out, int threads) {
  DiamondSquare(params, out.format, threads).generate(params.seed, out);
}

}  // namespace contorno
