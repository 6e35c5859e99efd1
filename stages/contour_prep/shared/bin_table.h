// The bins of one class on the host, with lists of points: a table of hashes in planned memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/bins.h"

namespace contorno {

/// Points are known by their numbers in the arrays of the frame.
class BinTable {
 public:
  static constexpr std::uint32_t kNone = ~0U;
  static constexpr std::uint32_t kMore = 1U << 31;  ///< the bit that no tag has

  struct Bucket {
    std::uint32_t entry = kNone;  ///< the newest one
    std::uint32_t tag = 0;        ///< of that one, and kMore if it is not the only one
  };
  struct Entry {
    Bin bin;
    std::uint32_t newest = kNone;  ///< the newest point in the list
    std::uint32_t next = kNone;    ///< entry of the same bucket
  };

  /// The memory of the tables of all classes: about 44 bytes a point.
  struct Memory {
    Entry* entries = nullptr;
    Bucket* buckets = nullptr;
    std::uint32_t* older = nullptr;

    void arrays(ArrayTaker& take, const ContoursFormat& format) {
      const std::size_t points = format.point_capacity;
      take(entries, points), take(buckets, 2 * points), take(older, points);
    }
  };

  /// An empty table for the points `first` to `end`, which must not be empty.
  BinTable(const Memory& memory, std::uint32_t first, std::uint32_t end)
      : entries_(memory.entries + first),
        buckets_(memory.buckets + std::size_t{2} * first),
        older_(memory.older),
        mask_(std::bit_ceil(end - first) - 1) {
    std::fill_n(buckets_, std::size_t{mask_} + 1, Bucket{});
  }

  /// The newest point in the list of a bin with this hash, or kNone.
  std::uint32_t newest(const Bin& bin, const BinHash& hash) const {
    const Bucket& bucket = buckets_[hash.bucket() & mask_];
    // Most entries are told apart by the tag of the newest one; the others need not be looked at.
    if (bucket.tag != hash.tag() && bucket.tag < kMore) return kNone;
    const std::uint32_t e = find(bucket, bin);
    return e == kNone ? kNone : entries_[e].newest;
  }
  /// The same, as what can be written; adds the bin when it is new. No more bins than points may be added.
  std::uint32_t& newest_in(const Bin& bin) {
    const BinHash hash(bin);
    Bucket& bucket = buckets_[hash.bucket() & mask_];
    if (const std::uint32_t e = find(bucket, bin); e != kNone) return entries_[e].newest;
    entries_[count_] = {.bin = bin, .newest = kNone, .next = bucket.entry};
    bucket = {.entry = count_, .tag = hash.tag() | (bucket.entry != kNone ? kMore : 0)};
    return entries_[count_++].newest;
  }
  /// Makes `point` the newest of the list that `newest` is the beginning of.
  void push(std::uint32_t& newest, std::uint32_t point) {
    older_[point] = newest;
    newest = point;
  }
  /// The point before this one in its list, or kNone.
  std::uint32_t older(std::uint32_t point) const { return older_[point]; }
  /// All bins that were added.
  std::span<const Entry> bins() const { return {entries_, count_}; }

 private:
  std::uint32_t find(const Bucket& bucket, const Bin& bin) const {
    std::uint32_t e = bucket.entry;
    while (e != kNone && !(entries_[e].bin == bin)) e = entries_[e].next;
    return e;
  }

  Entry* entries_;
  Bucket* buckets_;
  std::uint32_t* older_;
  std::uint32_t mask_, count_ = 0;
};

}  // namespace contorno
