// On a device: many levels of a map. What is found is compared, level by level and bit for bit, with what the
// engine finds at that level alone; its time with that of reading the map ten times and writing as many bytes
// as the points have.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/memory.h"
#include "cuda/stream.h"
#include "stages/contours/cuda/engine.h"
#include "stages/diamond_square/field.h"

namespace contorno::testing {

/// The maps: distances from a point; terrain by Diamond-Square, as `tools/bench/levels` has both; and hills
/// on hills, with many more contours.
enum class LevelsMap { Gradient, Terrain, Hills };

inline const char* name_of(LevelsMap map) {
  constexpr const char* kNames[] = {"gradient", "terrain", "hills"};
  return kNames[static_cast<int>(map)];
}

/// side x side samples.
inline std::vector<float> samples_of(LevelsMap map, int side) {
  std::vector<float> samples(static_cast<std::size_t>(side) * static_cast<std::size_t>(side));
  if (map == LevelsMap::Terrain) {
    const ImageFormat format{
        .width = side, .height = side, .channels = 1, .type = ElementType::F32, .layout = Layout::Planar};
    const auto pitch = static_cast<std::ptrdiff_t>(sizeof(float)) * side;
    diamond_square({.seed = 1, .exponent = 12, .roughness = 1.4},
                   {samples.data(), format, pitch, pitch * side}, 2);
    return samples;
  }
  std::size_t at = 0;
  for (int row = 0; row < side; ++row)
    for (int col = 0; col < side; ++col) {
      const double x = static_cast<double>(col) / side, y = static_cast<double>(row) / side;
      const double heights = 0.5 + 0.25 * std::sin(9 * x + 4 * y) * std::cos(11 * y) +
                             0.1 * std::sin(57 * x) * std::sin(71 * y) +
                             0.03 * std::sin(310 * x + 3) * std::sin(290 * y) +
                             0.005 * std::sin(1700 * x) * std::cos(1500 * y);
      samples[at++] =
          static_cast<float>(map == LevelsMap::Hills ? heights : std::hypot(x - 0.244, y - 0.171) / 1.22);
    }
  return samples;
}

/// `count` levels of a map: of terrain between its lowest and its highest sample, else of values up to 1.
inline std::vector<double> levels_of(LevelsMap map, const std::vector<float>& samples, int count) {
  std::vector<double> levels;
  const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
  for (int i = 0; i < count; ++i)
    levels.push_back(map == LevelsMap::Terrain
                         ? double{*low} + (double{*high} - double{*low}) * (i + 1.0) / (count + 1)
                         : (i + 0.5) * 0.95 / count);
  return levels;
}

/// An engine with memory for one frame of a map in device memory, whose channels have as many levels each. A
/// single level is a plane of its own, as in a graph without several levels.
class LevelsRun {
 public:
  LevelsRun(const ImageView& map, std::vector<double> levels, std::uint64_t points, std::uint64_t contours,
            const Stream& stream)
      : map_(map), stream_(stream) {
    spec_.map = map.format;
    if (levels.size() > 1)
      spec_.channel_levels.assign(static_cast<std::size_t>(map.format.channels),
                                  static_cast<int>(levels.size()) / map.format.channels);
    spec_.levels = std::move(levels);
    spec_.point_capacity = points, spec_.contour_capacity = contours;
    workspace_ = Block(engine_.plan(spec_), MemoryKind::Device);
    begin_ = Block((spec_.planes() + 1) * sizeof(std::uint32_t), MemoryKind::Device);
    format_ = {.classes = map.format.channels,
               .point_capacity = points,
               .contour_capacity = contours,
               .placement = {},
               .attributes = Attributes(Attribute::Level)};
    out_ = Block(packed_bytes(format_), MemoryKind::Device);
    fill_async(out_.data(), 0x5C, out_.size(), stream_.get());  // download reads all of it
    engine_.prepare(workspace_.data(), stream_.get());
  }

  void enqueue() const {
    const ContoursView out = packed_view(out_.data(), format_);
    if (spec_.channel_levels.empty())
      engine_.enqueue(map_, MaskView{}, workspace_.data(), out, stream_.get());
    else
      engine_.enqueue_classes(map_, workspace_.data(), reinterpret_cast<std::uint32_t*>(begin_.data()), out,
                              stream_.get());
  }
  std::size_t workspace_bytes() const { return workspace_.size(); }

  /// What was found last, in host memory.
  ContoursView download(Block& host) const {
    if (host.size() < out_.size()) host = Block(out_.size(), MemoryKind::Pinned);
    copy_async(host.data(), out_.data(), out_.size(), stream_.get());
    stream_.synchronize();
    return packed_view(host.data(), format_);
  }
  /// Where the contours of each level begin.
  std::vector<std::uint32_t> begins() const {
    std::vector<std::uint32_t> begin(spec_.planes() + 1);
    copy_async(begin.data(), begin_.data(), begin.size() * sizeof(std::uint32_t), stream_.get());
    stream_.synchronize();
    return begin;
  }

