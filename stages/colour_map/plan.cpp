#include "stages/colour_map/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "pipeline/shared/printable.h"

namespace contorno {
namespace {

[[noreturn]] void refuse_stops(std::string_view text, const std::string& reason) {
  throw Error(ExitCode::BadOption,
              fmt::format("colours is '{}': {}; wanted are values with their colours, as \"0 #0000ff, 0.5 "
                          "#ffffff\"",
                          printable(text), reason));
}

ColourStop stop_of(std::string_view point, std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = point.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) refuse_stops(text, "a point is empty");
  point = point.substr(begin, point.find_last_not_of(kSpace) - begin + 1);
  ColourStop stop;
  const auto [end, fault] = std::from_chars(point.data(), point.data() + point.size(), stop.value);
  const std::string_view rest = point.substr(static_cast<std::size_t>(end - point.data()));
  const std::size_t colour = rest.find_first_not_of(kSpace);
  if (fault != std::errc() || !(stop.value >= -1e9 && stop.value <= 1e9))
    refuse_stops(text, fmt::format("'{}' does not begin with a number of -1e9 to 1e9", printable(point)));
  if (colour == 0)
    refuse_stops(text, fmt::format("'{}' has no space between its value and its colour", printable(point)));
  if (colour == std::string_view::npos)
    refuse_stops(text, fmt::format("'{}' has no colour behind its value", printable(point)));
  stop.colour = parse_colour(rest.substr(colour));
  if (stop.colour.alpha != Colour().alpha)
    refuse_stops(text, fmt::format("'{}' has an opacity, and the picture has none", printable(point)));
  return stop;
}

}  // namespace

std::vector<ColourStop> parse_colour_stops(std::string_view text) {
  std::vector<ColourStop> stops;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    stops.push_back(stop_of(text.substr(begin, end - begin), text));
    if (stops.size() > kMaxColourStops)
      refuse_stops(text.substr(0, 60), fmt::format("it has more than {} points", kMaxColourStops));
    begin = end + 1;
  }
  const auto falls = std::ranges::is_sorted_until(stops, {}, &ColourStop::value);
  if (falls != stops.end())
    refuse_stops(text,
                 fmt::format("{} comes behind {}, but values ascend", falls->value, (falls - 1)->value));
  return stops;
}

ColourMapPlan make_colour_map_plan(const ColourMapParams& params, const PlanContext& context) {
  ColourMapPlan plan{.in = context.image(0), .out = context.image(0), .stops = {}};
  if (params.channel >= plan.in.channels)
    throw Error(ExitCode::BadConfig,
                fmt::format("colour_map: channel is {}, but the image is {}, allowed 0 to {}", params.channel,
                            describe(plan.in), plan.in.channels - 1));
  plan.out.channels = 3, plan.out.type = ElementType::U8, plan.out.layout = Layout::Interleaved;
  plan.stops = parse_colour_stops(params.colours);
  return plan;
}

}  // namespace contorno
