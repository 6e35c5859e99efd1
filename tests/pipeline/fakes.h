// A source, a stage and a sink whose behaviour a test sets: counting frames, sleeping, failing, overflowing.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "pipeline/graph/graph.h"
#include "pipeline/run/runner.h"

namespace contorno::fake {

/// `frames` 2x2 grey frames whose first four bytes are the frame number.
class CountingSource final : public Source {
 public:
  explicit CountingSource(std::uint64_t frames, bool live = false) : frames_(frames) {
    format_.frame = ImageFormat{.width = 4, .height = 2, .channels = 1};
    format_.live = live;
    format_.description = "counting";
  }
  const StreamFormat& format() const override { return format_; }
  ReadResult read(FrameInput& input) override {
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    if (cancelled_ || next_ == frames_) return ReadResult::End;
    if (next_ == change_at && format_.frame->width == 4) {
      format_.frame->width = 8;
      return ReadResult::FormatChanged;
    }
    if (next_ == change_back_at && format_.frame->width == 8) {
      format_.frame->width = 4;
      return ReadResult::FormatChanged;
    }
    const std::uint64_t number = next_++;
    given_ = number + 1;
    input.info.name = change_back_at == number + 1 ? std::to_string(number) : "";
    input.info.pts_ns = static_cast<std::int64_t>(number) * 1000;
    if (warns && warns(number)) input.warning = "odd";
    if (bad && bad(number)) {
      input.error = "planted";
      return ReadResult::Bad;
    }
    *reinterpret_cast<std::uint32_t*>(input.frame.data) = static_cast<std::uint32_t>(number);
    return ReadResult::Frame;
  }
  void cancel() override { cancelled_ = true; }
  std::vector<SourceFault> faults() const override { return at_end; }
  std::uint64_t reconnections() const override { return reconnected; }
  void announce(std::int64_t frames) { format_.frame_count = frames; }
  void declare_rate(int numerator, int denominator) {
    format_.rate_numerator = numerator, format_.rate_denominator = denominator;
  }
  /// Returns when so many frames were given, or when they never come.
  void wait_until_given(std::uint64_t frames) const {
    for (int i = 0; i < 100'000 && given_ < frames; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::vector<SourceFault> at_end;
  std::uint64_t reconnected = 0;
  std::chrono::microseconds pause{0};
  std::uint64_t change_at = ~std::uint64_t{0}, change_back_at = ~std::uint64_t{0};
  std::function<bool(std::uint64_t)> bad, warns;

 private:
  StreamFormat format_;
  std::uint64_t frames_, next_ = 0;
  std::atomic<std::uint64_t> given_ = 0;
  std::atomic<bool> cancelled_ = false;
};

/// Knows when nobody works on a frame: a frame in work is the one thing that lets the newest go in its place.
class Settled {
 public:
  RunOptions options() {
    RunOptions options;
    options.on_result = [this](const PlannedGraph&, const std::vector<ClassCounts>&) { ++gone_; };
    options.on_drop = [this](std::uint64_t, DropReason) { ++gone_; };
    return options;
  }
  /// Until so many frames were handed to the sinks or dropped; false when they never are.
  bool wait_until(int frames) const {
    for (int i = 0; i < 20'000 && gone_ < frames; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return gone_ == frames;
  }

 private:
  std::atomic<int> gone_ = 0;
};

/// Copies its input and does what the test asks.
struct Behaviour {
  std::function<void(std::uint32_t number)> on_run;
  std::uint64_t capacity_needed = 0;  ///< overflows while less is planned
  int most_width = 8;                 ///< greatest width of a frame that can be planned
};
inline Behaviour behaviour;

class CopyStage final : public Stage {
 public:
  void plan(PlanContext& context) override {
    const int width = std::get<ImageFormat>(context.input(0)).width;
    if (width > behaviour.most_width)
      throw Error(ExitCode::BadConfig, "width is " + std::to_string(width) + ", allowed is " +
                                           std::to_string(behaviour.most_width));
    context.set_output(0, context.input(0));
    capacity_ = context.capacity(1);
    scratch_ = context.scratch(capacity_, MemoryKind::Host);
  }
  void run(const RunContext& context) const override {
    const ImageView& in = context.image_in(0);
    const std::uint32_t number = *in.row<std::uint32_t>(0);
    if (behaviour.on_run) behaviour.on_run(number);
    *context.image_out(0).row<std::uint32_t>(0) = number;
    context.scratch<std::uint8_t>(scratch_)[capacity_ - 1] = 1;
  }
  std::uint64_t overflow(const RunContext&) const override {
    return capacity_ < behaviour.capacity_needed ? behaviour.capacity_needed : 0;
  }

 private:
  std::uint64_t capacity_ = 0;
  Scratch scratch_;
};

inline const StageType& copy_stage() {
  struct None {};
  static const StageType type{
      .name = "copy",
      .summary = "Copies a frame.",
      .inputs = {{.name = "image", .type = PortType::Image, .from = From::FrameOrMaps}},
      .outputs = {{.name = "image", .type = PortType::Image}},
      .params = declare(ParamList<None>()),
      .make_cpu = [](const ParamSet&) { return std::make_unique<CopyStage>(); }};
  return type;
}

/// Gives the sum of the numbers of all frames so far, `times` each, its state, and then does what the test
/// asks: a frame that fails or overflows has left one by then.
class SumStage final : public Stage {
 public:
  explicit SumStage(std::uint32_t times = 1) : times_(times) {}
  void plan(PlanContext& context) override {
    copy_.plan(context);
    state_ = context.state(sizeof(std::uint32_t));
  }
  void run(const RunContext& context) const override {
    const std::uint32_t sum = *context.state_before<std::uint32_t>(state_) +
                              times_ * static_cast<std::uint32_t>(*context.frame_number);
    *context.state_after<std::uint32_t>(state_) = sum;
    copy_.run(context);
    *context.image_out(0).row<std::uint32_t>(0) = sum;
  }
  std::uint64_t overflow(const RunContext& context) const override { return copy_.overflow(context); }

 private:
  CopyStage copy_;
  State state_;
  std::uint32_t times_;
};

inline StageType sum_type(const char* name, std::uint32_t times) {
  StageType sum = copy_stage();
  sum.name = name;
  sum.make_cpu = [times](const ParamSet&) { return std::make_unique<SumStage>(times); };
  return sum;
}

inline const StageType& sum_stage() {
  static const StageType type = sum_type("sum", 1);
  return type;
}

inline const StageType& sum_of_thousands_stage() {
  static const StageType type = sum_type("sum_of_thousands", 1000);
  return type;
}

class CollectingSink final : public Sink {
 public:
  void open(const SinkContext& context) override {
    widths.push_back(std::get<ImageFormat>(context.format).width);
  }
  void write(const FrameInfo& info, const Value& value) override {
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    if (before_write) before_write();
    if (fail_at == info.number) throw Error(ExitCode::Io, "planted sink error");
    frames.push_back(info.number);
    payloads.push_back(*std::get<ImageView>(value).row<std::uint32_t>(0));
  }
  void finish() override { ++finished; }

  std::chrono::microseconds pause{0};
  std::function<void()> before_write;
  std::uint64_t fail_at = ~std::uint64_t{0};
  std::vector<int> widths;
  std::vector<std::uint64_t> frames;
  std::vector<std::uint32_t> payloads;
  int finished = 0;
};

/// source -> copy -> copy, one thread.
inline GraphSpec copy_graph() {
  behaviour = {};
  GraphSpec graph;
  graph.settings.threads = 1;
  graph.nodes.push_back(
      {.name = "one", .type = &copy_stage(), .params = ParamSet(copy_stage().params), .inputs = {Origin{}}});
  graph.nodes.push_back({.name = "two",
                         .type = &copy_stage(),
                         .params = ParamSet(copy_stage().params),
                         .inputs = {Origin{0, 0}}});
  return graph;
}

}  // namespace contorno::fake
