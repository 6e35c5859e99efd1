#include "tools/empty_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "stages/shared/sample_value.h"

namespace contorno {
namespace {

/// All of the first frames, later ones ever more seldom: a class may be missing for good, and results wait
/// for this.
bool is_looked_at(std::uint64_t frame) {
  constexpr std::uint64_t kAll = 16;
  return frame < kAll || std::has_single_bit(frame);
}

/// The image that the contours at `contours` were found in.
std::optional<Origin> maps_of(const GraphSpec& graph, Origin contours) {
  for (Origin at = contours; at.node != Origin::kSource;) {
    const NodeSpec& node = graph.nodes[static_cast<std::size_t>(at.node)];
    if (node.inputs.empty()) return std::nullopt;
    at = node.inputs[0];
    if (node.type->inputs[0].type == PortType::Image) return at;
  }
  return std::nullopt;
}

template <class T>
MapRange range_as(const ImageView& map, int channel) {
  const ImageFormat& format = map.format;
  const bool planar = format.layout == Layout::Planar;
  const std::size_t step = planar ? 1 : static_cast<std::size_t>(format.channels);
  const auto width = static_cast<std::size_t>(format.width);
  const SampleScale scale = probability_scale(format.type);
  constexpr double kNothing = std::numeric_limits<double>::infinity();
  MapRange range{.least = kNothing, .greatest = -kNothing, .type = format.type};
  for (int y = 0; y < format.height; ++y) {
    const T* const row = map.row<const T>(y, planar ? channel : 0) + (planar ? 0 : channel);
    for (std::size_t x = 0; x < width; ++x) {
      const double value = value_of(row[x * step], scale);
      range.least = value < range.least ? value : range.least;
      range.greatest = value > range.greatest ? value : range.greatest;
    }
  }
  return range;
}

}  // namespace

MapRange range_of(const ImageView& map, int channel) {
  return with_sample_type(map.format.type, [&]<class T>(const T*) { return range_as<T>(map, channel); });
}

std::string value_text(double value, ElementType type) {
  const double divisor = probability_scale(type).divisor;
  return divisor == 1 ? fmt::format("{:.6g}", value)
                      : fmt::format("{:.3g} ({:.6g} of {})", value, value * divisor, divisor);
}

EmptyClasses::EmptyClasses(const GraphSpec& graph, Backend backend)
    : graph_(graph), ranges_(graph.classes.size()) {
  for (std::size_t node = graph.nodes.size(); node-- > 0 && !has_contours_;)
    for (std::size_t port = graph.nodes[node].type->outputs.size(); port-- > 0 && !has_contours_;) {
      has_contours_ = graph.nodes[node].type->outputs[port].type == PortType::Contours;
      if (has_contours_) maps_ = maps_of(graph, {static_cast<int>(node), static_cast<int>(port)});
    }
  if (maps_ && maps_->node != Origin::kSource && backend != Backend::Cpu) maps_.reset();
}

std::vector<Origin> EmptyClasses::reads() const {
  return maps_ ? std::vector{*maps_} : std::vector<Origin>();
}

void EmptyClasses::look(const PlannedGraph& result, const std::vector<ClassCounts>& counts) {
  const auto is_empty = [](const ClassCounts& one) { return one.contours == 0; };
  if (!maps_ || !is_looked_at(frames_++) || std::none_of(counts.begin(), counts.end(), is_empty)) return;
  const auto* const map = std::get_if<ImageView>(&result.value(*maps_));
  if (map == nullptr || map->data == nullptr) return;
  const std::size_t classes = std::min(counts.size(), static_cast<std::size_t>(map->format.channels));
  for (std::size_t one = 0; one < classes; ++one) {
    if (!is_empty(counts[one]) || graph_.classes[one].hidden) continue;
    const MapRange range = range_of(*map, static_cast<int>(one));
    if (!ranges_[one]) ranges_[one] = range;
    ranges_[one]->least = std::min(ranges_[one]->least, range.least);
    ranges_[one]->greatest = std::max(ranges_[one]->greatest, range.greatest);
  }
}

void EmptyClasses::tell(std::vector<ClassCounts>& classes) const {
  for (std::size_t one = 0; one < std::min(classes.size(), ranges_.size()); ++one) {
    if (!has_contours_ || graph_.classes[one].hidden || classes[one].contours > 0) continue;
    classes[one].level = graph_.classes[one].iso_levels().front();
    classes[one].range = ranges_[one];
  }
}

}  // namespace contorno
