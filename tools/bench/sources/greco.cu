// L. V. Greco's kernels, written anew from sections 3, 5 and 6 of his document.
#include <climits>

#include <algorithm>

#include "tools/bench/sources/device.cuh"
#include "tools/bench/sources/greco.h"

namespace contorno::sources {
namespace {

constexpr unsigned kBlock = 256;  // local work size of most of his kernels
constexpr int kPatch = 8;         // side of a patch for closeness and distances
constexpr int kLargePatch = 64;   // for duplicates, whose blocks have 128 threads

/// Points as two arrays.
struct Apart {
  const int *x, *y;
  __device__ int2 operator()(std::uint64_t i) const { return make_int2(x[i], y[i]); }
};
/// Points as one array.
struct Together {
  const int2* points;
  __device__ int2 operator()(std::uint64_t i) const { return points[i]; }
};

__device__ int square_between(int2 a, int2 b) {
  return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

// Points under a brush
// ---------------------------------------------------------------------------------------

/// Four points a thread; x, y and flags have a whole number of quarters.
__global__ void brush_flags_by_four(int quarters, const int4* x, const int4* y, const int* brush_x,
                                    const int* brush_y, int brushed, int4* flags) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= quarters) return;
  const int4 own_x = x[at], own_y = y[at];
  int4 keep = make_int4(1, 1, 1, 1);
  for (int i = 0; i < brushed; ++i) {
    const int bx = brush_x[i], by = brush_y[i];
    keep.x &= own_x.x != bx || own_y.x != by;
    keep.y &= own_x.y != bx || own_y.y != by;
    keep.z &= own_x.z != bx || own_y.z != by;
    keep.w &= own_x.w != bx || own_y.w != by;
  }
  flags[at] = keep;
}

/// Two points, an int4, a thread.
__global__ void brush_flags_by_two(int halves, const int4* points, const int2* brush, int brushed,
                                   int2* flags) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= halves) return;
  const int4 own = points[at];
  int2 keep = make_int2(1, 1);
  for (int i = 0; i < brushed; ++i) {
    const int2 under = brush[i];
    keep.x &= own.x != under.x || own.y != under.y;
    keep.y &= own.z != under.x || own.w != under.y;
  }
  flags[at] = keep;
}

// Stream compaction
// ------------------------------------------------------------------------------------------

constexpr unsigned kGroups = 64;  // of his scan with a sliding window: each has a part of the array

/// Inclusive scan of a group's part, window after window.
__global__ void scan_parts(const int* flags, int* positions, int* sums, int count) {
  __shared__ int window[kBlock];
  const int part = (count + static_cast<int>(kGroups) - 1) / static_cast<int>(kGroups),
            first = static_cast<int>(blockIdx.x) * part;
  const int end = min(first + part, count), local = static_cast<int>(threadIdx.x);
  int before = 0;
  for (int begin = first; begin < end; begin += static_cast<int>(kBlock)) {
    window[local] = begin + local < end ? flags[begin + local] : 0;
    __syncthreads();
    for (int reach = 1; reach < static_cast<int>(kBlock); reach *= 2) {
      const int value = local >= reach ? window[local - reach] : 0;
      __syncthreads();
      window[local] += value;
      __syncthreads();
    }
    if (begin + local < end) positions[begin + local] = before + window[local];
    before += window[kBlock - 1];
    __syncthreads();
  }
  if (local == 0) sums[blockIdx.x] = before;
}

__global__ void add_sums(int* positions, const int* sums, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int part = (count + static_cast<int>(kGroups) - 1) / static_cast<int>(kGroups);
  if (at >= count) return;
  int before = 0;
  for (int group = 0; group < at / part; ++group) before += sums[group];
  positions[at] += before;
}

__global__ void move_apart(const int* x, const int* y, int* out_x, int* out_y, const int* flags,
                           const int* positions, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= count || flags[at] == 0) return;
  const int to = at == 0 ? 0 : positions[at - 1];
  out_x[to] = x[at], out_y[to] = y[at];
}