 private:
  ImageView map_;
  const Stream& stream_;
  ContourEngineSpec spec_;
  ContoursFormat format_;
  CudaContourEngine engine_;
  Block workspace_, begin_, out_;
};

/// Whether contours [begin, end) of `all` are those of `one`.
inline bool same_contours(const ContoursView& all, std::uint32_t begin, std::uint32_t end,
                          const ContoursView& one, double level) {
  if (end - begin != one.counts->contours) return false;
  const std::uint32_t first = all.offsets[begin];
  for (std::uint32_t i = 0; i < end - begin; ++i)
    if (all.offsets[begin + i + 1] - first != one.offsets[i + 1] || all.closed[begin + i] != one.closed[i] ||
        all.column(Attribute::Level)[begin + i] != level)
      return false;
  return std::memcmp(all.points + first, one.points, one.counts->points * sizeof(Point)) == 0;
}

/// Of the contours of many levels, how many levels have others than a run for each alone finds.
inline int levels_that_differ(const ImageView& map, const std::vector<double>& levels,
                              const ContoursView& found, const std::vector<std::uint32_t>& begin,
                              const Stream& stream) {
  int differ = 0;
  Block host;
  const auto channels = static_cast<std::size_t>(map.format.channels);
  for (std::size_t plane = 0; plane < levels.size(); ++plane) {
    ImageView channel = map;
    channel.format.channels = 1;
    channel.data = static_cast<std::byte*>(map.data) +
                   static_cast<std::ptrdiff_t>(plane / (levels.size() / channels)) * map.plane_pitch;
    const std::uint32_t first = begin[plane], end = begin[plane + 1];
    const LevelsRun one(channel, {levels[plane]}, found.offsets[end] - found.offsets[first] + 1,
                        end - first + 1, stream);
    one.enqueue();
    differ += same_contours(found, first, end, one.download(host), levels[plane]) ? 0 : 1;
  }
  return differ;
}

/// Finds `count` levels of each of `channels` parts of a map, one below the other; compares each with a run
/// of the engine for it alone, and prints times of `rounds` runs. False: a level differs.
inline bool find_many_levels(LevelsMap of, int side, int count, int rounds, int channels = 1) {
  const std::vector<float> samples = samples_of(of, side);
  const Stream stream = Stream::create();
  const std::size_t bytes = samples.size() * sizeof(float);
  const Block memory(bytes, MemoryKind::Device), copy(bytes, MemoryKind::Device);
  copy_async(memory.data(), samples.data(), bytes, stream.get());
  const ImageView map{memory.data(),
                      {.width = side,
                       .height = side / channels,
                       .channels = channels,
                       .type = ElementType::F32,
                       .layout = Layout::Planar},
                      static_cast<std::ptrdiff_t>(sizeof(float)) * side,
                      static_cast<std::ptrdiff_t>(bytes) / channels};
  std::vector<double> levels;
  for (int k = 0; k < channels; ++k)
    for (const double level : levels_of(of, samples, count)) levels.push_back(level);
  const std::uint64_t room = samples.size() / 2 + std::uint64_t{1200} * static_cast<std::uint64_t>(side);
  const LevelsRun all(map, levels, room, room / 16, stream);
  std::vector<double> times[2];
  std::uint64_t point_bytes = 0;
  Block host;
  // The first round warms up, and says how many points there are.
  for (int round = 0; round <= rounds; ++round)
    for (const int which : {0, 1}) {
      stream.synchronize();
      const auto start = std::chrono::steady_clock::now();
      if (which == 0) {
        all.enqueue();
      } else {
        // A copy reads as much as it writes.
        for (int i = 0; i < 5; ++i) copy_async(copy.data(), memory.data(), bytes, stream.get());
        fill_async(copy.data(), round, std::min<std::size_t>(point_bytes, bytes), stream.get());
      }
      stream.synchronize();
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
      if (round > 0) times[which].push_back(took.count());
      if (round > 0 || which != 0) continue;
      point_bytes = all.download(host).counts->points * sizeof(Point);
    }
  const ContoursView found = all.download(host);
  const int wrong = found.counts->points > room
                        ? channels * count
                        : levels_that_differ(map, levels, found, all.begins(), stream);
  for (std::vector<double>& one : times) std::sort(one.begin(), one.end());
  const double ours = times[0][times[0].size() / 2], limit = times[1][times[1].size() / 2];
  std::printf(
      "%s, %d levels of %d x %d x %d: %.3f ms, %llu points in %llu contours; map read ten times and points "
      "written %.3f ms (%.2f x); workspace %.0f MiB; %d levels differ from those found alone\n",
      name_of(of), count, side, side / channels, channels, ours,
      static_cast<unsigned long long>(found.counts->points),
      static_cast<unsigned long long>(found.counts->contours), limit, ours / limit,
      static_cast<double>(all.workspace_bytes()) / (1 << 20), wrong);
  return wrong == 0;
}

}  // namespace contorno::testing
