// A graph that runs for Python: results wait in a queue until somebody takes them; frames may be pushed in
// place of a source. The runner's threads never touch Python. One thread pushes and one takes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/run/runner.h"
#include "plugins/files/shared/output_register.h"
#include "stages/contours/find_contours.h"

namespace contorno::python {

/// An image without gaps that owns its memory.
struct OwnedImage {
  ImageFormat format;
  Buffer<std::byte> samples;
};

/// What became of one frame.
struct FrameResult {
  FrameInfo info;
  std::string error;  ///< why the frame failed; then only info.number is set besides
  std::optional<OwnedImage> frame, overlay;
  Placement placement;  ///< of the contours on the frame
  Buffer<Point> points;
  Buffer<std::int64_t> offsets;
  Buffer<std::uint8_t> closed;
  Buffer<std::int32_t> class_ids;
  std::vector<std::pair<std::string_view, Buffer<double>>> attributes;
  std::vector<std::pair<std::string, double>> milliseconds;
};

struct RunSettings {
  std::string output_root = ".";
  std::uint64_t max_frames = 0;
  std::size_t lookahead = 4;  ///< results that may wait to be taken before the pipeline waits; 0 = any number
  bool images = true;         ///< whether results hold the frame and the overlay
  bool maps_on_device = false;  ///< see RunOptions
};

class PipelineRun {
 public:
  /// Opens the graph's own source, or takes `source`.
  PipelineRun(GraphSpec graph, const RunSettings& settings, std::unique_ptr<Source> source = nullptr);
  ~PipelineRun();
  PipelineRun(const PipelineRun&) = delete;
  PipelineRun& operator=(const PipelineRun&) = delete;

  enum class Taken : std::uint8_t { Result, Nothing, End };
  /// Waits up to `milliseconds` for the next result. After the last one, throws the error that ended the run,
  /// or returns End.
  Taken take(FrameResult& result, int milliseconds);
  /// Records of objects that were made since the last call, as JSON: those before the result that was taken
  /// last are among them. Of records that nobody takes the last kMostRecords are kept.
  std::vector<std::string> take_objects();
  static constexpr std::size_t kMostRecords = 10'000;
  /// Stops at once and waits for the threads.
  void stop();
  /// Only after the end of the run.
  const RunReport& report() const { return runner_->report(); }
  FrameCounts progress() const { return runner_->progress(); }
  const GraphSpec& graph() const { return graph_; }
  const StreamFormat& format() const { return source_->format(); }
  /// What was left out of the graph because the stream has no frames, or nothing.
  const std::string& notice() const { return notice_; }

 private:
  class Collector;
  /// A result, of which some parts may still be missing.
  struct Entry {
    FrameResult result;
    int missing = 0;
  };

  void bind_collectors();
  void note_times(const FrameTimes& times);
  void expect(FrameResult result, int parts);
  std::size_t place_of(std::uint64_t frame) const;
  FrameResult* wait_for_turn(std::uint64_t frame);
  void add_part(const FrameInfo& info, const char* error);
  void add_objects(const FinishedObjects& objects);

  GraphSpec graph_;
  std::vector<std::string> part_names_;
  RunSettings settings_;
  std::unique_ptr<Source> source_;
  std::string notice_;
  std::vector<std::unique_ptr<Sink>> sinks_;
  std::vector<SinkBinding> bindings_;
  std::unique_ptr<TextRasteriser> text_;
  OutputRegister files_;
  std::unique_ptr<Runner> runner_;
  int parts_ = 0;  // of a result

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> results_;  // by frame; the finisher adds them, and the collectors fill them in
  std::deque<std::string> objects_;
  bool ended_ = false, stopped_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace contorno::python
