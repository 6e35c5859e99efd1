// The way of a frame through a planned graph: on the CPU stage after stage, on CUDA captured once and
// launched.
#include <algorithm>

#include "cuda/error.h"
#include "pipeline/clock.h"
#include "pipeline/planned_graph.h"

namespace contorno {

void PlannedGraph::launch() {
  if (generation_ != environment_.capacities->generation()) replan();
  if (on_device()) {
    if (!captured_) capture();
    captured_.launch(stream_);
    return;
  }
  times_.start_ns = times_.uploaded_ns = now_ns();
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    nodes_[node].stage->run(nodes_[node].context);
    times_.node_ns[node] = now_ns();
  }
  times_.downloaded_ns = nodes_.empty() ? times_.start_ns : times_.node_ns.back();
}

void PlannedGraph::capture() {
  CapturedGraph::begin_capture(stream_);
  try {
    enqueue();
  } catch (...) {
    // Ends the capture that the stream would otherwise stay in; the first error is the one that tells.
    try {
      CapturedGraph::end_capture(stream_);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
    }
    throw;
  }
  captured_ = CapturedGraph::end_capture(stream_);
}

void PlannedGraph::record(std::size_t event) {
  if (environment_.probes == Probes::On) events_[event].record(stream_.get());
}

void PlannedGraph::enqueue() {
  record(0);
  for (std::size_t port = 0; port < source_formats_.size(); ++port) {
    const auto& host = std::get<ImageView>(source_values_[port]);
    const auto& device = std::get<ImageView>(device_sources_[port]);
    const Origin origin{Origin::kSource, static_cast<int>(port)};
    const auto takes = [&](const NodeSpec& node) {
      return std::find(node.inputs.begin(), node.inputs.end(), origin) != node.inputs.end();
    };
    const auto& specs = environment_.graph->nodes;
    if (host.data != nullptr && std::any_of(specs.begin(), specs.end(), takes))
      copy_async(device.data, host.data, packed_bytes(host.format), stream_.get());
  }
  record(1);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    nodes_[node].stage->run(nodes_[node].context);
    record(2 + node);
  }
  for (const Download& download : downloads_)
    copy_async(download.to, download.from, download.bytes, stream_.get());
  record(2 + nodes_.size());
}

void PlannedGraph::wait() {
  if (on_device()) stream_.synchronize();
}

const PartTimes& PlannedGraph::times() {
  if (!on_device() || environment_.probes == Probes::Off) return times_;
  // Durations within the frame are short, so the float behind elapsed_us is exact enough; only its start is
  // far away.
  const auto nanoseconds = [](double microseconds) { return static_cast<std::int64_t>(microseconds * 1e3); };
  times_.start_ns = anchor_ns_ + nanoseconds(Event::elapsed_us(anchor_, events_[0]));
  const auto since_start = [&](std::size_t event) {
    return times_.start_ns + nanoseconds(Event::elapsed_us(events_[0], events_[event]));
  };
  times_.uploaded_ns = since_start(1);
  for (std::size_t node = 0; node < nodes_.size(); ++node) times_.node_ns[node] = since_start(2 + node);
  times_.downloaded_ns = since_start(2 + nodes_.size());
  return times_;
}

bool PlannedGraph::overflowed() {
  bool any = false;
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const std::uint64_t needed = nodes_[index].stage->overflow(nodes_[index].context);
    if (needed == 0) continue;
    // A quarter of room to spare, so that a slowly growing scene does not overflow frame after frame.
    environment_.capacities->raise(index, needed + needed / 4);
    any = true;
  }
  return any;
}

}  // namespace contorno
