// Sinks: where results go. The runner gives each sink a thread of its own, which alone calls it, from `open`
// to `finish`, frame by frame in order; what makes a sink and asks for its summary does so before and after.
// So a sink needs no lock for what is its own. What it shares with other sinks or with the program (a list of
// files, a connection) it may use at the same time as they do, and that must be safe. Implementations are in
// plugins/.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/graph/source.h"
#include "pipeline/graph/stage.h"
#include "pipeline/shared/patience.h"
#include "pipeline/value/classes.h"

namespace contorno {

class OutputRegister;  // plugins/files/shared/output_register.h
struct GraphSpec;      // pipeline/graph/graph.h

/// What a sink is told once, before the first frame, and again when formats change.
struct SinkContext {
  Format format{};        ///< of its input
  StreamFormat stream{};  ///< of the source; stream.frame fixes the coordinates that contours are scaled to
  std::span<const ClassSpec> classes{};
  std::string output_root{};  ///< folder that relative paths are taken in; nothing is written outside it
  std::string owner{};        ///< what messages call it: "the sink 'coco'"
  OutputRegister* outputs = nullptr;  ///< the files of the run; null where a sink is used on its own
  Patience patience{};                ///< of everything that waits for somebody outside
  std::string camera{};               ///< the name of the source in the graph; empty where it has none
  std::string fallback{};  ///< why the run is on the CPU, where a device was asked for; empty: it is not
  const GraphSpec* graph = nullptr;  ///< of the run, borrowed; null where a sink is used on its own
};

/// Frames of the source that come to no sink, with numbers from `first` to `last`.
struct MissingFrames {
  enum class Reason : std::uint8_t {
    Failed,    ///< unusable input, or a stage refused them
    RingFull,  ///< no slot was free
    Deadline,  ///< they waited longer than the deadline
    Aborted,   ///< under way when the run was aborted
    Thinned,   ///< left out, where a run does with less (pipeline/graph/quality.h)
  };
  std::uint64_t first = 0, last = 0;
  Reason reason = Reason::RingFull;
  std::string error{};  ///< why frames failed, the same for all; with Reason::Failed
};

/// The times of a frame that a sink is about to get.
struct FrameTiming {
  std::int64_t arrived_ns = 0;   ///< when the source handed it over, as now_ns() value
  std::int64_t finished_ns = 0;  ///< when its result was complete, likewise
  bool late = false;             ///< behind the deadline of the graph
  int level = 0;                 ///< of quality; 0: full
};

/// What a camera does, and at which level of quality it runs, from now on.
struct CameraNews {
  std::int64_t at_ns = 0;    ///< since when, as now_ns() value
  std::string_view state{};  ///< name of a CameraState; lives as long as the program
  int level = 0;             ///< 0: full quality
};

/// What a sink has added up of a class over its frames, in px of its coordinates.
struct ClassTotals {
  std::string name;
  std::uint64_t contours = 0;
  double area = 0;  ///< with signs: holes take away
  double perimeter = 0;
  std::optional<double> share;  ///< of the area of the classes that are the whole (ClassSpec::whole)
  std::optional<double> mean;   ///< of the samples of the class's map in its regions
};

class Sink {
 public:
  virtual ~Sink() = default;
  /// Prepares for a format. Throws an Error when what it writes to cannot be made.
  virtual void open(const SinkContext& context) = 0;
  /// One finished frame. The value is valid during the call, and other sinks may read it at the same time.
  /// Throws Error(Io) when it cannot be written; no more frames come then.
  virtual void write(const FrameInfo& info, const Value& value) = 0;
  /// Frames that never come: before the first frame with a higher number, and before `finish`. Together with
  /// those of `write` every number from 0 comes once, in order. May also come while no frame does. Throws as
  /// `write`.
  virtual void write_missing(const MissingFrames& /*missing*/) {}
  /// The times of the frame that `write` is called for next.
  virtual void note_timing(const FrameTiming& /*timing*/) {}
  /// What has changed about the camera whose frames these are: before the first frame that it is true of, and
  /// also while no frame comes. Throws as `write`.
  virtual void write_camera(const CameraNews& /*news*/) {}
  /// Records of objects that have left, from every stage that makes some (Stage::objects); valid during the
  /// call. Comes before the frame by which they had left, also where that frame is dropped for this sink;
  /// what is left comes before `finish`. Throws as `write`.
  virtual void write_objects(const FinishedObjects& /*objects*/) {}
  /// Completes files. Called once, also after an error elsewhere, but not when a sink could not be opened.
  virtual void finish() = 0;
  /// What was made, for the closing message, as "overlay.mkv (255 frames)"; empty: nothing.
  virtual std::string summary() const { return {}; }
  /// Running totals of each class, for the report; empty: it adds nothing up.
  virtual std::vector<ClassTotals> totals() const { return {}; }
};

/// The one declaration of a sink. It takes one value of type `input`; without `from:` the last one of the
/// graph.
struct SinkType {
  std::string name{};
  std::string summary{};
  PortType input = PortType::Image;
  ParamDeclaration params{};
  std::string example{};
  bool needs_every_frame = false;  ///< it accounts for frames, so that `on_full: drop_oldest` is refused
  std::function<std::unique_ptr<Sink>(const ParamSet&)> make{};
};

}  // namespace contorno
