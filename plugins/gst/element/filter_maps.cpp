// Where the element `contorno` has the maps of a frame from: its pad `maps`, else a tensor on the frame's
// buffer.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "plugins/gst/element/filter.h"
#include "plugins/gst/element/tensor_maps.h"

namespace contorno::gst {

std::shared_ptr<MapsInput> Filter::maps() const {
  const std::lock_guard lock(mutex_);
  return maps_;
}

void Filter::add_maps() {
  const std::lock_guard lock(mutex_);
  maps_ = std::make_shared<MapsInput>(accounts_);
  changed_ = true;
}

void Filter::remove_maps() {
  if (const std::shared_ptr<MapsInput> maps = this->maps()) maps->set_flushing(true);
  const std::lock_guard lock(mutex_);
  maps_.reset();
  changed_ = true;
}

Filter::MapsSource Filter::maps_source() const {
  const std::lock_guard lock(mutex_);
  return {maps_, settings_.maps_tensor, loaded_ ? loaded_->classes.size() : 0};
}

void Filter::check_maps_source() const {
  if (maps_source().tensor != 0 && !can_read_tensors())
    throw Error(
        ExitCode::Unavailable,
        fmt::format("the property 'maps-tensor' is set, but the plugin was built with GStreamer {}.{}; "
                    "buffers have tensors from 1.26 on",
                    GST_VERSION_MAJOR, GST_VERSION_MINOR));
}

void Filter::take_maps(const MapsSource& from, PassingFrame& frame) {
  if (from.pad) {
    frame.maps = from.pad->take(GST_BUFFER_PTS(frame.buffer), settings().maps_timeout);
  } else {
    try {
      frame.maps = maps_in_tensor(frame.buffer, from.tensor, from.classes);
    } catch (const Error& error) {
      frame.failure = error.what();
    }
  }
  if (!frame.maps || maps_format_ == frame.maps->format) return;
  maps_format_ = frame.maps->format;
  changed_ = true;
}

/// Applies `maps-missing` to a frame without maps; may post an error. True: the frame goes on as it is.
bool Filter::take_missing(const MapsSource& from, PassingFrame& frame) {
  if (!frame.failure.empty()) {
    report_frame(frame, "failed", frame.failure);
    return true;
  }
  accounts_.add(Accounts::Count::MapsMissing);
  std::string reason =
      from.pad ? (GST_BUFFER_PTS_IS_VALID(frame.buffer) ? "no maps with its time came"
                                                        : "it has no time, by which maps are known")
               : fmt::format("its buffer has no tensor '{}'", g_quark_to_string(from.tensor));
  const MissingMaps policy = settings().maps_missing;
  if (policy == MissingMaps::Error)
    throw Error(ExitCode::MissingInput, fmt::format("frame {}: {}", frame.number, reason));
  const bool goes_on = policy == MissingMaps::Pass;
  report_frame(frame, goes_on ? "failed" : "dropped", reason);
  frame.failure = std::move(reason);
  return goes_on;
}

}  // namespace contorno::gst
