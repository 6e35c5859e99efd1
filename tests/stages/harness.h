// Plans and runs one stage on given images and contours, without a graph: what the tests of the stages share.
// What runs on the CPU is compared with the CUDA implementation where there is one and a device answers.
// Images may have odd pitches; every block ends in guard bytes that check_guards compares.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "cuda/device.h"
#include "pipeline/graph/graph.h"
#include "pipeline/graph/stage.h"
#include "tests/stages/cuda_shadow.h"

namespace contorno::test {

inline constexpr std::size_t kGuardBytes = 64;
inline constexpr std::byte kGuard{0xA5};

/// Memory with guard bytes at its end.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : block_(bytes + kGuardBytes, MemoryKind::Host), bytes_(bytes) {
    std::memset(block_.data(), static_cast<int>(kGuard), block_.size());
  }
  std::byte* data() const { return block_.data(); }
  std::size_t size() const { return bytes_; }
  bool intact() const {
    for (std::size_t i = 0; i < kGuardBytes; ++i)
      if (block_.data()[bytes_ + i] != kGuard) return false;
    return true;
  }

 private:
  Block block_;
  std::size_t bytes_;
};

/// An image with its memory. `row_extra` and `plane_extra` bytes lie behind each row and plane.
struct TestImage {
  explicit TestImage(const ImageFormat& format, std::size_t row_extra = 0, std::size_t plane_extra = 0)
      : memory((format.row_bytes() + row_extra) * static_cast<std::size_t>(format.height * format.planes()) +
               plane_extra * static_cast<std::size_t>(format.planes())) {
    view = {.data = memory.data(), .format = format};
    view.row_pitch = static_cast<std::ptrdiff_t>(format.row_bytes() + row_extra);
    view.plane_pitch = view.row_pitch * format.height + static_cast<std::ptrdiff_t>(plane_extra);
  }
  /// The sample at (x, y, channel), whichever the layout.
  template <class T>
  T& at(int x, int y, int channel = 0) const {
    return view.format.layout == Layout::Planar ? view.row<T>(y, channel)[x]
                                                : view.row<T>(y)[x * view.format.channels + channel];
  }

  Guarded memory;
  ImageView view;
};

template <class T, class F>
TestImage filled_image(const ImageFormat& format, const F& value, std::size_t row_extra = 0) {
  TestImage image(format, row_extra, row_extra);
  for (int y = 0; y < format.height; ++y)
    for (int x = 0; x < format.width; ++x)
      for (int c = 0; c < format.channels; ++c) image.at<T>(x, y, c) = static_cast<T>(value(x, y, c));
  return image;
}

/// One contour of a class: (x, y) on the map.
struct TestContour {
  int class_index = 0;
  bool closed = false;
  std::vector<std::pair<double, double>> points;
};

/// Contours with their memory; the given ones must be in class order.
struct TestContours {
  TestContours(int width, int height, int classes, const std::vector<TestContour>& contours,
               const Placement& placement = {}, Attributes attributes = {})
      : format{.width = width,
               .height = height,
               .classes = classes,
               .placement = placement,
               .attributes = attributes},
        memory(0) {
    for (const TestContour& contour : contours) format.point_capacity += contour.points.size();
    format.contour_capacity = contours.size();
    memory = Guarded(packed_bytes(format));
    view = packed_view(memory.data(), format);
    *view.counts = {format.point_capacity, format.contour_capacity};
    std::uint32_t at = 0, index = 0;
    view.offsets[0] = 0;
    for (int k = 0; k < classes; ++k) {
      view.class_begin[k] = index;
      for (; index < contours.size() && contours[index].class_index == k; ++index) {
        for (const auto& [x, y] : contours[index].points)
          view.points[at++] = {static_cast<float>(y), static_cast<float>(x)};
        view.closed[index] = contours[index].closed ? 1 : 0;
        view.offsets[index + 1] = at;
      }
    }
    view.class_begin[classes] = index;
    attributes.for_each([&](Attribute one) {
      for (std::uint32_t i = 0; i < index; ++i) view.column(one)[i] = attribute_of(one, i);
    });
  }

  /// Another number for each attribute and contour.
  static double attribute_of(Attribute attribute, std::uint32_t contour) {
    return contour + static_cast<double>(attribute) / 64;
  }

  ContoursFormat format;
  Guarded memory;
  ContoursView view;
};

using Settings = std::vector<std::pair<std::string, ParamValue>>;

class StageHarness final : public PlanContext {
 public:
  StageHarness(const StageType& type, const Settings& settings, std::vector<ClassSpec> classes = {})
      : type_(type), classes_(std::move(classes)), params_(type.params) {
    for (const auto& [name, value] : settings) params_.set(name, value);
    stage_ = type.make_cpu(params_);
  }

  StageHarness& threads(int count) {
    threads_ = count;
    return *this;
  }
  StageHarness& text(const TextRasteriser* rasteriser) {
    text_ = rasteriser;
    return *this;
  }
  /// Bytes behind each row of outputs that are images; without it outputs are packed.
  StageHarness& output_row_extra(std::size_t bytes) {
    row_extra_ = bytes, packed_ = false;
    return *this;
  }

  /// Plans for the formats of `inputs` and runs once; again with more capacity when the stage asks for it.
  void run(const std::vector<Value>& inputs) {
    inputs_ = inputs;
    input_formats_.clear();
    for (const Value& value : inputs) input_formats_.push_back(format_of(value));
    plan();
    rerun();
    for (std::uint64_t needed = overflow(); needed != 0; needed = overflow()) {
      REQUIRE(needed > capacity_);
      capacity_ = needed, ++regrown_;
      plan();
      rerun();
    }
    check_guards();
    compare_with_cuda();
  }
  /// Runs the planned stage once more, as for the next frame.
  void rerun() {
    std::fill(states_.after.begin(), states_.after.end(), kGuard);
    stage_->run(context());
  }
  /// The number of the frame for the next run; it begins with the state that the last run left.
  StageHarness& next_frame(std::uint64_t number) {
    states_.before = states_.after;
    states_.frame = number;
    return *this;
  }
  std::span<const TrackCounts> track_counts() const { return stage_->track_counts(context()); }
  const StageStates& states() const { return states_; }