__global__ void move_together(const int2* points, int2* out, const int* flags, const int* positions,
                              int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= count || flags[at] == 0) return;
  out[at == 0 ? 0 : positions[at - 1]] = points[at];
}

// Small contours
// ---------------------------------------------------------------------------------------------

__global__ void size_flags(const int* sizes, int* flags, int contours, int least) {
  const int contour = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (contour < contours) flags[contour] = sizes[contour] >= least ? 1 : 0;
}

/// The contour of every point, found in the inclusive scan of the sizes.
__global__ void fill_afference(const int* ends, int contours, int* afference, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= count) return;
  int first = 0, last = contours - 1;
  while (first < last) {
    const int middle = (first + last) / 2;
    if (at < ends[middle])
      last = middle;
    else
      first = middle + 1;
  }
  afference[at] = first;
}

__global__ void small_flags(const int* afference, const int* of_contours, int* flags, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at < count) flags[at] = of_contours[afference[at]];
}

// Pairs of points
// --------------------------------------------------------------------------------------------

__global__ void fill_affiliation(const int* begins, int contours, int* affiliation) {
  const int contour = static_cast<int>(blockIdx.x);
  if (contour >= contours) return;
  for (int i = begins[contour] + static_cast<int>(threadIdx.x); i < begins[contour + 1];
       i += static_cast<int>(blockDim.x))
    affiliation[i] = contour;
}

/// Row and column of entry `at` of the upper triangle of a matrix of `side`, without its diagonal.
__device__ bool pair_of(std::uint64_t at, std::uint64_t side, std::uint64_t& row, std::uint64_t& col) {
  if (at >= side * (side - 1) / 2) return false;
  row = side - 2 -
        static_cast<std::uint64_t>(
            floor(sqrt(-8.0 * static_cast<double>(at) +
                       4.0 * static_cast<double>(side) * static_cast<double>(side - 1) - 7.0) /
                      2.0 -
                  0.5));
  // His formula, whose root is rounded: one row more or less for large matrices.
  const auto before = [side](std::uint64_t r) { return r * (2 * side - r - 1) / 2; };
  while (before(row + 1) <= at) ++row;
  while (before(row) > at) --row;
  col = at - before(row) + row + 1;
  return true;
}

/// A thread looks for an earlier point near each of its four.
__global__ void duplicate_flags_by_four(int quarters, const int4* x, const int4* y, int square, int4* flags) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= quarters) return;
  const int4 own_x = x[at], own_y = y[at];
  int4 keep = make_int4(1, 1, 1, 1);
  const auto test = [&](int px, int py, int own, int& flag, int i, int begin) {
    const int ox = own == 0 ? own_x.x : own == 1 ? own_x.y : own == 2 ? own_x.z : own_x.w;
    const int oy = own == 0 ? own_y.x : own == 1 ? own_y.y : own == 2 ? own_y.z : own_y.w;
    if (begin + i < 4 * at + own && (px - ox) * (px - ox) + (py - oy) * (py - oy) < square) flag = 0;
  };
  for (int i = 0; i <= at; ++i) {
    const int4 px = x[i], py = y[i];
    const int xs[4] = {px.x, px.y, px.z, px.w}, ys[4] = {py.x, py.y, py.z, py.w};
    for (int k = 0; k < 4; ++k) {
      test(xs[k], ys[k], 0, keep.x, k, 4 * i);
      test(xs[k], ys[k], 1, keep.y, k, 4 * i);
      test(xs[k], ys[k], 2, keep.z, k, 4 * i);
      test(xs[k], ys[k], 3, keep.w, k, 4 * i);
    }
  }
  flags[at] = keep;
}

__global__ void duplicate_flags(Together points, int count, int square, int* flags) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= count) return;
  const int2 own = points(static_cast<std::uint64_t>(at));
  int keep = 1;
  for (int i = 0; i < at; ++i)
    if (square_between(points(static_cast<std::uint64_t>(i)), own) < square) keep = 0;
  flags[at] = keep;
}

__global__ void fill(int* values, int count, int value) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at < count) values[at] = value;
}

