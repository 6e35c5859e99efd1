// Contours that a source brings as pictures, so that a test decides what every frame of a graph has: with
// frames that fail, and frames that need more room.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "base/error.h"
#include "cuda/stream.h"
#include "pipeline/graph/source.h"
#include "pipeline/graph/stage.h"
#include "tests/stages/contour_prep/track_reference.h"
#include "tests/stages/default_params.h"

namespace contorno::test {

inline constexpr int kTrackedClasses = 3;

/// Contours as the rows of a picture, packed for the most that there are.
inline const ContoursFormat kCarried{
    .width = 512, .height = 512, .classes = kTrackedClasses, .point_capacity = 1024, .contour_capacity = 256};

/// What happens to frames of some numbers in the stage that unpacks them.
struct Events {
  std::set<std::uint64_t> fail;                 ///< when their work is complete
  std::map<std::uint64_t, std::uint64_t> need;  ///< so much capacity
};
inline Events events;

/// Makes contours of the picture that carries them. There is room for few at first.
class UnpackStage final : public Stage {
 public:
  explicit UnpackStage(Backend backend) : backend_(backend) {}
  void plan(PlanContext& context) override {
    capacity_ = context.capacity(100);
    ContoursFormat format = kCarried;
    format.point_capacity = std::min(kCarried.point_capacity, capacity_);
    format.contour_capacity = std::min(kCarried.contour_capacity, capacity_);
    context.set_output(0, format);
    state_ = context.state(1);  // for the frame's number
  }
  void run(const RunContext& context) const override {
    const ContoursView in = packed_view(context.image_in(0).data, kCarried);
    const auto& out = std::get<ContoursView>(context.outputs[0]);
    const auto copy = [&](auto* to, const auto* from, std::uint64_t count) {
      if (backend_ == Backend::Cuda)
        copy_async(to, from, count * sizeof(*to), context.stream);
      else
        std::copy_n(from, count, to);
    };
    copy(out.counts, in.counts, 1);
    copy(out.class_begin, in.class_begin, kTrackedClasses + 1);
    copy(out.offsets, in.offsets, out.format.contour_capacity + 1);
    copy(out.closed, in.closed, out.format.contour_capacity);
    copy(out.points, in.points, out.format.point_capacity);
  }
  bool needs_counts() const override { return true; }
  std::uint64_t overflow(const RunContext& context) const override {
    const std::uint64_t number = *context.frame_number;
    if (events.fail.contains(number)) throw Error(ExitCode::BadData, "planted");
    const auto& out = std::get<ContoursView>(context.host_outputs[0]);
    if (!out.fits()) return std::max(out.counts->points, out.counts->contours);
    const auto need = events.need.find(number);
    return need != events.need.end() && need->second > capacity_ ? need->second : 0;
  }

 private:
  Backend backend_;
  State state_;
  std::uint64_t capacity_ = 0;
};

inline const StageType& unpack_stage() {
  struct None {};
  static const StageType type{
      .name = "unpack",
      .summary = "Makes contours of the picture that carries them.",
      .inputs = {{.name = "image", .type = PortType::Image, .from = From::FrameOrMaps}},
      .outputs = {{.name = "contours", .type = PortType::Contours}},
      .params = declare(ParamList<None>()),
      .make_cpu = [](const ParamSet&) { return std::make_unique<UnpackStage>(Backend::Cpu); },
      .make_cuda = [](const ParamSet&) { return std::make_unique<UnpackStage>(Backend::Cuda); }};
  return type;
}

/// Carries the frames of a scene. Some are bad.
struct Carrier final : Source {
  const Scene& scene;
  StreamFormat stream;
  std::uint64_t next = 0;
  std::chrono::microseconds pause{0};

  explicit Carrier(const Scene& frames) : scene(frames) {
    stream.frame = ImageFormat{.width = static_cast<int>(packed_bytes(kCarried)), .height = 1, .channels = 1};
    stream.description = "carrier";
  }
  const StreamFormat& format() const override { return stream; }
  ReadResult read(FrameInput& input) override {
    if (next == scene.frames.size()) return ReadResult::End;
    std::this_thread::sleep_for(pause);
    const TestContours contours(kCarried.width, kCarried.height, kTrackedClasses, scene.frames[next]);
    if (next++ % 11 == 8) {
      input.error = "planted";
      return ReadResult::Bad;
    }
    const ContoursView &from = contours.view, to = packed_view(input.frame.data, kCarried);
    *to.counts = *from.counts;
    std::copy_n(from.class_begin, kTrackedClasses + 1, to.class_begin);
    std::copy_n(from.offsets, from.counts->contours + 1, to.offsets);
    std::copy_n(from.closed, from.counts->contours, to.closed);
    std::copy_n(from.points, from.counts->points, to.points);
    return ReadResult::Frame;
  }
  void cancel() override {}
};

}  // namespace contorno::test
