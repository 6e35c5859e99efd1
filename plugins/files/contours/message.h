// Messages: what leaves the machine, one for each frame, failure and gap of a camera, and for what begins and
// ends. docs/reference/messages.md has their members; messages.schema.json is installed. Version 1: members
// that a reader does not know are passed over.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "plugins/files/contours/contour_line_writer.h"

namespace contorno {

inline constexpr int kMessageVersion = 1;
/// The values of "kind".
inline constexpr std::string_view kFrameKind = "frame", kFailedKind = "failed", kGapKind = "gap",
                                  kRunStartKind = "run_start", kRunEndKind = "run_end",
                                  kCameraKind = "camera";

enum class MessageForm : std::uint8_t {
  Json,  ///< a line without its end; points as [[x,y],...]
  Cbor,  ///< the same members; points as x, y, x, y, ... in a float32 array (RFC 8746, tag 85)
};

/// What tells a message from all others: n counts the messages of a camera in a run, from 1, without
/// holes.
struct MessageKey {
  std::uint64_t run = 0;  ///< grows from run to run
  std::string_view camera{};
  std::uint64_t n = 0;
};

/// What is known of a frame beside FrameInfo.
struct MessageFrame {
  std::int64_t utc_ns = 0;      ///< of its arrival
  std::int64_t latency_us = 0;  ///< time from its arrival to its result
  bool late = false;            ///< behind the deadline
  int level = 0;                ///< of quality; 0: full
};

/// Whether the points of a frame are written, or what was measured of them alone.
enum class MessagePoints : std::uint8_t { Written, LeftOut };

/// Why numbers are missing; the words of "reason" are ring_full, outbox, deadline, thinned, aborted and
/// outbox_full.
struct MessageGap {
  std::uint64_t from = 0, to = 0;
  std::string_view reason{};
};

struct MessageRunStart {
  std::int64_t utc_ns = 0;
  std::string_view graph{};     ///< a hash of the graph as it ran
  std::string_view version{};   ///< of contorno
  std::string_view source{};    ///< StreamFormat::description
  std::string_view fallback{};  ///< why it runs on the CPU, where a device was asked for; empty: it does not
};

struct MessageCamera {
  std::int64_t utc_ns = 0;
  std::string_view state{};  ///< name of a CameraState
  int level = 0;             ///< of quality, from now on
};

struct MessageRunEnd {
  std::int64_t utc_ns = 0;
  bool crashed = false;      ///< it was killed, and the next start says so
  std::uint64_t frames = 0;  ///< how many numbers are accounted for: 0 to frames - 1
  std::uint64_t last_n = 0;  ///< `n` of the message before
};

/// The messages without contours, each a whole one. Not UTF-8 in a text: U+FFFD.
std::string failed_message(MessageForm form, const MessageKey& key, std::uint64_t frame,
                           std::string_view error);
std::string gap_message(MessageForm form, const MessageKey& key, const MessageGap& gap);
std::string run_start_message(MessageForm form, const MessageKey& key, const MessageRunStart& start);
std::string run_end_message(MessageForm form, const MessageKey& key, const MessageRunEnd& end);
std::string camera_message(MessageForm form, const MessageKey& key, const MessageCamera& camera);

/// Writes frames. Belongs to one thread and keeps its memory.
class FrameMessageWriter {
 public:
  virtual ~FrameMessageWriter() = default;
  /// Called before the first frame, and when the format of the contours changes.
  virtual void open(const SinkContext& context) = 0;
  /// Valid until the next call.
  virtual std::string_view message(const MessageKey& key, const FrameInfo& info, const MessageFrame& frame,
                                   const ContoursView& view, MessagePoints points) = 0;
  /// Gives what ContourLineWriter::totals gives.
  virtual std::vector<ClassTotals> totals() const = 0;
};
std::unique_ptr<FrameMessageWriter> make_frame_messages(MessageForm form, const ContourLineOptions& options);

}  // namespace contorno