/// The points of patch (row, col) of the matrix of pairs: calls pair(i, j) for i < j.
template <int kSide, class Pair>
__device__ void in_patch(int count, const Pair& pair) {
  const std::uint64_t side = static_cast<std::uint64_t>((count + kSide - 1) / kSide);
  const std::uint64_t at = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  std::uint64_t row = 0, col = 0;
  // With its diagonal, a triangle of `side` is one of side + 1 without.
  if (!pair_of(at, side + 1, row, col)) return;
  --col;
  const int first_i = static_cast<int>(row) * kSide, first_j = static_cast<int>(col) * kSide;
  for (int i = first_i; i < min(first_i + kSide, count); ++i)
    for (int j = max(first_j, i + 1); j < min(first_j + kSide, count); ++j) pair(i, j);
}

__global__ void duplicate_patches(Together points, int count, int square, int* flags) {
  in_patch<kLargePatch>(count, [&](int i, int j) {
    if (square_between(points(static_cast<std::uint64_t>(i)), points(static_cast<std::uint64_t>(j))) < square)
      flags[j] = 0;
  });
}

template <class Points>
__global__ void closeness(Points points, const int* affiliation, char* close, int count, int contours,
                          int square) {
  std::uint64_t i = 0, j = 0;
  if (!pair_of(std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x, static_cast<std::uint64_t>(count), i, j))
    return;
  const int a = affiliation[i], b = affiliation[j];
  if (a != b && square_between(points(i), points(j)) < square)
    close[static_cast<std::size_t>(a) * contours + b] = 1;
}

__global__ void closeness_patches(Together points, const int* affiliation, char* close, int count,
                                  int contours, int square) {
  in_patch<kPatch>(count, [&](int i, int j) {
    const int a = affiliation[i], b = affiliation[j];
    if (a != b &&
        square_between(points(static_cast<std::uint64_t>(i)), points(static_cast<std::uint64_t>(j))) < square)
      close[static_cast<std::size_t>(a) * contours + b] = 1;
  });
}

template <class Points>
__global__ void distances(Points points, const int* affiliation, int* least, int count, int contours) {
  std::uint64_t i = 0, j = 0;
  if (!pair_of(std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x, static_cast<std::uint64_t>(count), i, j))
    return;
  const int a = affiliation[i], b = affiliation[j];
  if (a != b)
    atomicMin(&least[static_cast<std::size_t>(a) * contours + b], square_between(points(i), points(j)));
}

/// The least of a patch goes to the matrix once for each pair of contours that follow each other in it.
__global__ void distance_patches(Together points, const int* affiliation, int* least, int count,
                                 int contours) {
  int a = -1, b = -1, found = INT_MAX;
  const auto give = [&] {
    if (a >= 0 && a != b) atomicMin(&least[static_cast<std::size_t>(a) * contours + b], found);
  };
  in_patch<kPatch>(count, [&](int i, int j) {
    if (affiliation[i] != a || affiliation[j] != b) {
      give();
      a = affiliation[i], b = affiliation[j], found = INT_MAX;
    }
    found = min(found,
                square_between(points(static_cast<std::uint64_t>(i)), points(static_cast<std::uint64_t>(j))));
  });
  give();
}

// Merged contours
// --------------------------------------------------------------------------------------------

/// Where point `at` goes, when the contours of a group follow each other.
__device__ int place_of(int at, const int* affiliation, const int* begins, const int* places) {
  const int contour = affiliation[at];
  return places[contour] + at - begins[contour];
}

__global__ void realign_apart(Apart points, int* out_x, int* out_y, const int* affiliation, const int* begins,
                              const int* places, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= count) return;
  const int to = place_of(at, affiliation, begins, places);
  out_x[to] = points.x[at], out_y[to] = points.y[at];
}

__global__ void realign_together(Together points, int2* out, const int* affiliation, const int* begins,
                                 const int* places, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= count) return;
  out[place_of(at, affiliation, begins, places)] = points.points[at];
}

// Host
// -------------------------------------------------------------------------------------------------------

