#include "plugins/gst/element/guard.h"

#include <new>
#include <utility>

#include "base/error.h"

namespace contorno::gst {
namespace {

/// GStreamer's domain and code for what kind of error it is.
std::pair<GQuark, gint> code_of(ExitCode code) {
  switch (code) {
    case ExitCode::Usage:
    case ExitCode::BadOption:
    case ExitCode::BadConfig:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS};
    case ExitCode::MissingInput:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND};
    case ExitCode::OutOfMemory:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT};
    case ExitCode::Unavailable:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ};
    case ExitCode::BadData:
      return {GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT};
    default:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED};
  }
}

void post(GstElement* element, ExitCode code, const char* sentence) {
  const auto [domain, number] = code_of(code);
  gst_element_message_full(element, GST_MESSAGE_ERROR, domain, number, g_strdup(sentence), nullptr,
                           "contorno", "contorno", static_cast<gint>(code));
}

}  // namespace

void post_current_exception(GstElement* element) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    post(element, error.code(), error.what());
  } catch (const std::bad_alloc&) {
    post(element, ExitCode::OutOfMemory, "out of memory");
  } catch (const std::exception& error) {
    post(element, ExitCode::Internal, error.what());
  } catch (...) {
    post(element, ExitCode::Internal, "an unknown error");
  }
}

}  // namespace contorno::gst
