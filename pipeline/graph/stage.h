// What a stage is: declared once (StageType), planned for a format, and again when a capacity grows
// (Stage::plan), run once per frame (Stage::run). Every slot (a frame under way) has its own Stage objects,
// so `plan` may keep tables in members. `run` is const and never allocates: on the CPU it does the work, on
// CUDA it enqueues the work and returns before that is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/memory.h"
#include "pipeline/graph/param.h"
#include "pipeline/value/classes.h"
#include "pipeline/value/contours.h"
#include "pipeline/value/image.h"
#include "pipeline/value/objects.h"
#include "pipeline/value/text.h"

namespace contorno {

enum class Backend : std::uint8_t { Auto, Cpu, Cuda };
std::string_view name_of(Backend backend);

enum class PortType : std::uint8_t { Image, Contours };

/// What an input takes where a graph does not say more.
/// Stage: the nearest earlier output that fits; a graph without one is refused.
/// FrameOrMaps: the nearest earlier output that fits; if there is none, the source's frame, else its maps.
/// MapsOrFrame: the nearest earlier output that fits; if there is none, the source's maps, else its frame.
/// Frame: the source's frame, whatever stages lie between.
/// A plain `from: source` passes over the stages: maps first of MapsOrFrame, else the frame first.
enum class From : std::uint8_t { Stage, FrameOrMaps, MapsOrFrame, Frame };
/// In words for the help: "nearest earlier output, else source.frame or source.maps".
std::string_view name_of(From from);

/// An input or output of a stage. Inputs that are images must set `from`; the default is that of others, and
/// outputs have none.
struct PortSpec {
  std::string name{};
  PortType type = PortType::Image;
  std::string sentence{};
  From from = From::Stage;
};

std::string_view name_of(PortType type);

/// In the order of PortType.
using Format = std::variant<ImageFormat, ContoursFormat>;
using Value = std::variant<ImageView, ContoursView>;

/// The type of port that takes a format, and the format in words for messages.
PortType port_type(const Format& format);
std::string describe(const Format& format);

class BandedUpload;

/// Memory of a stage's own: PlanContext::scratch asks for it, RunContext::scratch gives its address.
struct Scratch {
  std::size_t index = 0;
};

/// Memory that goes with the frames: PlanContext::state asks for it, RunContext::state_before and state_after
/// give its addresses.
struct State {
  std::size_t offset = 0;
};

/// What a stage sees while it is planned. Formats of inputs are known; it sets those of its outputs and asks
/// for scratch.
class PlanContext {
 public:
  virtual ~PlanContext() = default;
  virtual const Format& input(std::size_t port) const = 0;
  virtual void set_output(std::size_t port, const Format& format) = 0;
  /// `bytes` of memory that only this stage uses, aligned to kAlignment. Scratch of kind Device begins as
  /// zeros after every plan, before the first run on its stream, that of other kinds undefined; all keeps
  /// from frame to frame what the stage leaves there.
  virtual Scratch scratch(std::size_t bytes, MemoryKind kind) = 0;
  /// Scratch whose content a stage needs within `run` only: before it, the memory may have been that of
  /// others. What `run` leaves there stays until another stage or step runs.
  virtual Scratch temporary(std::size_t bytes, MemoryKind kind) { return scratch(bytes, kind); }
  /// `bytes` of memory, aligned to kAlignment and the same in every plan, of what a stage has to know of the
  /// frames before: `run` reads what the last one left (RunContext::state_before; at first zeros), and leaves
  /// there what the next one needs (state_after), all of it. A frame that is dropped or has failed is passed
  /// over. One whose input does not fit leaves anything that the stage can read: it is run again, and so are
  /// those behind it. Frames are in the order of their numbers; some may be missing.
  virtual State state(std::size_t /*bytes*/) {
    throw InternalError("a stage that knows of earlier frames was planned where nobody keeps its state");
  }
  virtual std::span<const ClassSpec> classes() const = 0;
  /// `first_guess`, or more if an earlier frame overflowed it (see Stage::overflow).
  virtual std::uint64_t capacity(std::uint64_t first_guess) const = 0;
  /// Threads that parallel loops (pipeline/shared/loops.h) will use in `run`.
  virtual int threads() const = 0;
  /// Draws text; null when the program has no text library.
  virtual const TextRasteriser* text() const = 0;

  const ImageFormat& image(std::size_t port) const { return std::get<ImageFormat>(input(port)); }
};

/// What a stage sees while it runs: memory of its slot.
struct RunContext {
  std::span<const Value> inputs;
  /// Contours are packed views (packed_view).
  std::span<const Value> outputs;
  /// The outputs as the host reads them when the frame is complete: the same memory on the CPU; on CUDA
  /// page-locked memory, where somebody on the host takes the output. Of other contours the counts come back
  /// if the stage asks for them (Stage::needs_counts). The pipeline enqueues these downloads.
  std::span<const Value> host_outputs;
  /// The upload under way of each input; null: the input has arrived. Only for a stage with
  /// Stage::takes_bands.
  std::span<BandedUpload* const> uploads;
  std::span<std::byte* const> scratches;
  void* stream = nullptr;  ///< cudaStream_t on the CUDA backend, null on the CPU
  int threads = 1;
  // The states of stages that asked for one, in memory of the backend; see below.
  const std::byte* states_before = nullptr;
  std::byte* states_after = nullptr;
  const std::uint64_t* frame_number = nullptr;  ///< FrameInfo::number; the host may read it too
  const std::function<void(std::size_t part)>* part_ended =
      nullptr;  ///< null: this frame's parts are not timed

