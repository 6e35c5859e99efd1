// The sinks of a measurement: those of the graph with the times of their work noted, or ones that take every
// result and do nothing with it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/graph/sink.h"
#include "tools/latency/records.h"

namespace contorno::latency {

/// Notes in `records` when the sink number `index` began and ended each frame. `sink` may be null: then what
/// there is to take is taken to the host, and nothing is done with it.
class MeasuredSink final : public Sink {
 public:
  MeasuredSink(std::unique_ptr<Sink> sink, std::size_t index, FrameRecords& records)
      : sink_(std::move(sink)), index_(index), records_(records) {}
  void open(const SinkContext& context) override {
    if (sink_) sink_->open(context);
  }
  void write(const FrameInfo& info, const Value& value) override;
  void finish() override {
    if (sink_) sink_->finish();
  }
  std::string summary() const override { return sink_ ? sink_->summary() : ""; }
  std::vector<ClassTotals> totals() const override {
    return sink_ ? sink_->totals() : std::vector<ClassTotals>{};
  }

 private:
  std::unique_ptr<Sink> sink_;
  std::size_t index_;
  FrameRecords& records_;
};

}  // namespace contorno::latency
