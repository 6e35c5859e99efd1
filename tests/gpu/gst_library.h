// The library without GStreamer, doing what the element does: for gst_element.cpp, which compares the two.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "config/load.h"
#include "cuda/pointer.h"
#include "cuda/stream.h"
#include "pipeline/graph/applied.h"
#include "pipeline/graph/planned.h"
#include "pipeline/run/runner.h"
#include "pipeline/value/image_rows.h"
#include "plugins/catalog.h"
#include "plugins/gst/element/staged_copy.h"
#include "tests/gpu/gst_frames.h"

namespace contorno::test {

/// Brings frames to a graph and pictures back, as the element does where buffers are on the host.
class FrameCopies {
 public:
  FrameCopies(const ImageFormat& format, Backend backend)
      : format_(format), on_device_(backend == Backend::Cuda) {
    if (!on_device_) return;
    stream_ = Stream::create();
    if (gst::StagedCopy::threads() > 1)
      staged_ = std::make_unique<gst::StagedCopy>(format.row_bytes(), format.height);
  }

  void bring(std::uint8_t* rgba, const ImageView& to) const {
    if (!on_device_) return copy_image(view(rgba), to);
    if (is_staged(rgba)) return staged_->to_device(rows_of(to), rows_of(view(rgba)));
    copy(rows_of(to), rows_of(view(rgba)));
  }
  void take(const ImageView& from, std::uint8_t* rgba) const {
    if (!on_device_) return copy_image(from, view(rgba));
    if (is_staged(rgba)) return staged_->to_host(rows_of(view(rgba)), rows_of(from));
    copy(rows_of(view(rgba)), rows_of(from));
  }

 private:
  ImageView view(std::uint8_t* rgba) const {
    return {rgba, format_, static_cast<std::ptrdiff_t>(format_.row_bytes()), 0};
  }
  bool is_staged(const std::uint8_t* rgba) const {
    return staged_ && pointer_info(rgba).kind == PointerKind::Unknown;
  }
  void copy(const MemoryRows& to, const MemoryRows& from) const {
    copy_rows_async(to, from, format_.row_bytes(), static_cast<std::size_t>(format_.height), stream_.get());
    stream_.synchronize();
  }

  ImageFormat format_;
  bool on_device_;
  Stream stream_;
  std::unique_ptr<gst::StagedCopy> staged_;
};

/// What the library is given in place of the element: the graph, its results, and how frames come.
struct Job {
  Job(int width, int height, Backend backend, bool overlay)
      : format{.width = width, .height = height, .channels = 4},
        stream{.frame = format, .description = "the program"},
        graph(config::load_graph_text(kGraph, "graph", host_catalog(),
                                      {.source = config::SourceUse::Optional})),
        backend(backend) {
    if (!overlay) graph.nodes.pop_back();
    graph.sinks.clear();
    config::bind_source(graph, stream);
    contours = {node("contour_assembly"), 0};
    if (overlay) drawing = Origin{node("overlay"), 0};
  }
  bool on_device() const { return backend == Backend::Cuda; }

  ImageFormat format;
  StreamFormat stream;
  GraphSpec graph;
  Backend backend;
  Origin contours;
  std::optional<Origin> drawing;

 private:
  int node(std::string_view name) const {
    return static_cast<int>(std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                         [&](const NodeSpec& one) { return one.name == name; }) -
                            graph.nodes.begin());
  }
};

/// The library by itself in one thread: one planned graph, one frame at a time.
class Bare {
 public:
  Bare(int width, int height, Backend backend, bool overlay)
      : job_(width, height, backend, overlay),
        copies_(job_.format, backend),
        capacities_(job_.graph.nodes.size()) {
    PlanEnvironment environment{.graph = &job_.graph,
                                .backend = backend,
                                .probe_every = kNoFrame,
                                .threads = 4,
                                .capacities = &capacities_,
                                .exports = {job_.contours},
                                .frames_on_device = job_.on_device()};
    if (job_.drawing) environment.exports.push_back(*job_.drawing);
    planned_ = std::make_unique<PlannedGraph>(environment);
    planned_->plan(job_.stream);
  }