  const Value& value(std::size_t port = 0) const { return outputs_[port]; }
  const ImageView& image(std::size_t port = 0) const { return std::get<ImageView>(outputs_[port]); }
  template <class T>
  T at(int x, int y, int channel = 0) const {
    const ImageView& view = image();
    return view.format.layout == Layout::Planar ? view.row<T>(y, channel)[x]
                                                : view.row<T>(y)[x * view.format.channels + channel];
  }
  /// All samples of an output image, without the bytes between rows.
  std::vector<std::byte> bytes(std::size_t port = 0) const {
    const ImageView& view = image(port);
    std::vector<std::byte> all;
    for (int plane = 0; plane < view.format.planes(); ++plane)
      for (int y = 0; y < view.format.height; ++y) {
        const auto* row = view.row<const std::byte>(y, plane);
        all.insert(all.end(), row, row + view.format.row_bytes());
      }
    return all;
  }
  int regrown() const { return regrown_; }
  const ParamSet& params() const { return params_; }

  void check_guards() const {
    for (const auto& block : blocks_) CHECK_MESSAGE(block->intact(), type_.name, " wrote behind its memory");
  }

  // What the stage sees.
  const Format& input(std::size_t port) const override { return input_formats_.at(port); }
  void set_output(std::size_t port, const Format& format) override {
    if (outputs_.size() <= port) outputs_.resize(port + 1);
    outputs_[port] = std::visit([this](const auto& f) { return allocate(f); }, format);
  }
  Scratch scratch(std::size_t bytes, MemoryKind) override {
    blocks_.push_back(std::make_unique<Guarded>(bytes));
    scratches_.push_back(blocks_.back()->data());
    return {scratches_.size() - 1};
  }
  State state(std::size_t bytes) override {
    const State asked{states_.bytes};
    states_.bytes += align_up(bytes);
    return asked;
  }
  std::span<const ClassSpec> classes() const override { return classes_; }
  std::uint64_t capacity(std::uint64_t first_guess) const override {
    return limit_ != 0 && regrown_ == 0 ? limit_ : std::max(first_guess, capacity_);
  }
  /// Makes the first plan small, so that the stage overflows.
  StageHarness& first_capacity(std::uint64_t limit) {
    limit_ = limit;
    return *this;
  }
  int threads() const override { return threads_; }
  const TextRasteriser* text() const override { return text_; }

 private:
  static Format format_of(const Value& value) {
    return std::visit([](const auto& view) -> Format { return view.format; }, value);
  }
  /// Every case of a stage's tests holds for its CUDA implementation too, where a device answers.
  void compare_with_cuda() const {
    if (!device_report().available || !why_not_on(Backend::Cuda, type_, params_).empty()) return;
    CudaShadow shadow(*this, type_, params_, outputs_);
    shadow.with_states(states_).run(inputs_, limit_);
    shadow.check_equal();
  }

  void plan() {
    blocks_.clear(), scratches_.clear(), outputs_.clear(), states_.bytes = 0;
    stage_->plan(*this);
    states_.before.resize(states_.bytes), states_.after.resize(states_.bytes);
  }
  RunContext context() const {
    return {.inputs = inputs_,
            .outputs = outputs_,
            .host_outputs = outputs_,
            .scratches = scratches_,
            .threads = threads_,
            .states_before = states_.before.data(),
            .states_after = states_.after.data(),
            .frame_number = &states_.frame};
  }
  std::uint64_t overflow() const { return stage_->overflow(context()); }

  Value allocate(const ImageFormat& format) {
    ImageView view;
    if (packed_) {
      blocks_.push_back(std::make_unique<Guarded>(packed_bytes(format)));
      view = packed_view(blocks_.back()->data(), format);
    } else {
      images_.push_back(std::make_unique<TestImage>(format, row_extra_, row_extra_));
      view = images_.back()->view;
    }
    return view;
  }
  Value allocate(const ContoursFormat& format) {
    blocks_.push_back(std::make_unique<Guarded>(packed_bytes(format)));
    return packed_view(blocks_.back()->data(), format);
  }

  const StageType& type_;
  std::vector<ClassSpec> classes_;
  ParamSet params_;
  std::unique_ptr<Stage> stage_;
  std::vector<Value> inputs_, outputs_;
  std::vector<Format> input_formats_;
  mutable StageStates states_;
  std::vector<std::byte*> scratches_;
  std::vector<std::unique_ptr<Guarded>> blocks_;
  std::vector<std::unique_ptr<TestImage>> images_;
  int threads_ = 1, regrown_ = 0;
  std::uint64_t capacity_ = 0, limit_ = 0;
  const TextRasteriser* text_ = nullptr;
  bool packed_ = true;
  std::size_t row_extra_ = 0;
};

/// The same pseudo-random numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  std::uint32_t bits() {
    state_ ^= state_ << 13U, state_ ^= state_ >> 7U, state_ ^= state_ << 17U;
    return static_cast<std::uint32_t>(state_ >> 32U);
  }
  int below(int bound) { return static_cast<int>(bits() % static_cast<std::uint32_t>(bound)); }
  double unit() { return bits() / 4294967296.0; }

 private:
  std::uint64_t state_;
};

}  // namespace contorno::test
