// Runs a stage's CUDA implementation on the inputs that the harness gave to the CPU, in device memory with
// the same pitches, and compares the output images bit for bit. Nothing where no device answers.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/memory.h"
#include "cuda/device.h"
#include "cuda/stream.h"
#include "pipeline/graph/stage.h"
#include "pipeline/value/copy_contours.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/compare_images.h"

namespace contorno::test {

/// What a stage knows of earlier frames (PlanContext::state), around one frame.
struct StageStates {
  std::vector<std::byte> before, after;
  std::uint64_t frame = 0;
  std::size_t bytes = 0;
};

class CudaShadow final : public PlanContext {
 public:
  /// `host` is what the CPU's stage was planned with; `outputs` what it made.
  CudaShadow(const PlanContext& host, const StageType& type, const ParamSet& params,
             const std::vector<Value>& outputs)
      : host_(host), outputs_on_host_(outputs), stage_(type.make_cuda(params)), stream_(Stream::create()) {}

  /// What the stage begins with, and what it left on the CPU.
  CudaShadow& with_states(const StageStates& states) {
    states_ = states;
    return *this;
  }
  /// `first_capacity` other than 0 makes the first plan that small.
  void run(const std::vector<Value>& inputs, std::uint64_t first_capacity) {
    limit_ = first_capacity;
    for (const Value& input : inputs)
      inputs_.push_back(std::visit([this](const auto& view) -> Value { return to_device(view); }, input));
    plan_and_run();
    for (std::uint64_t needed = stage_->overflow(context()); needed != 0;
         needed = stage_->overflow(context())) {
      REQUIRE(needed > capacity_);
      capacity_ = needed, limit_ = 0;
      plan_and_run();
    }
    // Once more: what a frame leaves behind must not show in the next one.
    stage_->run(context());
    stream_.synchronize();
  }

  void check_equal() const {
    for (std::size_t port = 0; port < outputs_.size(); ++port) {
      if (const auto* image = std::get_if<ImageView>(&outputs_[port])) {
        const Block copy = to_host(*image);
        ImageView view = *image;
        view.data = copy.data();
        const auto& expected = std::get<ImageView>(outputs_on_host_[port]);
        CHECK(view.format == expected.format);
        CHECK_MESSAGE(same_image(view, expected), "on CUDA");
      }
      if (const auto* contours = std::get_if<ContoursView>(&outputs_[port]))
        check_equal(*contours, std::get<ContoursView>(outputs_on_host_[port]));
    }
    // Who did not have all contours leaves nothing that is read: the frame is run again.
    const auto is_whole = [](const Value& value) {
      const auto* contours = std::get_if<ContoursView>(&value);
      return contours == nullptr || contours->fits();
    };
    if (states_.bytes == 0 || !std::all_of(outputs_on_host_.begin(), outputs_on_host_.end(), is_whole))
      return;
    std::vector<std::byte> left(states_.bytes);
    copy_async(left.data(), after_, left.size(), stream_.get());
    stream_.synchronize();
    CHECK_MESSAGE(left == states_.after, "the state on CUDA");
  }

  // What the stage sees.
  const Format& input(std::size_t port) const override { return host_.input(port); }
  void set_output(std::size_t port, const Format& format) override {
    if (outputs_.size() <= port) outputs_.resize(port + 1);
    if (const auto* contours = std::get_if<ContoursFormat>(&format)) {
      outputs_[port] = packed_view(take(packed_bytes(*contours), MemoryKind::Device, kUnwritten), *contours);
      return;
    }
    ImageView view = std::get<ImageView>(outputs_on_host_.at(port));
    view.format = std::get<ImageFormat>(format);
    view.data = take(bytes_of(view), MemoryKind::Device, kUnwritten);
    outputs_[port] = view;
  }
  Scratch scratch(std::size_t bytes, MemoryKind kind) override {
    scratches_.push_back(take(bytes, kind, kind == MemoryKind::Device ? 0 : kUnwritten));
    return {scratches_.size() - 1};
  }
  /// With what somebody else may have left in it.
  Scratch temporary(std::size_t bytes, MemoryKind kind) override {
    scratches_.push_back(take(bytes, kind, kUnwritten));
    return {scratches_.size() - 1};
  }
  State state(std::size_t bytes) override {
    const State asked{states_.bytes};
    states_.bytes += align_up(bytes);
    return asked;
  }
  std::span<const ClassSpec> classes() const override { return host_.classes(); }
  std::uint64_t capacity(std::uint64_t first_guess) const override {
    return limit_ != 0 ? limit_ : std::max(first_guess, capacity_);
  }
  int threads() const override { return host_.threads(); }
  const TextRasteriser* text() const override { return host_.text(); }

