#include "plugins/gst/element/maps_input.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "plugins/gst/element/log.h"
#include "plugins/gst/element/maps_caps.h"

namespace contorno::gst {
namespace {

/// The time `wait` from now, or the last time that the clock can tell where that comes earlier.
std::chrono::steady_clock::time_point time_after(GstClockTime wait) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point now = Clock::now();
  const auto most = static_cast<GstClockTime>((Clock::time_point::max() - now).count());
  return now + std::chrono::nanoseconds(std::min(wait, most));
}

}  // namespace

/// Does not use the element or its counts, which may be gone.
MapsInput::~MapsInput() {
  for (const Maps& maps : kept_) gst_buffer_unref(maps.buffer);
}

void MapsInput::set_caps(const GstCaps* caps) {
  const ImageFormat format = maps_format(caps);
  const std::lock_guard lock(mutex_);
  format_ = format;
}

std::optional<ImageFormat> MapsInput::format() const {
  const std::lock_guard lock(mutex_);
  return format_;
}

GstFlowReturn MapsInput::put(GstBuffer* buffer) {
  const std::lock_guard lock(mutex_);
  if (flushing_ || ended_ || !format_) {
    gst_buffer_unref(buffer);
    return flushing_ ? GST_FLOW_FLUSHING : ended_ ? GST_FLOW_EOS : GST_FLOW_NOT_NEGOTIATED;
  }
  kept_.push_back({buffer, *format_});
  if (frames_ended_ || kept_.size() > kMostKept) drop_first();
  changed_.notify_all();
  return GST_FLOW_OK;
}

void MapsInput::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void MapsInput::begin() {
  const std::lock_guard lock(mutex_);
  ended_ = false;
}

void MapsInput::end_frames() {
  const std::lock_guard lock(mutex_);
  frames_ended_ = true;
  drop_all();
}

void MapsInput::begin_frames() {
  const std::lock_guard lock(mutex_);
  frames_ended_ = false;
}

void MapsInput::set_flushing(bool flushing) {
  const std::lock_guard lock(mutex_);
  drop_all();
  flushing_ = flushing;
  ended_ = frames_ended_ = false;
  changed_.notify_all();
}

bool MapsInput::is_flushing() const {
  const std::lock_guard lock(mutex_);
  return flushing_;
}

void MapsInput::drop_first() {
  GstBuffer* const buffer = kept_.front().buffer;
  GST_DEBUG("maps of %" GST_TIME_FORMAT " have no frame", GST_TIME_ARGS(GST_BUFFER_PTS(buffer)));
  gst_buffer_unref(buffer);
  kept_.pop_front();
  accounts_.add(Accounts::Count::MapsUnused);
}

void MapsInput::drop_all() {
  while (!kept_.empty()) drop_first();
}

std::optional<Maps> MapsInput::look_for(GstClockTime time, bool& came_later) {
  const auto is_before = [](GstClockTime one, GstClockTime other) {
    return one < other && other - one >= kTolerance;
  };
  while (!kept_.empty()) {
    const Maps first = kept_.front();
    const GstClockTime pts = GST_BUFFER_PTS(first.buffer);
    if (!GST_CLOCK_TIME_IS_VALID(pts) || is_before(pts, time)) {
      drop_first();
      continue;
    }
    came_later = is_before(time, pts);
    if (came_later) return std::nullopt;
    kept_.pop_front();
    return first;
  }
  return std::nullopt;
}

std::optional<Maps> MapsInput::take(GstClockTime time, GstClockTime timeout) {
  if (!GST_CLOCK_TIME_IS_VALID(time)) return std::nullopt;
  std::unique_lock lock(mutex_);
  const std::chrono::steady_clock::time_point end = time_after(timeout);
  for (;;) {
    bool came_later = false;
    if (std::optional<Maps> found = look_for(time, came_later)) return found;
    if (came_later || ended_ || flushing_) return std::nullopt;
    if (changed_.wait_until(lock, end) == std::cv_status::timeout) return look_for(time, came_later);
  }
}

}  // namespace contorno::gst