/// Points on the device in the form of a version, padded to whole quarters with points that nothing equals.
class OnDevice {
 public:
  OnDevice(const PlainContours& contours, GrecoVersion version)
      : count_(static_cast<int>(contours.points())),
        padded_(4 * blocks_for(contours.points(), 4)),
        x_(version == GrecoVersion::Int4 ? padded_ : 0),
        y_(version == GrecoVersion::Int4 ? padded_ : 0),
        points_(version == GrecoVersion::Int4 ? 0 : padded_) {
    constexpr int kNowhere = -30000;
    if (version == GrecoVersion::Int4) {
      std::vector<int> x = contours.x, y = contours.y;
      x.resize(padded_, kNowhere), y.resize(padded_, kNowhere);
      x_.set(x), y_.set(y);
      return;
    }
    std::vector<int2> points(padded_, make_int2(kNowhere, kNowhere));
    for (std::size_t i = 0; i < contours.points(); ++i) points[i] = make_int2(contours.x[i], contours.y[i]);
    points_.set(points);
  }
  int count() const { return count_; }
  unsigned padded() const { return padded_; }
  Apart apart() const { return {x_.get(), y_.get()}; }
  Together together() const { return {points_.get()}; }
  const int4* x4() const { return reinterpret_cast<const int4*>(x_.get()); }
  const int4* y4() const { return reinterpret_cast<const int4*>(y_.get()); }

 private:
  int count_;
  unsigned padded_;
  DeviceArray<int> x_, y_;
  DeviceArray<int2> points_;
};

/// The inclusive scan of `values`; `sums` has a value a group.
void scan(const DeviceArray<int>& values, const DeviceArray<int>& positions, const DeviceArray<int>& sums,
          int count) {
  scan_parts<<<kGroups, kBlock>>>(values.get(), positions.get(), sums.get(), count);
  add_sums<<<blocks_for(static_cast<std::size_t>(count), kBlock), kBlock>>>(positions.get(), sums.get(),
                                                                            count);
}

/// Scan and move; the sizes of contours follow from the positions on the host.
PlainContours compacted(const PlainContours& contours, const OnDevice& in, const DeviceArray<int>& flags,
                        GrecoVersion version, GrecoTimes& times) {
  const int count = in.count();
  const DeviceArray<int> positions(static_cast<std::size_t>(count)), sums(kGroups);
  DeviceClock clock;
  clock.start();
  scan(flags, positions, sums, count);
  times.scan = clock.stop();
  const std::vector<int> ends = positions.read();
  const std::size_t remaining = count > 0 ? static_cast<std::size_t>(ends.back()) : 0;
  PlainContours out;
  clock.start();
  if (version == GrecoVersion::Int4) {
    DeviceArray<int> x(remaining), y(remaining);
    clock.start();
    move_apart<<<blocks_for(static_cast<std::size_t>(count), kBlock), kBlock>>>(
        in.apart().x, in.apart().y, x.get(), y.get(), flags.get(), positions.get(), count);
    times.move = clock.stop();
    out.x = x.read(), out.y = y.read();
  } else {
    DeviceArray<int2> points(remaining);
    clock.start();
    move_together<<<blocks_for(static_cast<std::size_t>(count), kBlock), kBlock>>>(
        in.together().points, points.get(), flags.get(), positions.get(), count);
    times.move = clock.stop();
    for (const int2& point : points.read()) out.x.push_back(point.x), out.y.push_back(point.y);
  }
  for (std::size_t c = 0; c < contours.contours(); ++c) {
    const int end =
        contours.begins[c + 1] == 0 ? 0 : ends[static_cast<std::size_t>(contours.begins[c + 1] - 1)];
    if (end > out.begins.back()) out.begins.push_back(end);
  }
  return out;
}

DeviceArray<int> affiliations(const PlainContours& contours, GrecoTimes& times) {
  DeviceArray<int> affiliation(contours.points());
  const DeviceArray<int> begins(contours.begins);
  DeviceClock clock;
  clock.start();
  fill_affiliation<<<static_cast<unsigned>(contours.contours()), kBlock>>>(
      begins.get(), static_cast<int>(contours.contours()), affiliation.get());
  times.affiliation = clock.stop();
  return affiliation;
}

