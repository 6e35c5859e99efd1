// Which points are near each other, and how near points are found on both backends: by spatial hashing. The
// plane is divided into square bins, and a table of hashes has the points of each bin that is not empty. A
// bin is so small that any two points in it are near, and all that is near a point lies in its bin and the 24
// around it. So where points crowd together, one look at a bin often says enough.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "base/host_device.h"
#include "geometry/points.h"
#include "stages/contour_prep/shared/arrays.h"

namespace contorno {

/// A bin by its whole coordinates. They are float64, which holds those of the smallest bins and the largest
/// points.
struct Bin {
  double row = 0, col = 0;
  CONTORNO_HD bool operator==(const Bin& other) const { return row == other.row && col == other.col; }
};

/// Whether points are nearer to each other than `distance` px, which is 0 or more. Equal points always are,
/// points with a coordinate that is infinite or no number never.
class Nearness {
 public:
  explicit Nearness(double distance) {
    // Numbers of float32 that differ do so by this much at least: within it are equal points alone.
    constexpr double kLeastDifference = 0x1p-149;
    is_equality_ = distance <= kLeastDifference;
    const double least = is_equality_ ? kLeastDifference : distance;
    square_ = least * least;
    bins_a_px_ = std::sqrt(2.0) * (1 + kMargin) / least;
  }

  CONTORNO_HD bool operator()(const Point& a, const Point& b) const {
    return squared_distance(a, b) < square_;
  }
  /// The bin of a point, which is finite.
  CONTORNO_HD Bin bin_of(const Point& p) const {
    return {std::floor(static_cast<double>(p.row) * bins_a_px_),
            std::floor(static_cast<double>(p.col) * bins_a_px_)};
  }
  CONTORNO_HD double bins_a_px() const { return bins_a_px_; }
  /// Whether only equal points are near, so that bins around each other have none that are.
  CONTORNO_HD bool is_equality() const { return is_equality_; }

  /// Bins are smaller by this part than those whose diagonal is the distance. Two points of a bin are near in
  /// spite of rounding: up to 2^33 bins from 0 it moves a point by less than 2^-18 of a bin, and beyond that
  /// numbers of float32 that differ lie in different bins.
  static constexpr double kMargin = 0x1p-16;

 private:
  double square_ = 0, bins_a_px_ = 0;
  bool is_equality_ = false;
};

/// How many bins lie around a bin and can have points near some point of it. Half of them, its half
/// neighbourhood, lie behind it in the order of rows and columns: who goes through all bins and compares each
/// with that half has compared every two bins around each other once.
inline constexpr int kBinsAround = 24;
/// The bin around `bin` with the number 1 to kBinsAround; 0: `bin`. The numbers up to kBinsAround / 2 are
/// those of the half neighbourhood.
CONTORNO_HD inline Bin bin_around(const Bin& bin, int number) {
  const int place = (number + kBinsAround / 2) % (kBinsAround + 1);
  const int rows = place / 5 - 2, cols = place % 5 - 2;
  return {bin.row + rows, bin.col + cols};
}

/// Where a bin is in a table of hashes: what its row says, and its column. Bins beside each other in a row
/// come into buckets beside each other. Bins with one bucket may be different ones: who reads a bucket
/// compares bins. The tag tells most of them apart before; rows less than 2^31 apart have different ones. It
/// has 31 bits, so that its owner has one for itself (BinTable::kMore).
class BinHash {
 public:
  CONTORNO_HD explicit BinHash(const Bin& bin) : row_(number(bin.row) * kMix) { set_col(bin.col); }
  CONTORNO_HD void set_col(double col) { col_ = static_cast<std::uint32_t>(number(col)); }
  /// The caller takes as many low bits as it needs.
  CONTORNO_HD std::uint32_t bucket() const { return static_cast<std::uint32_t>(row_ >> 32) + col_; }
  CONTORNO_HD std::uint32_t tag() const { return static_cast<std::uint32_t>(row_) & 0x7fffffffU; }

