#include "tools/replay/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace contorno {
namespace {

double largest_distance(const RecordDifference& difference) {
  double largest = 0;
  for (const FrameDifference& frame : difference.frames) largest = std::max(largest, frame.distance);
  return largest;
}

std::string frame_line(const FrameDifference& frame) {
  return fmt::format("{:>10}  {:>5} {:>5} {:>5}  {:>12.4g}  {}\n", frame.place, frame.lost, frame.added,
                     frame.moved, frame.distance, frame.first);
}

/// JSON has no infinities.
nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace

std::string difference_text(const RecordDifference& difference, double tolerance, std::size_t most) {
  std::string text =
      fmt::format("{} frames compared: {} same, {} within {} px, {} different\n", difference.frames.size(),
                  difference.count(FrameVerdict::Same), difference.count(FrameVerdict::Within), tolerance,
                  difference.count(FrameVerdict::Different));
  const auto differs = [](const FrameDifference& frame) { return frame.verdict != FrameVerdict::Same; };
  const auto first = std::find_if(difference.frames.begin(), difference.frames.end(), differs);
  if (first == difference.frames.end()) return text;
  text += fmt::format("first difference: frame {}: {}\n", first->place, first->first);
  text += fmt::format("largest distance of a contour: {:.4g} px\n", largest_distance(difference));
  text += fmt::format("{:>10}  {:>5} {:>5} {:>5}  {:>12}  {}\n", "worst", "lost", "added", "moved",
                      "distance, px", "first difference");
  const std::vector<const FrameDifference*> worst = difference.worst();
  for (std::size_t i = 0; i < std::min(most, worst.size()); ++i) text += frame_line(*worst[i]);
  if (worst.size() > most) text += fmt::format("and {} frames more\n", worst.size() - most);
  return text;
}

std::string difference_json(const RecordDifference& difference, double tolerance) {
  using Json = nlohmann::ordered_json;
  Json all = {{"version", 1},
              {"tolerance", tolerance},
              {"frames",
               {{"same", difference.count(FrameVerdict::Same)},
                {"within", difference.count(FrameVerdict::Within)},
                {"different", difference.count(FrameVerdict::Different)}}},
              {"distance", number(largest_distance(difference))},
              {"differences", Json::array()}};
  for (const FrameDifference& frame : difference.frames) {
    if (frame.verdict == FrameVerdict::Same) continue;
    all["differences"].push_back({{"frame", frame.place},
                                  {"verdict", frame.verdict == FrameVerdict::Within ? "within" : "different"},
                                  {"lost", frame.lost},
                                  {"added", frame.added},
                                  {"moved", frame.moved},
                                  {"distance", number(frame.distance)},
                                  {"pictures", frame.pictures},
                                  {"first", frame.first}});
  }
  return all.dump(2) + "\n";
}

}  // namespace contorno