/// The points of merged contours side by side.
PlainContours realigned(const PlainContours& contours, const OnDevice& in,
                        const DeviceArray<int>& affiliation, const MergedPlaces& merge, GrecoVersion version,
                        GrecoTimes& times) {
  const DeviceArray<int> begins(contours.begins), places(merge.places);
  const unsigned blocks = blocks_for(contours.points(), kBlock);
  PlainContours out{.x = {}, .y = {}, .begins = merge.begins};
  DeviceClock clock;
  if (version == GrecoVersion::Int4) {
    const DeviceArray<int> x(contours.points()), y(contours.points());
    clock.start();
    realign_apart<<<blocks, kBlock>>>(in.apart(), x.get(), y.get(), affiliation.get(), begins.get(),
                                      places.get(), in.count());
    times.realign = clock.stop();
    out.x = x.read(), out.y = y.read();
  } else {
    const DeviceArray<int2> points(contours.points());
    clock.start();
    realign_together<<<blocks, kBlock>>>(in.together(), points.get(), affiliation.get(), begins.get(),
                                         places.get(), in.count());
    times.realign = clock.stop();
    for (const int2& point : points.read()) out.x.push_back(point.x), out.y.push_back(point.y);
  }
  return out;
}

unsigned blocks_for_pairs(std::uint64_t side, unsigned block) {
  return blocks_for(side * (side - 1) / 2, block);
}
unsigned blocks_for_patches(int count, int patch, unsigned block) {
  return blocks_for_pairs(static_cast<std::uint64_t>((count + patch - 1) / patch) + 1, block);
}

}  // namespace

PlainContours brushed_on_device(const PlainContours& contours, const Brush& brush, GrecoVersion version,
                                GrecoTimes* times) {
  GrecoTimes own;
  const OnDevice in(contours, version);
  const DeviceArray<int> flags(in.padded());
  const int brushed = static_cast<int>(brush.x.size());
  DeviceClock clock;
  if (version == GrecoVersion::Int4) {
    const DeviceArray<int> x(brush.x), y(brush.y);
    clock.start();
    brush_flags_by_four<<<blocks_for(in.padded() / 4, kBlock), kBlock>>>(
        static_cast<int>(in.padded() / 4), in.x4(), in.y4(), x.get(), y.get(), brushed,
        reinterpret_cast<int4*>(flags.get()));
    own.flags = clock.stop();
  } else {
    std::vector<int2> points;
    for (std::size_t i = 0; i < brush.x.size(); ++i) points.push_back(make_int2(brush.x[i], brush.y[i]));
    const DeviceArray<int2> under(points);
    clock.start();
    brush_flags_by_two<<<blocks_for(in.padded() / 2, kBlock), kBlock>>>(
        static_cast<int>(in.padded() / 2), reinterpret_cast<const int4*>(in.together().points), under.get(),
        brushed, reinterpret_cast<int2*>(flags.get()));
    own.flags = clock.stop();
  }
  PlainContours out = compacted(contours, in, flags, version, own);
  if (times != nullptr) *times = own;
  return out;
}

PlainContours large_on_device(const PlainContours& contours, int least, GrecoVersion version,
                              GrecoTimes* times) {
  constexpr unsigned kThreads = 128;  // his local work size for this step
  GrecoTimes own;
  const OnDevice in(contours, version);
  const int number = static_cast<int>(contours.contours());
  std::vector<int> lengths;
  for (std::size_t c = 0; c < contours.contours(); ++c)
    lengths.push_back(contours.begins[c + 1] - contours.begins[c]);
  const DeviceArray<int> sizes(lengths), of_contours(lengths.size()), ends(lengths.size()), sums(kGroups);
  const DeviceArray<int> afference(contours.points()), flags(in.padded());
  size_flags<<<blocks_for(lengths.size(), kThreads), kThreads>>>(sizes.get(), of_contours.get(), number,
                                                                 least);
  scan(sizes, ends, sums, number);
  const unsigned blocks = blocks_for(contours.points(), kThreads);
  DeviceClock clock;
  clock.start();
  fill_afference<<<blocks, kThreads>>>(ends.get(), number, afference.get(), in.count());
  own.afference = clock.stop();
  clock.start();
  small_flags<<<blocks, kThreads>>>(afference.get(), of_contours.get(), flags.get(), in.count());
  own.flags = clock.stop();
  PlainContours out = compacted(contours, in, flags, version, own);
  if (times != nullptr) *times = own;
  return out;
}

