// What linking hands to the emission of points: runs (parts of contours inside one band of rows), details of
// the runs that are long or continue in another band, and sections, into which long runs are cut for parallel
// emission. All of it lies in chunks of one pool, which tasks take by an atomic counter; no result depends on
// which task took which chunk.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "stages/contours/cpu/cell_bits.h"

namespace contorno {

/// Segments of a run that are emitted by one task.
inline constexpr std::int64_t kSectionSegments = 2048;

/// Consecutive segments of one contour.
struct Run {
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 63, kDetailed = std::uint64_t{1} << 62;
  std::uint64_t first = 0;   ///< id of the first segment, with the two flags
  std::uint32_t length = 0;  ///< segments; 0 with a detail
  std::uint32_t extra = 0;   ///< closed: rank of the largest id; with a detail: its name in the pool

  std::uint64_t segment() const { return first & (kDetailed - 1); }
};

/// More of a run that is longer than a section, or that continues in another band (then it is a fragment of
/// its contour). Ranks count segments from `origin`, where the run was found; its first segment has rank
/// -before.
struct Detail {
  std::uint64_t origin = 0, first = 0;
  std::uint64_t length = 0;
  std::int64_t before = 0;
  std::uint64_t largest = 0;  ///< largest segment id of the run
  std::int64_t largest_rank = 0;
  std::uint64_t next_segment = kNoSegment;  ///< first of the next fragment
  std::uint64_t order = 0;                  ///< task << 32 | number of the run: raster order of smallest ids
  bool closed = false, fragment = false, has_previous = false, stitched = false, dropped = false;
  struct Chunk* chunk = nullptr;  ///< that holds its run

  Detail* next = nullptr;    ///< the next fragment
  Detail* owner = nullptr;   ///< the fragment that is first in `order`; it stands for the contour
  std::uint64_t base = 0;    ///< rank of the run's first segment in the contour
  std::uint64_t total = 0;   ///< owner: segments of the contour
  std::uint64_t cut = 0;     ///< owner of a closed contour: contour rank of its largest id
  std::uint64_t offset = 0;  ///< owner: the contour's first point
};

/// `count` segments of a detail's run, from `segment` on, whose rank is `rank`.
struct Section {
  Detail* detail = nullptr;
  std::uint64_t segment = 0;
  std::int64_t rank = 0;
  std::uint64_t count = 0;
};

enum class ChunkKind : std::uint32_t { Runs, Details, Sections };

/// A block of items of one kind, filled by one task. `contours` and `points` are the totals of its runs,
/// `first_contour` and `first_point` the numbers of all runs before them.
struct Chunk {
  static constexpr std::size_t kBytes = 4096;
  Chunk* next = nullptr;
  ChunkKind kind = ChunkKind::Runs;
  std::uint32_t count = 0, task = 0, has_details = 0;
  std::uint64_t contours = 0, points = 0;
  std::uint64_t first_contour = 0, first_point = 0;

  template <class Item>
  static constexpr std::uint32_t capacity() {
    return static_cast<std::uint32_t>((kBytes - sizeof(Chunk)) / sizeof(Item));
  }
  template <class Item>
  Item* items() {
    return reinterpret_cast<Item*>(this + 1);
  }
};

/// Hands out chunks of the caller's memory. When none is left it keeps counting, so that exhausted() tells.
class ChunkPool {
 public:
  ChunkPool(std::byte* base, std::uint32_t capacity, std::uint32_t* used)
      : base_(base), capacity_(capacity), used_(used) {}

  void reset() const { *used_ = 0; }
  std::uint32_t used() const { return *used_ < capacity_ ? *used_ : capacity_; }
  bool exhausted() const { return *used_ > capacity_; }
  Chunk* at(std::uint32_t index) const { return reinterpret_cast<Chunk*>(base_ + index * Chunk::kBytes); }
  Chunk* take(ChunkKind kind, std::uint32_t task) const {
    const std::uint32_t index =
        std::atomic_ref<std::uint32_t>(*used_).fetch_add(1, std::memory_order_relaxed);
    if (index >= capacity_) return nullptr;
    Chunk* chunk = new (at(index)) Chunk;
    chunk->kind = kind;
    chunk->task = task;
    return chunk;
  }
  /// A detail as 32 bits, for Run::extra, and back.
  std::uint32_t name_of(const Detail* detail) const {
    return static_cast<std::uint32_t>((reinterpret_cast<const std::byte*>(detail) - base_) / 8);
  }
  Detail* detail(std::uint32_t name) const {
    return reinterpret_cast<Detail*>(base_ + std::size_t{name} * 8);
  }

 private:
  std::byte* base_;
  std::uint32_t capacity_;
  std::uint32_t* used_;
};

/// A task's items of one kind, in the order in which they were found.
template <class Item>
class ChunkList {
 public:
  ChunkList(const ChunkPool& pool, ChunkKind kind, std::uint32_t task)
      : pool_(pool), kind_(kind), task_(task) {}

  /// Null when the pool is exhausted.
  Item* add() {
    if (last_ == nullptr || last_->count == Chunk::capacity<Item>()) {
      Chunk* chunk = pool_.take(kind_, task_);
      if (chunk == nullptr) return nullptr;
      (last_ == nullptr ? first_ : last_->next) = chunk;
      last_ = chunk;
    }
    return new (last_->items<Item>() + last_->count++) Item;
  }
  Chunk* first() const { return first_; }
  Chunk* last() const { return last_; }

 private:
  const ChunkPool& pool_;
  ChunkKind kind_;
  std::uint32_t task_;
  Chunk* first_ = nullptr;
  Chunk* last_ = nullptr;
};

/// One step of a walk: where it goes from a cell, given the cell's code and the side through which it was
/// entered. Eight bytes, so that the address of an entry needs no multiplication: each step waits for the one
/// before it.
struct Step {
  std::int32_t move = 0;   ///< in bit positions
  std::uint16_t next = 0;  ///< 16 * the side through which the next cell is entered
  std::uint16_t sub = 0;   ///< the segment walked along
};
static_assert(sizeof(Step) == 8);

/// Steps by 16 * side + code, for one connectivity and row length.
struct WalkTable {
  Step forward[kSides * kCodes], backward[kSides * kCodes];
  std::uint8_t from[2 * kCodes], to[2 * kCodes];  ///< 16 * side by 2 * code + sub
  WalkTable(Connectivity connectivity, int row_bits);
};

}  // namespace contorno
