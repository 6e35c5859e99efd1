#include "stages/morphology/engine.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/error.h"
#include "pipeline/shared/loops.h"
#include "stages/morphology/reconstruct.h"
#include "stages/morphology/streams.h"

namespace contorno {
namespace {

/// What the rows of one worker may take: half of the second-level cache of current processors.
constexpr std::size_t kWorkerBytes = 512 << 10;
constexpr std::size_t kFewestBytes = 1024;  ///< rows are not cut into ranges of columns with fewer bytes

/// The streams of one worker, for output ranges of at most `pixels`.
template <class Rule>
struct Workbench {
  using W = typename Rule::W;

  Workbench(const MorphologyPass& pass, Simd simd, int pixel, int pixels, std::byte* memory)
      : carver(memory) {
    const Window& last = pass.windows.back();
    if (pass.windows.size() == 2) {
      second.emplace(last, simd, pixel, pixels, carver);
      pixels += last.columns() - 1;
    }
    first.emplace(pass.windows.front(), simd, pixel, pixels, carver);
    row = carver.take<W>(row_room<W>(static_cast<std::size_t>(pixels) * static_cast<std::size_t>(pixel)));
  }

  Carver carver;
  std::optional<WindowRows<Rule>> first, second;
  W* row = nullptr;
};

/// Images beyond this size do not stay in any cache until somebody reads them: their rows are then written
/// without being read first.
constexpr std::size_t kBypassBytes = 4 << 20;

/// Copies `bytes`, whole lines of 64 of them without taking the target's lines into the cache.
void store_past_cache(const void* from, void* to, std::size_t bytes) {
#if defined(__x86_64__)
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  const std::size_t lead = std::min(bytes, (64 - reinterpret_cast<std::uintptr_t>(target) % 64) % 64);
  std::memcpy(target, source, lead);
  std::size_t at = lead;
  for (; at + 64 <= bytes; at += 64)
    for (std::size_t k = 0; k < 64; k += 16)
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + at + k),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at + k)));
  std::memcpy(target + at, source + at, bytes - at);
#else
  std::memcpy(to, from, bytes);
#endif
}

template <class Rule, PassResult kResult>
void finish_row(const typename Rule::W* row, const typename Rule::Stored* source, typename Rule::Stored* out,
                std::ptrdiff_t samples, bool keeps_alpha, bool bypass) {
  using S = typename Rule::Stored;
  if constexpr (kResult == PassResult::Store && std::is_same_v<S, typename Rule::W>) {
    if (bypass)
      store_past_cache(row, out, static_cast<std::size_t>(samples) * sizeof(S));
    else
      std::copy_n(row, samples, out);
  } else {
    for (std::ptrdiff_t i = 0; i < samples; ++i) out[i] = Rule::result(kResult, row[i], source[i], out[i]);
  }
  if (keeps_alpha)
    for (std::ptrdiff_t i = 3; i < samples; i += 4) out[i] = source[i];
}

int part(int whole, int index, int parts) {
  return static_cast<int>(static_cast<std::int64_t>(whole) * index / parts);
}

int halo_columns(const MorphologyPass& pass) {
  int halo = 0;
  for (const Window& window : pass.windows) halo += window.columns() - 1;
  return halo;
}
int halo_rows(const MorphologyPass& pass) {
  int halo = 0;
  for (const Window& window : pass.windows) halo += window.rows() - 1;
  return halo;
}

/// One range of columns and rows of one plane on its way through a pass.
template <class Rule>
struct Item {
  using S = typename Rule::Stored;
  using W = typename Rule::W;

  const MorphologyPlan& plan;
  const MorphologyPass& pass;
  const ImageView &source, &in, &out;
  int plane;
  Span columns, rows;

  W outside(const Window& window) const {
    if (plan.options.border == MorphologyBorder::Constant)
      return Rule::load(static_cast<S>(plan.options.border_value));
    return Rule::nothing(window.extreme);
  }

  void run(Workbench<Rule>& bench) const {
    const Window& first = pass.windows.front();
    const Window& last = pass.windows.back();
    const bool two = pass.windows.size() == 2;
    const int pixel = plan.samples_per_pixel(), width = plan.format.width, height = plan.format.height;
    Span between = columns;
    int first_between = rows.from;
    if (two)
      between = {columns.from + last.left, columns.to + last.right}, first_between = rows.from + last.top;
    const int first_made = two ? std::clamp(first_between, 0, height) : first_between;
    ImageRows<Rule> image(in, plane, plan.options.border, outside(first),
                          {between.from + first.left, between.to + first.right}, first_made + first.top);
    bench.first->start(image);
    // Only heights take samples out of their range, and only elements without their origin find nothing.
    const bool settle = Rule::kHeights || (Rule::kFloat && !first.holds_origin);
    EdgeRows<Rule> edges(*bench.first, settle, outside(last), between, first_between, width, height, pixel);
    if (two) bench.second->start(edges);
    RowStream<W>& rows_out = two ? static_cast<RowStream<W>&>(*bench.second) : *bench.first;
    // The bench keeps the addresses of these streams, and reads no row of them before it is started again.
    // NOLINTNEXTLINE(clang-analyzer-core.StackAddressEscape)
    with_pass_result(pass.result, [&]<PassResult kResult>() { pull<kResult>(rows_out, bench.row); });
  }

