#include "tools/learn/samples.h"

#include <algorithm>
#include <cmath>

#include "tools/learn/picks.h"

namespace contorno {
namespace {

constexpr double kSamples = 4000;  // a class; and of the rest
// The rest is sorted by colour into boxes of 16 values a channel.
constexpr int kBoxShift = 4;
constexpr std::size_t kBoxSide = 256U >> kBoxShift, kBoxes = kBoxSide * kBoxSide * kBoxSide;
// Boxes with less of a frame than this are noise.
constexpr double kLeastShare = 2e-5;

Colour colour_at(const std::uint8_t* pixel, int channels) {
  return channels < 3 ? Colour{pixel[0], pixel[0], pixel[0]} : Colour{pixel[0], pixel[1], pixel[2]};
}

}  // namespace

ColourSampler::ColourSampler(std::vector<int> frames, int all_frames)
    : frames_(std::move(frames)), all_frames_(std::max(1, all_frames)) {}

std::size_t ColourSampler::group_of(const std::uint8_t* pixel, int channels, std::int16_t owner) const {
  if (owner == kLeftOut || (channels == 4 && pixel[3] == 0)) return frames_.size() + kBoxes;
  if (owner >= 0) return static_cast<std::size_t>(owner);
  const Colour colour = colour_at(pixel, channels);
  const auto box = [](std::uint8_t value) { return static_cast<std::size_t>(value >> kBoxShift); };
  return frames_.size() + (box(colour.red) * kBoxSide + box(colour.green)) * kBoxSide + box(colour.blue);
}

std::vector<std::int64_t> ColourSampler::steps_of(const std::vector<std::int64_t>& counts) const {
  double pixels = 0, roots = 0;
  for (std::size_t group = 0; group < frames_.size() + kBoxes; ++group)
    pixels += static_cast<double>(counts[group]);
  const auto counted = [&](std::size_t group) {
    const auto count = static_cast<double>(counts[group]);
    return group < frames_.size() || count >= kLeastShare * pixels ? count : 0;
  };
  for (std::size_t group = frames_.size(); group < frames_.size() + kBoxes; ++group)
    roots += std::sqrt(counted(group));
  std::vector<std::int64_t> steps(counts.size());
  for (std::size_t group = 0; group < frames_.size() + kBoxes; ++group) {
    const double count = counted(group);
    if (count == 0) continue;
    const double quota = group < frames_.size() ? kSamples / std::max(1, frames_[group])
                                                : kSamples / all_frames_ * std::sqrt(count) / roots;
    // Odd, and so not likely to share a factor with the length of a row: samples do not fall into columns.
    steps[group] = static_cast<std::int64_t>(count / std::max(1.0, quota)) | 1;
  }
  return steps;
}

void ColourSampler::take(const ImageView& frame, std::span<const std::int16_t> owners) {
  const int channels = frame.format.channels;
  std::vector<std::int64_t> counts(frames_.size() + kBoxes + 1), seen(counts.size());
  const auto for_pixels = [&](const auto& use) {
    for (int y = 0; y < frame.format.height; ++y) {
      const auto* row = frame.row<const std::uint8_t>(y);
      const std::int16_t* owner =
          &owners[static_cast<std::size_t>(y) * static_cast<std::size_t>(frame.format.width)];
      for (int x = 0; x < frame.format.width; ++x, row += channels)
        use(row, owner[x], group_of(row, channels, owner[x]));
    }
  };
  for_pixels([&](const std::uint8_t*, std::int16_t, std::size_t group) { ++counts[group]; });
  const std::vector<std::int64_t> steps = steps_of(counts);
  for_pixels([&](const std::uint8_t* pixel, std::int16_t owner, std::size_t group) {
    if (steps[group] == 0 || seen[group]++ % steps[group] != 0) return;
    const std::int64_t taken = (counts[group] + steps[group] - 1) / steps[group];
    samples_.push_back(
        {colour_at(pixel, channels), owner, static_cast<double>(counts[group]) / static_cast<double>(taken)});
  });
}

}  // namespace contorno
