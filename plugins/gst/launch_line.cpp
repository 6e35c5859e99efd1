#include "plugins/gst/launch_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace contorno::gst {
namespace {

struct FreeNames {
  void operator()(gchar** names) const { g_strfreev(names); }
};
struct FreeContext {
  void operator()(GstParseContext* context) const { gst_parse_context_free(context); }
};

/// The elements of a launch line that are not installed.
std::vector<std::string> missing_elements(GstParseContext* context) {
  std::vector<std::string> names;
  const std::unique_ptr<gchar*, FreeNames> missing(gst_parse_context_get_missing_elements(context));
  for (gchar** name = missing.get(); name != nullptr && *name != nullptr; ++name) names.emplace_back(*name);
  return names;
}

}  // namespace

GstElement* parse_launch_line(const std::string& line, OpenPads pads) {
  const std::unique_ptr<GstParseContext, FreeContext> context(gst_parse_context_new());
  GError* raw = nullptr;
  GstElement* bin =
      gst_parse_bin_from_description_full(line.c_str(), pads == OpenPads::Ghosted ? TRUE : FALSE,
                                          context.get(), GST_PARSE_FLAG_FATAL_ERRORS, &raw);
  if (raw != nullptr || bin == nullptr) {
    const Owned<GError> error(raw);
    if (bin != nullptr) gst_object_unref(gst_object_ref_sink(bin));
    const bool absent =
        error && error->domain == GST_PARSE_ERROR && error->code == GST_PARSE_ERROR_NO_SUCH_ELEMENT;
    const auto missing = absent ? missing_elements(context.get()) : std::vector<std::string>{};
    if (missing == std::vector<std::string>{"video"} || missing == std::vector<std::string>{"image"})
      throw Error(ExitCode::BadConfig,
                  "the launch line ends with caps, allowed are they between two elements; the format of the "
                  "last one is asked for by 'caps'");
    if (!missing.empty())
      throw Error(ExitCode::Unavailable,
                  fmt::format("the launch line names elements that are not installed: {}; 'gst-inspect-1.0' "
                              "lists those that are",
                              fmt::join(missing, ", ")));
    throw Error(ExitCode::BadConfig, fmt::format("the launch line cannot be used: {}",
                                                 error ? error->message : "no reason given"));
  }
  return bin;
}

}  // namespace contorno::gst
