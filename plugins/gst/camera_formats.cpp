#include "plugins/gst/camera_formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gst/video/video.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace contorno::gst {
namespace {

/// 29.97 is how people write 30000/1001, and 23.976 24000/1001.
std::pair<int, int> fraction_of(double rate) {
  const double whole = std::round(rate * 1.001);
  if (rate != std::floor(rate) && std::abs(rate - whole / 1.001) < 0.005)
    return {static_cast<int>(whole) * 1000, 1001};
  int numerator = 0, denominator = 1;
  gst_util_double_to_fraction(rate, &numerator, &denominator);
  return {numerator, denominator};
}

void append_wanted(GstCaps* caps, const CameraParams& params, const char* media, const char* sample) {
  GstStructure* structure = gst_structure_new_empty(media);
  if (sample != nullptr) gst_structure_set(structure, "format", G_TYPE_STRING, sample, nullptr);
  if (params.width > 0) gst_structure_set(structure, "width", G_TYPE_INT, params.width, nullptr);
  if (params.height > 0) gst_structure_set(structure, "height", G_TYPE_INT, params.height, nullptr);
  if (params.framerate > 0) {
    const auto [numerator, denominator] = fraction_of(params.framerate);
    gst_structure_set(structure, "framerate", GST_TYPE_FRACTION, numerator, denominator, nullptr);
  }
  gst_caps_append_structure(caps, structure);
}

/// The words for pixels of this kind: ours, or those of the caps where contorno has none.
std::string pixels_of(const std::string& media, const std::string& sample) {
  for (const PixelFormatName& one : kPixelFormatNames)
    if (media == one.media && (one.sample == nullptr || sample == one.sample)) return one.name;
  return sample.empty() ? media : fmt::format("{} {}", media, sample);
}

/// A side, or the range that it may be in.
std::string side_of(const GstStructure* structure, const char* name) {
  const GValue* value = gst_structure_get_value(structure, name);
  if (value == nullptr) return "any";
  if (G_VALUE_HOLDS_INT(value)) return std::to_string(g_value_get_int(value));
  if (GST_VALUE_HOLDS_INT_RANGE(value))
    return fmt::format("{} to {}", gst_value_get_int_range_min(value), gst_value_get_int_range_max(value));
  const Owned<gchar> text(gst_value_serialize(value));
  return text.get();
}

double number_of_fraction(const GValue* fraction) {
  return static_cast<double>(gst_value_get_fraction_numerator(fraction)) /
         gst_value_get_fraction_denominator(fraction);
}

void add_rates(CameraFormat& format, const GValue* value) {
  if (value == nullptr) return;
  if (GST_VALUE_HOLDS_FRACTION(value)) {
    const double rate = number_of_fraction(value);
    if (std::find(format.rates.begin(), format.rates.end(), rate) == format.rates.end())
      format.rates.push_back(rate);
  } else if (GST_VALUE_HOLDS_FRACTION_RANGE(value)) {
    format.is_range = true;
    format.rates = {number_of_fraction(gst_value_get_fraction_range_min(value)),
                    number_of_fraction(gst_value_get_fraction_range_max(value))};
  } else if (GST_VALUE_HOLDS_LIST(value)) {
    for (guint i = 0; i < gst_value_list_get_size(value); ++i)
      add_rates(format, gst_value_list_get_value(value, i));
  }
}

/// The kinds of pixels that a structure of caps names.
std::vector<std::string> kinds_of(const GstStructure* structure) {
  const std::string media = gst_structure_get_name(structure);
  const GValue* value = gst_structure_get_value(structure, "format");
  std::vector<std::string> kinds;
  if (value != nullptr && GST_VALUE_HOLDS_LIST(value)) {
    for (guint i = 0; i < gst_value_list_get_size(value); ++i)
      kinds.push_back(pixels_of(media, g_value_get_string(gst_value_list_get_value(value, i))));
  } else {
    const char* sample = gst_structure_get_string(structure, "format");
    kinds.push_back(pixels_of(media, sample != nullptr ? sample : ""));
  }
  return kinds;
}

std::string wanted_text(const CameraParams& params) {
  std::vector<std::string> words;
  for (const PixelFormatName& one : kPixelFormatNames)
    if (one.format == params.pixel_format) words.emplace_back(one.name);
  if (params.width > 0 && params.height > 0) {
    words.push_back(fmt::format("{}x{}", params.width, params.height));
  } else {
    if (params.width > 0) words.push_back(fmt::format("width {}", params.width));
    if (params.height > 0) words.push_back(fmt::format("height {}", params.height));
  }
  if (words.empty()) words.emplace_back("any format that contorno reads");
  const std::string rate = params.framerate > 0 ? fmt::format(" at {:.4g} frames/s", params.framerate) : "";
  return fmt::format("{}{}", fmt::join(words, " "), rate);
}

}  // namespace

Owned<GstCaps> wanted_of_camera(const CameraParams& params) {
  Owned<GstCaps> caps(gst_caps_new_empty());
  for (const PixelFormatName& one : kPixelFormatNames)
    if (one.format == params.pixel_format) append_wanted(caps.get(), params, one.media, one.sample);
  if (params.pixel_format == PixelFormat::Auto)
    for (const char* media : {"video/x-raw", "image/jpeg"}) append_wanted(caps.get(), params, media, nullptr);
  return caps;
}

std::vector<CameraFormat> formats_of(const GstCaps* caps) {
  std::vector<CameraFormat> formats;
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstStructure* structure = gst_caps_get_structure(caps, i);
    // Not the same again in memory of a device, nor fields that come one by one, which nobody here takes.
    if (!gst_caps_features_is_equal(gst_caps_get_features(caps, i), GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
      continue;
    const std::string size = fmt::format("{}x{}", side_of(structure, "width"), side_of(structure, "height"));
    for (const std::string& pixels : kinds_of(structure)) {
      auto format = std::find_if(formats.begin(), formats.end(), [&](const CameraFormat& one) {
        return one.pixels == pixels && one.size == size;
      });
      if (format == formats.end()) format = formats.insert(format, {.pixels = pixels, .size = size});
      add_rates(*format, gst_structure_get_value(structure, "framerate"));
    }
  }
  return formats;
}

void refuse_other_formats(const CameraParams& params, const GstCaps* offered) {
  const Owned<GstCaps> wanted = wanted_of_camera(params);
  if (gst_caps_can_intersect(offered, wanted.get())) return;
  std::string allowed;
  for (const CameraFormat& format : formats_of(offered))
    allowed += (allowed.empty() ? "" : "; ") + format.text();
  throw Error(ExitCode::BadConfig, fmt::format("the camera does not offer {}, but: {}", wanted_text(params),
                                               allowed.empty() ? "nothing" : allowed));
}

}  // namespace contorno::gst
