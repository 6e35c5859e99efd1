#include <nlohmann/json.hpp>

#include "tools/explain/explanation.h"

namespace contorno::explain {
namespace {

using Json = nlohmann::ordered_json;

Json samples(const Cell& cell) {
  Json all = Json::array();
  for (const CellSample& sample : cell.samples)
    all.push_back({{"row", sample.row},
                   {"col", sample.col},
                   {"stored", sample.stored},
                   {"value", sample.value},
                   {"state", name_of(sample.state)}});
  return all;
}

Json end_of(const SegmentEnd& end) {
  const PointD& point = end.point;
  return {{"side", name_of(end.side)},
          {"point", {point.row, point.col}},
          {"float32", {static_cast<float>(point.row), static_cast<float>(point.col)}},
          {"on_sample", end.node == NodeKind::Sample}};
}

Json contour_of(const Segment& segment, const Explanation& all) {
  const auto place = segment.exists() ? place_of(segment, all.found, all.orientation) : std::nullopt;
  if (!place) return nullptr;
  return {{"index", place->contour},
          {"points", all.found.contour(place->contour).size()},
          {"closed", all.found.closed[place->contour] != 0},
          {"from", place->from},
          {"to", place->to}};
}

Json segments(const Explanation& all) {
  Json list = Json::array();
  for (const Segment& segment : all.segments)
    list.push_back({{"from", end_of(segment.from)},
                    {"to", end_of(segment.to)},
                    {"exists", segment.exists()},
                    {"contour", contour_of(segment, all)}});
  return list;
}

Json others(const Explanation& all) {
  Json list = Json::array();
  for (const Segment& segment : all.others)
    list.push_back({{"from", end_of(segment.from)}, {"to", end_of(segment.to)}});
  return list;
}

}  // namespace

std::string json_of(const Explanation& all) {
  const Cell& cell = all.cell;
  Json json{{"file", all.name},
            {"class", all.channel},
            {"rows", all.map.height},
            {"columns", all.map.width},
            {"type", name_of(all.map.type)},
            {"level", cell.level},
            {"cell", {cell.row, cell.col}},
            {"samples", samples(cell)},
            {"case", cell.usable() ? Json(cell.code) : Json(nullptr)},
            {"fully_connected", all.connectivity == Connectivity::Low ? "low" : "high"},
            {"segments", segments(all)}};
  if (cell.usable() && is_saddle(cell.code)) json["segments_of_the_other_connectivity"] = others(all);
  json["contours"] = all.found.count();
  json["backend"] = all.by_device ? "cuda" : "cpu";
  json["difference_from_cpu"] = all.difference.empty() ? Json(nullptr) : Json(all.difference);
  return json.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace contorno::explain
