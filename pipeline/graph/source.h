// Where frames come from. A source writes straight into a slot's pinned input block. Implementations live in
// plugins/.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/graph/param.h"
#include "pipeline/value/image.h"

namespace contorno {

/// What a source delivers, known once it is open: a colour frame, class maps, or both.
struct StreamFormat {
  std::optional<ImageFormat> frame{};
  std::optional<ImageFormat> maps{};
  int rate_numerator = 0, rate_denominator = 1;  ///< frames a second; 0 = unknown
  int pixel_width = 1, pixel_height = 1;         ///< the shape of a pixel of the frame, as a ratio
  std::int64_t frame_count = -1;                 ///< -1 = unknown or endless
  bool live = false;                             ///< frames come whether or not somebody waits for them
  std::string description{};                     ///< one line for reports
  bool operator==(const StreamFormat&) const = default;
};

/// Facts about one frame. `number` is given by the runner: 0, 1, 2, ... over all frames the source offered.
struct FrameInfo {
  std::uint64_t number = 0;
  std::int64_t pts_ns = 0;
  std::string name{};  ///< file name of an image or map, empty for video
  /// File name of the frame's picture, with the folders that tell it from others of that name; empty where it
  /// is no file of its own.
  std::string picture{};
};

/// The slot's input memory, with the pitches of packed_view, and what the source says of the frame.
struct FrameInput {
  ImageView frame{}, maps{};  ///< data is null where the stream has none
  FrameInfo info{};
  std::string error{};  ///< set with ReadResult::Bad: why the frame cannot be used
  std::string
      warning{};  ///< set with ReadResult::Frame, empty before: what is odd about a frame that is used
};

enum class ReadResult : std::uint8_t {
  Frame,          ///< the input is filled
  Bad,            ///< there was a frame, but it is unusable; `error` says why; the stream goes on
  FormatChanged,  ///< nothing was read: format() has changed, ask again with new memory
  End,
};

/// What was wrong with a source as a whole, beside what single frames had to say.
struct SourceFault {
  std::string sentence{};    ///< "clip.mp4: 17 of 51 frames came; the file is cut off"
  std::int64_t missing = 0;  ///< frames that should have come and never did; -1: some, nobody knows how many
  bool operator==(const SourceFault&) const = default;
};

/// Used by one thread, except `cancel`.
class Source {
 public:
  virtual ~Source() = default;
  virtual const StreamFormat& format() const = 0;
  /// Before the first `read`: how many classes' maps a frame should have. A source whose first frame has
  /// another number may open its stream with the format of a later one; format() is then that.
  virtual void expect_classes(int) {}
  virtual ReadResult read(FrameInput& input) = 0;
  /// Asked once, after the last read. A run of a source with faults is not a whole one, and its exit code
  /// says so.
  virtual std::vector<SourceFault> faults() const { return {}; }
  /// How often a live source was lost and found again so far. Asked once, after the last read.
  virtual std::uint64_t reconnections() const { return 0; }
  /// Makes a blocked `read`, and every later one, return End soon. From any thread, not from a signal
  /// handler.
  virtual void cancel() = 0;
  /// The files that it reads, known once it is open: no output may take their place. None of a stream.
  virtual std::vector<std::string> files() const { return {}; }
};

/// The one declaration of a source. `make` opens it; throws Error(MissingInput, BadData, Unavailable).
struct SourceType {
  std::string name{};
  std::string summary{};
  ParamDeclaration params{};
  std::string input_param{};  ///< the parameter that --input sets
  std::string example{};
  std::function<std::unique_ptr<Source>(const ParamSet&)> make{};
  /// What it will deliver, where the parameters alone say so: nothing is opened, painted or allocated. Throws
  /// as `make`. Empty: only an open source knows.
  std::function<StreamFormat(const ParamSet&)> foretell{};
};

}  // namespace contorno
