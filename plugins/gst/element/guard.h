// No exception leaves a function that GStreamer calls: `guarded` turns it into an error message of the
// element.
#pragma once

#include <gst/gst.h>

#include <atomic>

namespace contorno::gst {

/// Posts the exception that is being handled as an error message of `element`.
void post_current_exception(GstElement* element) noexcept;

/// What `work()` returns; `fallback` after an exception, which has then been posted, unless `posted` says
/// that one was before. GStreamer tries again what has failed, and users want to read it once.
template <class Result, class Work>
Result guarded(GstElement* element, Result fallback, const Work& work,
               std::atomic<bool>* posted = nullptr) noexcept {
  try {
    return work();
  } catch (...) {
    if (posted == nullptr || !posted->exchange(true)) post_current_exception(element);
    return fallback;
  }
}

}  // namespace contorno::gst