  const ImageView& image_in(std::size_t port) const { return std::get<ImageView>(inputs[port]); }
  const ImageView& image_out(std::size_t port) const { return std::get<ImageView>(outputs[port]); }
  template <class T>
  T* scratch(Scratch handle) const {
    return reinterpret_cast<T*>(scratches[handle.index]);
  }
  template <class T>
  const T* state_before(State handle) const {
    return reinterpret_cast<const T*>(states_before + handle.offset);
  }
  template <class T>
  T* state_after(State handle) const {
    return reinterpret_cast<T*>(states_after + handle.offset);
  }
  /// Says that the work up to here, since the last call or the begin of `run`, is that of part `part` of
  /// StageType::parts. `run` says so of every part but the last one, which ends with it; where parts take
  /// turns, on the CPU of every turn, on CUDA of the last one alone.
  void end_part(std::size_t part) const {
    if (part_ended != nullptr) (*part_ended)(part);
  }
};

/// How many objects of a class a stage that follows them has seen come and go since the first frame.
struct TrackCounts {
  std::uint64_t births = 0, deaths = 0;
  std::uint64_t forgotten = 0;  ///< objects forgotten for want of room; neither alive nor dead
  bool operator==(const TrackCounts&) const = default;
};

class Stage {
 public:
  virtual ~Stage() = default;
  /// Called once per format, and again when a capacity grows. Throws Error(BadConfig) when the formats do not
  /// fit.
  virtual void plan(PlanContext& context) = 0;
  /// Called once per frame. Throws Error(BadData) when the frame cannot be processed; the stream then goes
  /// on.
  virtual void run(const RunContext& context) const = 0;
  /// True: the stage is run before its input images have been uploaded, and waits for their bands
  /// (RunContext::uploads). Only on CUDA.
  virtual bool takes_bands() const { return false; }
  /// True: `run` downloads its one output to the host_outputs itself, because it can begin with the first
  /// part while others are still being made. Only on CUDA; where nobody on the host takes an image, its host
  /// output is the output itself.
  virtual bool downloads_output() const { return false; }
  /// Called when the stage's work is complete: on the CPU behind `run`, on CUDA behind the frame, when of the
  /// stage's memory only scratch of kinds Host and Pinned and the counts in `host_outputs` may be read.
  /// Returns the capacity that the frame needs, 0 if it fitted.
  virtual std::uint64_t overflow(const RunContext& /*context*/) const { return 0; }
  /// True: `overflow` looks at the counts of the contours that the stage makes, on the host.
  virtual bool needs_counts() const { return false; }
  /// For a stage with one input and one output, contours, that selects and orders them and leaves them whole:
  /// the scratch (Host on the CPU, Device on CUDA) that has, after `run`, for every contour of the output its
  /// number in the input, as std::uint32_t. A caller that has the points in another form takes them by these
  /// numbers. It may be temporary memory: whoever reads it does so before another stage or step runs.
  virtual std::optional<Scratch> selection() const { return std::nullopt; }
  /// The counts up to this frame, for each class, of a stage that follows objects from frame to frame; called
  /// when the work of the frame is complete. Valid until the frame's memory is used again.
  virtual std::span<const TrackCounts> track_counts(const RunContext& /*context*/) const { return {}; }
  /// The rule by which a run makes records of the objects that this stage's first output shows, contours with
  /// Id, Object and Share. Known once the stage is planned, and the same in every plan. Null for stages of
  /// which no records are made.
  virtual const ObjectsRule* objects() const { return nullptr; }
};

/// The capacity to plan for where a frame needed `needed`: a quarter of room to spare, so that a slowly
/// growing scene does not overflow frame after frame.
constexpr std::uint64_t capacity_to_plan(std::uint64_t needed) {
  return needed + needed / 4;
}

/// Makes a stage from its parameters.
using MakeStage = std::function<std::unique_ptr<Stage>(const ParamSet&)>;

/// What StageType::make_cuda is of a stage that `Make` makes: nothing in builds without CUDA, which do not
/// have that function. Compiled with CONTORNO_HAVE_CUDA defined it is there.
template <auto Make>
MakeStage on_cuda() {
#ifdef CONTORNO_HAVE_CUDA
  return Make;
#else
  return {};
#endif
}

/// Whether a stage asks for the classes of its graph (PlanContext::classes).
enum class ClassUse : std::uint8_t { None, Needed };

/// A word of a parameter for which there is no CUDA implementation.
struct OnlyOnCpu {
  std::string param{}, word{};
  std::string instead{};  ///< what a graph on CUDA may have in its place, behind "take"
};

/// A part of what a stage does.
struct PartSpec {
  std::string name{};
  std::string summary{};  ///< one sentence
};

/// The one declaration of a stage. `example` is the YAML of a stages list entry; it is printed in the help
/// and executed by a test.
struct StageType {
  std::string name{};
  std::string summary{};  ///< one sentence
  std::vector<PortSpec> inputs{}, outputs{};
  ParamDeclaration params{};
  std::string example{};
  MakeStage make_cpu{};
  MakeStage make_cuda{};  ///< empty: no CUDA implementation
  std::vector<OnlyOnCpu> only_on_cpu = {};
  ClassUse classes = ClassUse::None;
  /// What a stage does one after the other, where that is timed part by part (RunContext::end_part). Of two
  /// parts a graph file may name each as a node; config/ makes them one.
  std::vector<PartSpec> parts = {};
  bool makes_objects = false;  ///< has Stage::objects
  /// On CUDA, too, `make_cpu` is what runs: on the host, on images there, before the frame is uploaded. What
  /// such a stage makes is uploaded with the frame. What it takes comes from the source, or from stages that
  /// run on the host for its sake (see host_nodes).
  bool on_host = false;

  std::size_t timed_parts() const { return parts.empty() ? 1 : parts.size(); }
};

}  // namespace contorno
