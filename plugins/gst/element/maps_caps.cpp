#include "plugins/gst/element/maps_caps.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace contorno::gst {
namespace {

[[noreturn]] void refuse(const GstCaps* caps, std::string_view why) {
  gchar* text = gst_caps_to_string(caps);
  const std::string sentence = fmt::format("maps of {}: {}", text, why);
  g_free(text);
  throw Error(ExitCode::BadData, sentence);
}

ElementType type_called(const GstCaps* caps, const char* field) {
  const char* word = gst_structure_get_string(gst_caps_get_structure(caps, 0), field);
  const std::string_view name = word != nullptr ? word : "";
  if (name == "uint8") return ElementType::U8;
  if (name == "uint16") return ElementType::U16;
  if (name == "float16") return ElementType::F16;
  if (name == "float32") return ElementType::F32;
  refuse(caps, "the type is none of float32, float16, uint8, uint16");
}

/// "511:95:8:1" as W, H and C; further dimensions are 1.
std::vector<int> dimensions_of(const GstCaps* caps) {
  const char* text = gst_structure_get_string(gst_caps_get_structure(caps, 0), "dimensions");
  std::vector<int> sides;
  std::string_view rest = text != nullptr ? text : "";
  while (!rest.empty()) {
    int side = 0;
    const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), side);
    if (code != std::errc{} || side < 1 || side > kMaxSide)
      refuse(caps, "dimensions are W:H:C, each from 1 to 65536");
    sides.push_back(side);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (!rest.empty() && rest.front() != ':') refuse(caps, "dimensions are W:H:C, with colons between them");
    if (!rest.empty()) rest.remove_prefix(1);
  }
  while (sides.size() > 3 && sides.back() == 1) sides.pop_back();
  if (sides.size() < 2 || sides.size() > 3) refuse(caps, "dimensions are W:H:C, others must be 1");
  if (sides.size() == 2) sides.push_back(1);
  return sides;
}

}  // namespace

ImageFormat maps_format(const GstCaps* caps) {
  const GstStructure* fields = gst_caps_get_structure(caps, 0);
  ImageFormat format;
  if (gst_structure_has_name(fields, "other/tensors") != 0) {
    const std::vector<int> sides = dimensions_of(caps);
    format = {.width = sides[0], .height = sides[1], .channels = sides[2], .layout = Layout::Planar};
    format.type = type_called(caps, "types");
    return format;
  }
  const bool whole = gst_structure_get_int(fields, "width", &format.width) != 0 &&
                     gst_structure_get_int(fields, "height", &format.height) != 0 &&
                     gst_structure_get_int(fields, "classes", &format.channels) != 0;
  if (!whole) refuse(caps, "width, height or classes is missing");
  for (const int side : {format.width, format.height, format.channels})
    if (side < 1 || side > kMaxSide) refuse(caps, "width, height and classes are each from 1 to 65536");
  format.type = type_called(caps, "type");
  const char* layout = gst_structure_get_string(fields, "layout");
  format.layout =
      layout != nullptr && std::string_view(layout) == "hwc" ? Layout::Interleaved : Layout::Planar;
  return format;
}

GstCaps* maps_caps(const ImageFormat& maps, const StreamFormat& stream) {
  return gst_caps_new_simple("application/x-contorno-maps", "width", G_TYPE_INT, maps.width, "height",
                             G_TYPE_INT, maps.height, "classes", G_TYPE_INT, maps.channels, "type",
                             G_TYPE_STRING, std::string(name_of(maps.type)).c_str(), "layout", G_TYPE_STRING,
                             maps.layout == Layout::Planar ? "chw" : "hwc", "framerate", GST_TYPE_FRACTION,
                             stream.rate_numerator, stream.rate_denominator, nullptr);
}

std::size_t maps_bytes(const ImageFormat& maps) {
  return maps.row_bytes() * static_cast<std::size_t>(maps.height) * static_cast<std::size_t>(maps.planes());
}

ImageView maps_view(void* data, const ImageFormat& maps) {
  const auto row = static_cast<std::ptrdiff_t>(maps.row_bytes());
  return {data, maps, row, row * maps.height};
}

}  // namespace contorno::gst
