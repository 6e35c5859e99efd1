#include "stages/contours/cpu/assemble.h"

#include <algorithm>

#include "base/memory.h"
#include "pipeline/shared/loops.h"
#include "stages/contours/rules/keep_contour.h"

namespace contorno {
namespace {

// A band costs two rows of unvisited bits and one of entries: not much from this height on.
constexpr std::int64_t kFewestBandRows = 32;
// Tasks a thread, so that busy bands even out.
constexpr int kTasksPerThread = 4;

/// Visits the pool's chunks in any order.
template <class F>
void for_chunks(const ChunkPool& pool, ChunkKind kind, const F& f) {
  for (std::uint32_t i = 0; i < pool.used(); ++i)
    if (pool.at(i)->kind == kind) f(*pool.at(i));
}

template <class F>
void for_details(const ChunkPool& pool, const F& f) {
  for_chunks(pool, ChunkKind::Details, [&](Chunk& chunk) {
    for (std::uint32_t i = 0; i < chunk.count; ++i) f(chunk.items<Detail>()[i]);
  });
}

}  // namespace

struct Assembler::Layout {
  std::size_t unvisited_words_per_band, results, unvisited, entries, suspects, words, planes, used, chunks,
      bytes;
  std::uint32_t chunk_count;
};

struct Assembler::Memory {
  BandResult* results;
  std::uint64_t* unvisited;
  Detail** entries;
  std::uint8_t* suspects;  // per class: some sample of it is suspect
  std::uint32_t* words;    // per task: those that may have crossed cells, where that is known
  LinkedPlane* planes;     // of the functions that take a map
  std::size_t unvisited_words_per_band;
  ChunkPool pool;
};

Assembler::Assembler(const ImageFormat& map, std::vector<double> levels, const AssemblyOptions& options)
    : Assembler(map, map.channels, options) {
  levels_ = std::move(levels);
}

Assembler::Assembler(const ImageFormat& map, int planes, const AssemblyOptions& options)
    : format_(map), options_(options), planes_(planes) {
  row_words_ = (map.width + 63) / 64;
  if (map.width < 2 || map.height < 2) return;  // no cells, no tasks
  cell_rows_ = map.height - 1;
  const std::int64_t wanted =
      options.threads > 1 ? (options.threads * kTasksPerThread + planes - 1) / planes : 1;
  const std::int64_t chosen = std::max((cell_rows_ + wanted - 1) / wanted, kFewestBandRows);
  band_rows_ = options.band_rows > 0 ? options.band_rows : chosen;
  bands_ = static_cast<int>((cell_rows_ + band_rows_ - 1) / band_rows_);
  tasks_ = bands_ * planes;
  table_ = std::make_unique<WalkTable>(options.fully_connected, static_cast<int>(64 * row_words_));
}

Assembler::Layout Assembler::layout_of(std::uint64_t contours, std::uint64_t points) const {
  Layout layout{};
  std::size_t at = 0;
  const auto place = [&at](std::size_t bytes) {
    const std::size_t start = at;
    at = align_up(at + bytes);
    return start;
  };
  const auto tasks = static_cast<std::size_t>(tasks_);
  layout.unvisited_words_per_band = Band::unvisited_words(band_rows_, row_words_);
  layout.used = place(sizeof(std::uint32_t));
  layout.suspects = place(static_cast<std::size_t>(planes_));
  layout.planes = place(static_cast<std::size_t>(levels_.size()) * sizeof(LinkedPlane));
  layout.words = place(levels_.empty()
                           ? tasks * static_cast<std::size_t>(band_rows_ * row_words_) * sizeof(std::uint32_t)
                           : 0);
  layout.results = place(tasks * sizeof(BandResult));
  layout.unvisited = place(tasks * layout.unvisited_words_per_band * sizeof(std::uint64_t));
  layout.entries =
      place(bands_ > 1 ? tasks * Band::entry_count(format_.width) * sizeof(void*) : 0);  // of Detail*
  // A begun chunk of each kind per task; full ones for runs, sections, and details of fragments.
  const std::uint64_t fragments =
      bands_ > 1 ? std::min<std::uint64_t>(points, tasks * static_cast<std::uint64_t>(format_.width) / 2) : 0;
  const std::uint64_t sections = points / kSectionSegments + fragments;
  layout.chunk_count = static_cast<std::uint32_t>(
      3 * tasks + (contours + fragments) / Chunk::capacity<Run>() +
      2 * sections / Chunk::capacity<Section>() + sections / Chunk::capacity<Detail>() + 1);
  layout.chunks = place(layout.chunk_count * Chunk::kBytes);
  layout.bytes = at;
  return layout;
}

Assembler::Memory Assembler::memory_of(std::byte* scratch, std::uint64_t contours,
                                       std::uint64_t points) const {
  const Layout layout = layout_of(contours, points);
  return {.results = reinterpret_cast<BandResult*>(scratch + layout.results),
          .unvisited = reinterpret_cast<std::uint64_t*>(scratch + layout.unvisited),
          .entries = reinterpret_cast<Detail**>(scratch + layout.entries),
          .suspects = reinterpret_cast<std::uint8_t*>(scratch + layout.suspects),
          .words = reinterpret_cast<std::uint32_t*>(scratch + layout.words),
          .planes = reinterpret_cast<LinkedPlane*>(scratch + layout.planes),
          .unvisited_words_per_band = layout.unvisited_words_per_band,
          .pool = ChunkPool(scratch + layout.chunks, layout.chunk_count,
                            reinterpret_cast<std::uint32_t*>(scratch + layout.used))};
}

std::size_t Assembler::scratch_bytes(std::uint64_t contours, std::uint64_t points) const {
  return layout_of(contours, points).bytes;
}

std::span<const LinkedPlane> Assembler::planes_of(const ImageView& map, void* block,
                                                  const Memory& memory) const {
  for (int channel = 0; channel < planes_; ++channel)
    new (memory.planes + channel)
        LinkedPlane{.cells = {plane_bits(block, format_, channel), plane_of(map, channel, options_.scale),
                              levels_[static_cast<std::size_t>(channel)], options_.fully_connected},
                    .words = {}};
  return {memory.planes, static_cast<std::size_t>(planes_)};
}

Band Assembler::band_of(const Memory& memory, int task) const {
  const std::int64_t first_row = task % bands_ * band_rows_;
  const auto index = static_cast<std::size_t>(task);
  return {.task = static_cast<std::uint32_t>(task),
          .first_row = first_row,
          .end_row = std::min(first_row + band_rows_, cell_rows_),
          .unvisited = memory.unvisited + index * memory.unvisited_words_per_band,
          .entries = memory.entries + index * Band::entry_count(format_.width),
          .words = memory.words + index * static_cast<std::size_t>(band_rows_ * row_words_),
          .min_points = options_.min_points};
}

AssemblyCounts Assembler::link(const ImageView& map, void* block, std::byte* scratch, std::uint64_t contours,
                               std::uint64_t points) const {
  return link(planes_of(map, block, memory_of(scratch, contours, points)), scratch, contours, points);
}

AssemblyCounts Assembler::link(std::span<const LinkedPlane> planes, std::byte* scratch,
                               std::uint64_t contours, std::uint64_t points) const {
  const Memory memory = memory_of(scratch, contours, points);
  const int tasks = bands_ * static_cast<int>(planes.size());
  memory.pool.reset();
  for_tasks(options_.threads, tasks, [&](int task) {
    const LinkedPlane& plane = planes[static_cast<std::size_t>(task / bands_)];
    memory.results[task] = link_band(band_of(memory, task), plane.cells, plane.words, *table_, memory.pool);
  });
  AssemblyCounts counts;
  bool fragments = false;
  for (int task = 0; task < tasks; ++task) {
    counts.points += memory.results[task].points;
    counts.contours += memory.results[task].contours;
    fragments |= memory.results[task].has_fragments;
  }
  counts.lost = memory.pool.exhausted();
  if (!fragments || counts.lost) return counts;
  stitch(memory);
  for_details(memory.pool, [&](Detail& detail) {
    if (!detail.fragment || detail.owner != &detail || detail.dropped) return;
    counts.points += points_of(detail.total);
    counts.contours += 1;
    detail.chunk->points += points_of(detail.total);
    detail.chunk->contours += 1;
  });
  return counts;
}

/// Joins fragments across bands. A fragment is found by its first segment, which is its predecessor's next.
void Assembler::stitch(const Memory& memory) const {
  const std::int64_t row_bits = 64 * row_words_;
  for_details(memory.pool, [&](Detail& detail) {
    if (!detail.fragment || detail.next_segment == kNoSegment) return;
    const std::int64_t row = static_cast<std::int64_t>(detail.next_segment >> 1) / row_bits;
    const int channel = static_cast<int>(detail.order >> 32) / bands_;
    const Band band = band_of(memory, channel * bands_ + static_cast<int>(row / band_rows_));
    detail.next = band.entry(detail.next_segment, row_bits, format_.width);
  });
  for_details(memory.pool, [&](Detail& detail) {
    if (detail.fragment && !detail.has_previous) stitch_from(detail, options_.min_points);
  });
  for_details(memory.pool, [&](Detail& detail) {
    if (detail.fragment && !detail.stitched) stitch_from(detail, options_.min_points);
  });
}

/// Follows a contour's fragments from its first one, or from any one if it is closed.
void Assembler::stitch_from(Detail& start, std::uint64_t min_points) {
  std::uint64_t total = 0, largest = 0, cut = 0;
  Detail* owner = &start;
  for (Detail* detail = &start; detail != nullptr && !detail->stitched; detail = detail->next) {
    detail->stitched = true;
    detail->base = total;
    if (detail->largest >= largest) {
      largest = detail->largest;
      cut = total + static_cast<std::uint64_t>(detail->largest_rank + detail->before);
    }
    total += detail->length;
    if (detail->order < owner->order) owner = detail;
  }
  owner->total = total;
  owner->cut = cut;
  owner->closed = start.has_previous;
  owner->dropped = !keep_contour(total, min_points);
  Detail* detail = &start;
  do {
    detail->owner = owner;
    detail = detail->next;
  } while (detail != nullptr && detail != &start);
}

void Assembler::emit(const ImageView& map, void* block, std::byte* scratch, std::uint64_t contours,
                     std::uint64_t points, const EmitTarget& target, std::uint32_t* class_begin) const {
  emit(planes_of(map, block, memory_of(scratch, contours, points)), scratch, contours, points, {}, target,
       class_begin);
}

void Assembler::emit(std::span<const LinkedPlane> planes, std::byte* scratch, std::uint64_t contours,
                     std::uint64_t points, const AssemblyCounts& before, const EmitTarget& target,
                     std::uint32_t* plane_begin) const {
  const Memory memory = memory_of(scratch, contours, points);
  const int tasks = bands_ * static_cast<int>(planes.size());
  std::uint64_t contour = before.contours, point = before.points;
  for (int task = 0; task < tasks; ++task) {
    if (task % bands_ == 0) plane_begin[task / bands_] = static_cast<std::uint32_t>(contour);
    for (Chunk* chunk = memory.results[task].runs; chunk != nullptr; chunk = chunk->next) {
      chunk->first_contour = contour;
      chunk->first_point = point;
      contour += chunk->contours;
      point += chunk->points;
      if (chunk->has_details != 0) place_details(memory.pool, *chunk);
    }
  }
  for (std::size_t k = tasks == 0 ? 0 : planes.size(); k <= planes.size(); ++k)
    plane_begin[k] = static_cast<std::uint32_t>(contour);
  target.offsets[contour] = static_cast<std::uint32_t>(point);
  if (tasks == 0) return;
  for (std::size_t k = 0; k < planes.size(); ++k) {
    const PlaneBits& bits = planes[k].cells.bits();
    std::uint8_t flags = 0;
    for (int row = 0; row < format_.height; ++row) flags |= bits.row_flags[row];
    memory.suspects[k] = (flags & kRowHasSuspect) != 0;
  }
  const auto parts = static_cast<int>(memory.pool.used() * kPartsPerChunk);
  for_tasks(options_.threads, parts, [&](int index) {
    Chunk& chunk = *memory.pool.at(static_cast<std::uint32_t>(index) / kPartsPerChunk);
    if (chunk.kind == ChunkKind::Details) return;
    const std::size_t plane = chunk.task / static_cast<std::uint32_t>(bands_);
    const EmitSource source{&planes[plane].cells, table_.get(), memory.suspects[plane] != 0};
    emit_part(memory.pool, chunk, static_cast<std::uint32_t>(index) % kPartsPerChunk, source, target);
  });
}

}  // namespace contorno