 private:
  static std::size_t bytes_of(const ImageView& view) {
    const auto planes = static_cast<std::ptrdiff_t>(view.format.planes());
    return static_cast<std::size_t>(planes > 1 ? view.plane_pitch * planes
                                               : view.row_pitch * view.format.height);
  }

  static constexpr int kUnwritten = 0xA5;

  std::byte* take(std::size_t bytes, MemoryKind kind, int value) {
    blocks_.emplace_back(std::max<std::size_t>(bytes, 1), kind);
    fill_async(blocks_.back().data(), value, std::max<std::size_t>(bytes, 1), stream_.get());
    stream_.synchronize();
    return blocks_.back().data();
  }

  std::byte* upload(const void* data, std::size_t bytes) {
    Block staging(std::max<std::size_t>(bytes, 1), MemoryKind::Pinned);
    std::memcpy(staging.data(), data, bytes);
    kept_.emplace_back(std::max<std::size_t>(bytes, 1), MemoryKind::Device);
    copy_async(kept_.back().data(), staging.data(), bytes, stream_.get());
    stream_.synchronize();
    return kept_.back().data();
  }
  Value to_device(const ImageView& view) {
    ImageView copy = view;
    copy.data = upload(view.data, bytes_of(view));
    return copy;
  }
  Value to_device(const ContoursView& view) {
    // Offsets of contours and places of classes are those of the host's block.
    const auto* base = reinterpret_cast<const std::byte*>(view.counts);
    return packed_view(upload(base, packed_bytes(view.format)), view.format);
  }

  /// Contours come back by the pipeline's own download, into memory that says what was not written.
  void check_equal(const ContoursView& device, const ContoursView& expected) const {
    Block memory(packed_bytes(device.format), MemoryKind::Pinned);
    std::memset(memory.data(), kUnwritten, memory.size());
    const ContoursView copy = packed_view(memory.data(), device.format);
    copy_contours_async(device, copy, stream_.get());
    stream_.synchronize();
    CHECK(copy.format == expected.format);
    CHECK_MESSAGE(same_contours(copy, expected), "on CUDA");
  }

  Block to_host(const ImageView& view) const {
    Block copy(bytes_of(view), MemoryKind::Pinned);
    copy_async(copy.data(), view.data, bytes_of(view), stream_.get());
    stream_.synchronize();
    return copy;
  }

  void plan_and_run() {
    blocks_.clear(), scratches_.clear(), outputs_.clear(), states_.bytes = 0;
    stage_->plan(*this);
    place_counts();
    place_states();
    stage_->run(context());
    for (std::size_t port = 0; port < outputs_.size(); ++port)
      if (const auto* contours = std::get_if<ContoursView>(&outputs_[port]))
        copy_contours_async(*contours, std::get<ContoursView>(host_outputs_[port]), stream_.get());
    stream_.synchronize();
  }
  /// The numbers of contours come back as in a graph in which nobody takes the contours.
  void place_counts() {
    host_outputs_ = outputs_;
    for (Value& value : host_outputs_)
      if (const auto* contours = std::get_if<ContoursView>(&value)) {
        blocks_.emplace_back(packed_counts_bytes(contours->format), MemoryKind::Pinned);
        value = packed_counts(blocks_.back().data(), contours->format);
      }
  }
  void place_states() {
    if (states_.bytes == 0) return;
    before_ = take(states_.bytes, MemoryKind::Device, 0);
    copy_async(before_, states_.before.data(), states_.bytes, stream_.get());
    after_ = take(states_.bytes, MemoryKind::Device, kUnwritten);
    number_ = take(sizeof states_.frame, MemoryKind::Pinned, 0);
    std::memcpy(number_, &states_.frame, sizeof states_.frame);
    stream_.synchronize();
  }
  RunContext context() const {
    return {.inputs = inputs_,
            .outputs = outputs_,
            .host_outputs = host_outputs_,
            .scratches = scratches_,
            .stream = stream_.get(),
            .states_before = before_,
            .states_after = after_,
            .frame_number = reinterpret_cast<const std::uint64_t*>(number_)};
  }

  const PlanContext& host_;
  std::vector<Value> outputs_on_host_;
  std::unique_ptr<Stage> stage_;
  Stream stream_;
  std::vector<Value> inputs_, outputs_, host_outputs_;
  std::vector<std::byte*> scratches_;
  StageStates states_;
  std::byte *before_ = nullptr, *after_ = nullptr, *number_ = nullptr;
  std::vector<Block> blocks_, kept_;  ///< memory of the plan; memory of the inputs
  std::uint64_t capacity_ = 0;
  std::uint64_t limit_ = 0;
};

}  // namespace contorno::test