PlainContours unique_on_device(const PlainContours& contours, int distance, GrecoVersion version,
                               GrecoTimes* times) {
  GrecoTimes own;
  const OnDevice in(contours, version);
  const DeviceArray<int> flags(in.padded());
  const int square = distance * distance;
  DeviceClock clock;
  clock.start();
  if (version == GrecoVersion::Int4) {
    duplicate_flags_by_four<<<blocks_for(in.padded() / 4, 128), 128>>>(
        static_cast<int>(in.padded() / 4), in.x4(), in.y4(), square, reinterpret_cast<int4*>(flags.get()));
  } else if (version == GrecoVersion::Int2) {
    duplicate_flags<<<blocks_for(contours.points(), 128), 128>>>(in.together(), in.count(), square,
                                                                 flags.get());
  } else {
    fill<<<blocks_for(contours.points(), kBlock), kBlock>>>(flags.get(), in.count(), 1);
    duplicate_patches<<<blocks_for_patches(in.count(), kLargePatch, 128), 128>>>(in.together(), in.count(),
                                                                                 square, flags.get());
  }
  own.flags = clock.stop();
  PlainContours out = compacted(contours, in, flags, version, own);
  if (times != nullptr) *times = own;
  return out;
}

PlainContours merged_on_device(const PlainContours& contours, int distance, GrecoVersion version,
                               GrecoTimes* times) {
  GrecoTimes own;
  const OnDevice in(contours, version);
  const int number = static_cast<int>(contours.contours()), square = distance * distance;
  const DeviceArray<int> affiliation = affiliations(contours, own);
  DeviceArray<char> close(contours.contours() * contours.contours());
  close.clear();
  DeviceClock clock;
  clock.start();
  if (version == GrecoVersion::Int4)
    closeness<<<blocks_for_pairs(contours.points(), 32), 32>>>(in.apart(), affiliation.get(), close.get(),
                                                               in.count(), number, square);
  else if (version == GrecoVersion::Int2)
    closeness<<<blocks_for_pairs(contours.points(), 32), 32>>>(in.together(), affiliation.get(), close.get(),
                                                               in.count(), number, square);
  else
    closeness_patches<<<blocks_for_patches(in.count(), kPatch, kBlock), kBlock>>>(
        in.together(), affiliation.get(), close.get(), in.count(), number, square);
  own.flags = clock.stop();
  PlainContours out =
      realigned(contours, in, affiliation, merged_places(contours, close.read()), version, own);
  if (times != nullptr) *times = own;
  return out;
}

PlainContours ordered_on_device(const PlainContours& contours, GrecoVersion version, GrecoTimes* times) {
  GrecoTimes own;
  const OnDevice in(contours, version);
  const int number = static_cast<int>(contours.contours());
  const DeviceArray<int> affiliation = affiliations(contours, own);
  const std::size_t cells = contours.contours() * contours.contours();
  DeviceArray<int> least(cells);
  fill<<<blocks_for(cells, kBlock), kBlock>>>(least.get(), static_cast<int>(cells), INT_MAX);
  DeviceClock clock;
  clock.start();
  if (version == GrecoVersion::Int4)
    distances<<<blocks_for_pairs(contours.points(), 32), 32>>>(in.apart(), affiliation.get(), least.get(),
                                                               in.count(), number);
  else if (version == GrecoVersion::Int2)
    distances<<<blocks_for_pairs(contours.points(), 32), 32>>>(in.together(), affiliation.get(), least.get(),
                                                               in.count(), number);
  else
    distance_patches<<<blocks_for_patches(in.count(), kPatch, kBlock), kBlock>>>(
        in.together(), affiliation.get(), least.get(), in.count(), number);
  own.flags = clock.stop();
  if (times != nullptr) *times = own;
  return ordered(contours, least.read());
}

}  // namespace contorno::sources
