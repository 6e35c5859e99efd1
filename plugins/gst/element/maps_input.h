// The pad `maps` of the element `contorno`: takes the class maps of frames from another branch of the
// pipeline and keeps them until their frames come. Frames and maps belong together when they have the same
// time. The thread of the pad writes, that of the frames takes; either may flush.
#pragma once

#include <gst/gst.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "pipeline/value/image.h"
#include "plugins/gst/element/accounts.h"

namespace contorno::gst {

/// What becomes of a frame whose maps do not come.
enum class MissingMaps : std::uint8_t { Pass, Drop, Error };

/// A buffer of maps, with its format; owns a reference to the buffer.
struct Maps {
  GstBuffer* buffer = nullptr;
  ImageFormat format;
};

class MapsInput {
 public:
  explicit MapsInput(Accounts& accounts) : accounts_(accounts) {}
  ~MapsInput();
  MapsInput(const MapsInput&) = delete;
  MapsInput& operator=(const MapsInput&) = delete;

  /// Sets the format of the maps that come next. Throws Error(BadData) for caps that it does not understand.
  void set_caps(const GstCaps* caps);
  /// The format, once it is known.
  std::optional<ImageFormat> format() const;
  /// Keeps the buffer, of which it takes the reference. When nobody takes them, the oldest go and are
  /// counted.
  GstFlowReturn put(GstBuffer* buffer);
  /// No more maps will come, until a stream of them begins.
  void end();
  void begin();
  /// No more frames will come, until a stream of them begins: maps that are kept, and those that come, have
  /// none, and are counted.
  void end_frames();
  void begin_frames();
  /// Throws away what is kept, and counts it. While it flushes nothing is waited for, and nothing is taken
  /// in.
  void set_flushing(bool flushing);

  /// The maps of the frame at `time`. Waits for them up to `timeout`; none when later ones came, no more
  /// come, or the frame has no time. Those of earlier frames are thrown away and counted. The caller owns the
  /// buffer.
  std::optional<Maps> take(GstClockTime time, GstClockTime timeout);
  bool is_flushing() const;

 private:
  // Called with the lock held:
  void drop_first();
  void drop_all();
  std::optional<Maps> look_for(GstClockTime time, bool& came_later);

  static constexpr std::size_t kMostKept = 64;
  /// Times are equal when they differ by less: muxers round them to milliseconds.
  static constexpr GstClockTime kTolerance = GST_MSECOND;

  Accounts& accounts_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<ImageFormat> format_;
  std::deque<Maps> kept_;
  bool ended_ = false, frames_ended_ = false, flushing_ = false;
};

}  // namespace contorno::gst
