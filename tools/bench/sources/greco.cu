// What the host does around L. V. Greco's kernels: memory, launches, times.
#include <algorithm>
#include <climits>

#include "tools/bench/sources/device.cuh"
#include "tools/bench/sources/greco.h"
#include "tools/bench/sources/greco_kernels.cuh"

namespace contorno::sources {
namespace {

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
