#include <fmt/format.h>

#include "plugins/gst/parts.h"
#include "plugins/gst/stream_source.h"

namespace contorno::gst {
namespace {

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