  /// Draws into the frame.
  const ContoursView& run(std::uint8_t* rgba) {
    copies_.bring(rgba, planned_->input().frame);
    do {
      planned_->launch();
      planned_->wait();
    } while (planned_->overflowed());
    if (job_.drawing) copies_.take(std::get<ImageView>(planned_->value(*job_.drawing)), rgba);
    return std::get<ContoursView>(planned_->value(job_.contours));
  }

 private:
  Job job_;
  FrameCopies copies_;
  Capacities capacities_;
  std::unique_ptr<PlannedGraph> planned_;
};

/// The library's own runner, with as many slots as the element.
class Running {
 public:
  /// `bytes_of` gives the memory of a frame by its number.
  Running(int width, int height, Backend backend, bool overlay, int slots,
          std::function<std::uint8_t*(std::uint64_t)> bytes_of)
      : job_(width, height, backend, overlay),
        copies_(job_.format, job_.backend),
        bytes_of_(std::move(bytes_of)),
        frames_(*this),
        contours_(*this, [](std::uint64_t, const Value&) {}),
        drawing_(*this, [this](std::uint64_t number, const Value& value) {
          copies_.take(std::get<ImageView>(value), bytes_of_(number));
        }) {
    job_.graph.settings.slots = slots;
    job_.graph.settings.on_full = OnFull::Wait;
    std::vector<SinkBinding> sinks{{.name = "contours", .sink = &contours_, .input = job_.contours}};
    if (job_.drawing) sinks.push_back({.name = "drawing", .sink = &drawing_, .input = *job_.drawing});
    RunOptions options;
    options.backend = job_.backend;
    options.probe_every = kNoFrame;
    options.frames_on_device = job_.on_device();
    options.on_failure = [this](const FrameFailure& failure) { note_failure(failure.reason); };
    runner_ = std::make_unique<Runner>(job_.graph, frames_, std::move(sinks), options);
    thread_ = std::thread([this] {
      try {
        runner_->run();
        note_failure("the run has ended");
      } catch (const std::exception& error) {
        note_failure(error.what());
      }
    });
  }
  ~Running() {
    runner_->request_stop();
    thread_.join();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  /// Returns when so many frames have been worked on. Throws what prevents it.
  void play(std::uint64_t frames) {
    std::unique_lock lock(mutex_);
    asked_ += frames;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !failure_.empty() || results_ == asked_ * (job_.drawing ? 2 : 1); });
    if (!failure_.empty()) throw std::runtime_error("the library's runner: " + failure_);
  }

 private:
  class Frames final : public Source {
   public:
    explicit Frames(Running& run) : run_(run) {}
    const StreamFormat& format() const override { return run_.job_.stream; }
    ReadResult read(FrameInput& input) override {
      {
        std::unique_lock lock(run_.mutex_);
        run_.changed_.wait(lock, [&] { return run_.stopped_ || read_ < run_.asked_; });
        if (run_.stopped_) return ReadResult::End;
      }
      run_.copies_.bring(run_.bytes_of_(read_++), input.frame);
      return ReadResult::Frame;
    }
    void cancel() override {
      const std::lock_guard lock(run_.mutex_);
      run_.stopped_ = true;
      run_.changed_.notify_all();
    }

   private:
    Running& run_;
    std::uint64_t read_ = 0;
  };
  class Taker final : public Sink {
   public:
    Taker(Running& run, std::function<void(std::uint64_t, const Value&)> take)
        : run_(run), take_(std::move(take)) {}
    void open(const SinkContext&) override {}
    void write(const FrameInfo& info, const Value& value) override {
      try {
        take_(info.number, value);
      } catch (const std::exception& error) {
        run_.note_failure(error.what());
        throw;
      }
      run_.note_result();
    }
    void finish() override {}

   private:
    Running& run_;
    std::function<void(std::uint64_t, const Value&)> take_;
  };

  void note_result() {
    const std::lock_guard lock(mutex_);
    ++results_;
    changed_.notify_all();
  }
  void note_failure(const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = what;
    changed_.notify_all();
  }

  Job job_;
  FrameCopies copies_;
  std::function<std::uint8_t*(std::uint64_t)> bytes_of_;
  Frames frames_;
  Taker contours_, drawing_;
  std::unique_ptr<Runner> runner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t asked_ = 0, results_ = 0;
  std::string failure_;  ///< the first; empty: there is none
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace contorno::test