 private:
  static constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;

  /// A whole number; beyond 2^52 its bits, mixed, because int64 need not hold it. From 2^53 on float64 skips
  /// whole numbers: coordinates of bins around each other may be equal there. But then a bin is smaller than
  /// the distance of numbers of float32 that differ, and only equal points, of one bin, are near.
  CONTORNO_HD static std::uint64_t number(double whole) {
    if (whole > -0x1p52 && whole < 0x1p52)
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(whole));
    return bits_of(whole) * kMix >> 32;
  }

  std::uint64_t row_;
  std::uint32_t col_ = 0;
};

/// Goes through the bins around that of a point which can have points near it:
/// `for (BinsAround around(nearness, point, bin); around.next();) look_at(around.bin());`
class BinsAround {
 public:
  CONTORNO_HD BinsAround(const Nearness& nearness, const Point& p, const Bin& bin)
      : bin_(bin),
        hash_(bin),
        row_(place(nearness, p.row, bin.row)),
        col_(place(nearness, p.col, bin.col)),
        row_step_(nearness.is_equality() ? 2 : -3) {}

  CONTORNO_HD bool next() {
    for (;;) {
      if (++col_step_ > 2) {
        if (++row_step_ > 2) return false;
        col_step_ = -2;
        rows_ = square(gap(row_step_, row_));
        hash_ = BinHash(Bin{bin_.row + row_step_, bin_.col});
      }
      if (rows_ + square(gap(col_step_, col_)) < kReach && (row_step_ != 0 || col_step_ != 0)) return true;
    }
  }
  CONTORNO_HD Bin bin() const { return {bin_.row + row_step_, bin_.col + col_step_}; }
  /// Whether the bin `number` around that of a point (bin_around; 0: its own) can have points near it.
  CONTORNO_HD static bool reaches(const Nearness& nearness, const Point& p, const Bin& bin, int number) {
    const Bin other = bin_around(bin, number);
    const double rows = gap(static_cast<int>(other.row - bin.row), place(nearness, p.row, bin.row)),
                 cols = gap(static_cast<int>(other.col - bin.col), place(nearness, p.col, bin.col));
    return number == 0 || (!nearness.is_equality() && square(rows) + square(cols) < kReach);
  }
  CONTORNO_HD BinHash hash() {
    hash_.set_col(bin_.col + col_step_);
    return hash_;
  }

 private:
  /// The square of the distance in bins is less than 2 * (1 + kMargin)^2.
  static constexpr double kReach = 2 * (1 + 4 * Nearness::kMargin);

  CONTORNO_HD static double square(double v) { return v * v; }
  /// A coordinate's place in its bin, 0 to 1.
  CONTORNO_HD static double place(const Nearness& nearness, float coordinate, double bin) {
    return static_cast<double>(coordinate) * nearness.bins_a_px() - bin;
  }
  /// The distance from a place in a bin, 0 to 1, to the bin that is `step` bins ahead.
  CONTORNO_HD static double gap(int step, double place) {
    return step > 0 ? step - place : step < 0 ? place - step - 1 : 0;
  }

  Bin bin_;
  BinHash hash_;
  double row_, col_;             // the place in the bin, 0 to 1
  double rows_ = 0;              // the square of the distance to the row of bins
  int row_step_, col_step_ = 2;  // of the bin before the first one, or of the last one where there is none
};

// The bins of one class on the host, with lists of points: a table of hashes in planned memory.

/// Points are known by their numbers in the arrays of the frame.
class BinTable {
 public:
  static constexpr std::uint32_t kNone = ~0U;
  static constexpr std::uint32_t kMore = 1U << 31;  ///< the bit that no tag has

  struct Bucket {
    std::uint32_t entry = kNone;  ///< the newest one
    std::uint32_t tag = 0;        ///< tag of the newest entry, with kMore if it is not the only one
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
  /// The newest point of a bin, to be written; adds the bin when it is new. No more bins than points may be
  /// added.
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