  template <PassResult kResult>
  void pull(RowStream<W>& stream, W* row) const {
    const int pixel = plan.samples_per_pixel();
    const auto samples = static_cast<std::ptrdiff_t>(columns.size()) * pixel;
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(columns.from) * pixel;
    const bool bypass = packed_bytes(plan.format) >= kBypassBytes;
    for (int y = rows.from; y < rows.to; ++y) {
      stream.next(row);
      finish_row<Rule, kResult>(row, source.row<const S>(y, plane) + at, out.row<S>(y, plane) + at, samples,
                                plan.keeps_alpha, bypass);
    }
#if defined(__x86_64__)
    if (bypass) _mm_sfence();
#endif
  }
};

}  // namespace

template <class Rule>
std::size_t MorphologyEngine::worker_bytes(const MorphologyPass& pass, int pixels) const {
  return align_up(Workbench<Rule>(pass, simd_, plan_.samples_per_pixel(), pixels, nullptr).carver.used());
}

MorphologyEngine::Cut MorphologyEngine::cut_of(const MorphologyPass& pass) const {
  const int width = plan_.format.width, height = plan_.format.height, planes = plan_.format.planes();
  const int pixel = plan_.samples_per_pixel();
  const auto pixel_bytes = static_cast<std::size_t>(pixel) * element_size(plan_.format.type);
  Cut cut;
  const auto bytes = [&](int pixels) {
    std::size_t needed = 0;
    with_morphology_sample(plan_.format.type, plan_.raised,
                           [&]<class Rule>() { needed = worker_bytes<Rule>(pass, pixels); });
    return needed;
  };
  // A range of columns is as wide as the cache allows, and not so narrow that most of its work is beyond its
  // edges.
  const auto range = [&](int columns) { return (width + columns - 1) / columns; };
  const auto enough = [&](int columns) {
    return range(columns) >= 2 * halo_columns(pass) &&
           static_cast<std::size_t>(range(columns)) * pixel_bytes >= kFewestBytes;
  };
  while (bytes(range(cut.columns)) > kWorkerBytes && enough(cut.columns + 1)) ++cut.columns;
  // Enough items for all threads, in rows only while these are many more than the window has.
  const auto items = [&] { return cut.columns * cut.rows * planes; };
  while (threads_ > 1 && items() < 2 * threads_ && height / (cut.rows + 1) > 4 * halo_rows(pass) + 4)
    ++cut.rows;
  while (threads_ > 1 && items() < threads_ && enough(cut.columns + 1)) ++cut.columns;
  cut.worker_bytes = bytes(range(cut.columns));
  return cut;
}

MorphologyEngine::MorphologyEngine(MorphologyPlan plan, int threads, Simd simd)
    : plan_(std::move(plan)), threads_(std::max(1, threads)), simd_(simd) {
  for (const MorphologyPass& pass : plan_.passes) {
    cuts_.push_back(cut_of(pass));
    worker_bytes_ = std::max(worker_bytes_, cuts_.back().worker_bytes);
  }
  if (plan_.needs_between()) between_bytes_ = packed_bytes(plan_.format);
  scratch_bytes_ = between_bytes_ + worker_bytes_ * static_cast<std::size_t>(threads_);
  if (plan_.reconstruction)
    scratch_bytes_ = std::max(scratch_bytes_, reconstruction_scratch_bytes(plan_.format, threads_));
}

template <class Rule>
void MorphologyEngine::run_pass(const MorphologyPass& pass, const Cut& cut, const ImageView& source,
                                const ImageView& in, const ImageView& out, std::byte* scratch,
                                int threads) const {
  const int width = plan_.format.width, height = plan_.format.height;
  const int per_plane = cut.columns * cut.rows, items = per_plane * plan_.format.planes();
  std::atomic<int> taken = 0;
  const int workers = std::min(threads, items);
  for_rows(workers, workers, [&](int worker) {
    Workbench<Rule> bench(pass, simd_, plan_.samples_per_pixel(), (width + cut.columns - 1) / cut.columns,
                          scratch + worker_bytes_ * static_cast<std::size_t>(worker));
    for (int item = taken.fetch_add(1); item < items; item = taken.fetch_add(1)) {
      const int plane = item / per_plane, column = item % per_plane % cut.columns,
                row = item % per_plane / cut.columns;
      Item<Rule>{plan_,
                 pass,
                 source,
                 in,
                 out,
                 plane,
                 {part(width, column, cut.columns), part(width, column + 1, cut.columns)},
                 {part(height, row, cut.rows), part(height, row + 1, cut.rows)}}
          .run(bench);
    }
  });
}

void MorphologyEngine::run(const ImageView& in, const ImageView& out, std::byte* scratch, int threads) const {
  const ImageView between =
      packed_view(scratch + worker_bytes_ * static_cast<std::size_t>(threads_), plan_.format);
  const auto place = [&](MorphologyPass::Place where) -> const ImageView& {
    switch (where) {
      case MorphologyPass::Place::Image:
        return in;
      case MorphologyPass::Place::Between:
        return between;
      case MorphologyPass::Place::Output:
        return out;
    }
    throw InternalError("unknown place");
  };
  const int workers = std::min(threads, threads_);
  for (std::size_t p = 0; p < plan_.passes.size(); ++p) {
    const MorphologyPass& pass = plan_.passes[p];
    with_morphology_sample(plan_.format.type, plan_.raised, [&]<class Rule>() {
      run_pass<Rule>(pass, cuts_[p], in, place(pass.from), place(pass.to), scratch, workers);
    });
  }
  if (plan_.reconstruction)
    reconstruct_in_place(*plan_.reconstruction, out, in, plan_.options, scratch, workers);
}

}  // namespace contorno
