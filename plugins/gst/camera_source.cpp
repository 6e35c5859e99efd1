#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "plugins/gst/parts.h"
#include "plugins/gst/stream_source.h"

namespace contorno::gst {
namespace {
namespace fs = std::filesystem;

std::string cameras_present() {
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev", ignored))
    if (entry.path().filename().string().starts_with("video")) names.insert(entry.path().string());
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "none" : list;
}

/// Caps of what the camera may send: raw or JPEG, of the wanted size and rate where one is wanted.
Owned<GstCaps> camera_caps(const CameraParams& params) {
  Owned<GstCaps> caps(gst_caps_new_empty());
  int numerator = 0, denominator = 1;
  gst_util_double_to_fraction(params.framerate, &numerator, &denominator);
  for (const char* media : {"video/x-raw", "image/jpeg"}) {
    GstStructure* structure = gst_structure_new_empty(media);
    if (params.width > 0) gst_structure_set(structure, "width", G_TYPE_INT, params.width, nullptr);
    if (params.height > 0) gst_structure_set(structure, "height", G_TYPE_INT, params.height, nullptr);
    if (params.framerate > 0)
      gst_structure_set(structure, "framerate", GST_TYPE_FRACTION, numerator, denominator, nullptr);
    gst_caps_append_structure(caps.get(), structure);
  }
  return caps;
}

void build_camera(FramePipeline& pipeline, const CameraParams& params) {
  GstElement* camera = pipeline.add("v4l2src");
  GstElement* filter = pipeline.add("capsfilter");
  g_object_set(camera, "device", params.device.c_str(), nullptr);
  g_object_set(filter, "caps", camera_caps(params).get(), nullptr);
  link({camera, filter});
  pipeline.decode_behind(filter);
}

void build_test(FramePipeline& pipeline, const TestParams& params) {
  GstElement* source = pipeline.add("videotestsrc");
  GstElement* filter = pipeline.add("capsfilter");
  GstElement* end = pipeline.add_frame_end();
  int numerator = 0, denominator = 1;
  gst_util_double_to_fraction(params.rate, &numerator, &denominator);
  gst_util_set_object_arg(G_OBJECT(source), "pattern", params.pattern.c_str());
  g_object_set(source, "num-buffers", params.frames > 0 ? static_cast<gint>(params.frames) : -1, "is-live",
               params.live ? TRUE : FALSE, nullptr);
  g_object_set(filter, "caps", raw_caps("RGBA", params.width, params.height, numerator, denominator).get(),
               nullptr);
  link({source, filter, end});
}

/// The pattern names of videotestsrc on this machine; empty when `pattern` is one of them.
std::string allowed_patterns_unless(const std::string& pattern) {
  FramePipeline pipeline;
  GParamSpec* spec =
      g_object_class_find_property(G_OBJECT_GET_CLASS(pipeline.add("videotestsrc")), "pattern");
  const GEnumClass* words = G_PARAM_SPEC_ENUM(spec)->enum_class;
  std::string list;
  for (guint i = 0; i < words->n_values; ++i) {
    if (pattern == words->values[i].value_nick) return {};
    list += (list.empty() ? "" : ", ") + std::string(words->values[i].value_nick);
  }
  return list;
}

}  // namespace

std::unique_ptr<Source> make_camera_source(const CameraParams& params) {
  ensure_init();
  std::error_code ignored;
  if (!fs::is_character_file(params.device, ignored))
    throw Error(ExitCode::MissingInput,
                fmt::format("{}: there is no such camera (there are: {})", params.device, cameras_present()));
  return std::make_unique<StreamSource>(StreamPlan{
      .build = [params](FramePipeline& p) { build_camera(p, params); },
      .subject = params.device,
      .description = "camera " + params.device,
      .timeout_ms = params.timeout,
  });
}

void refuse_unknown_pattern(const TestParams& params) {
  ensure_init();
  if (const std::string allowed = allowed_patterns_unless(params.pattern); !allowed.empty())
    throw Error(ExitCode::BadConfig,
                fmt::format("pattern is '{}', allowed one of {}", params.pattern, allowed));
}

/// The format that StreamSource will find in the first frame of the test source.
StreamFormat foretell_test(const TestParams& params) {
  StreamFormat format{.frame = ImageFormat{.width = params.width, .height = params.height, .channels = 4},
                      .frame_count = params.frames > 0 ? params.frames : -1,
                      .live = params.live,
                      .description = fmt::format("test picture '{}'", params.pattern)};
  gst_util_double_to_fraction(params.rate, &format.rate_numerator, &format.rate_denominator);
  return format;
}

std::unique_ptr<Source> make_test_source(const TestParams& params) {
  refuse_unknown_pattern(params);
  return std::make_unique<StreamSource>(StreamPlan{
      .build = [params](FramePipeline& p) { build_test(p, params); },
      .subject = "test picture",
      .description = fmt::format("test picture '{}'", params.pattern),
      .timeout_ms = 10'000,
      .frame_count = params.frames > 0 ? params.frames : -1,
  });
}

}  // namespace contorno::gst
