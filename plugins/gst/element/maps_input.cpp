#include "plugins/gst/element/maps_input.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "plugins/gst/element/maps_caps.h"

namespace contorno::gst {
namespace {

/// The end of the clock's time where `wait` is longer than what is left of it.
std::chrono::steady_clock::time_point time_after(GstClockTime wait) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point now = Clock::now();
  const auto most = static_cast<GstClockTime>((Clock::time_point::max() - now).count());
  return now + std::chrono::nanoseconds(std::min(wait, most));
}

}  // namespace

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
  if (kept_.size() > kMostKept) {
    gst_buffer_unref(kept_.front().buffer);
    kept_.pop_front();
    accounts_.add(Accounts::Count::MapsUnused);
  }
  changed_.notify_all();
  return GST_FLOW_OK;
}

void MapsInput::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void MapsInput::set_flushing(bool flushing) {
  clear();
  const std::lock_guard lock(mutex_);
  flushing_ = flushing;
  ended_ = false;
  changed_.notify_all();
}

bool MapsInput::is_flushing() const {
  const std::lock_guard lock(mutex_);
  return flushing_;
}

void MapsInput::clear() {
  const std::lock_guard lock(mutex_);
  for (const Maps& maps : kept_) gst_buffer_unref(maps.buffer);
  kept_.clear();
}

std::optional<Maps> MapsInput::look_for(GstClockTime time, bool& came_later) {
  while (!kept_.empty()) {
    const Maps first = kept_.front();
    const GstClockTime pts = GST_BUFFER_PTS(first.buffer);
    if (!GST_CLOCK_TIME_IS_VALID(pts) || pts + kTolerance <= time) {
      gst_buffer_unref(first.buffer);
      kept_.pop_front();
      accounts_.add(Accounts::Count::MapsUnused);
      continue;
    }
    came_later = pts >= time + kTolerance;
    if (came_later) return std::nullopt;
    kept_.pop_front();
    return first;
  }
  return std::nullopt;
}

std::optional<Maps> MapsInput::take(GstClockTime time, GstClockTime timeout) {
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
