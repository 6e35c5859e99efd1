// The way of a frame through a planned graph: on the CPU stage after stage, on CUDA captured once and
// launched.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "pipeline/graph/planned.h"
#include "pipeline/shared/clock.h"
#include "pipeline/value/copy_contours.h"

namespace contorno {
namespace {

constexpr int kFilling = 0xA5;  // of each byte of a block that nobody may read

}  // namespace

void PlannedGraph::launch() {
  if (generation_ != environment_.capacities->generation()) replan();
  probed_ = is_probed(input_->info.number);
  if (on_device()) {
    run_on_host();
    return launch_captured();
  }
  states_.bring(input_->info.number, nullptr);
  times_.start_ns = times_.uploaded_ns = part_began_ns_ = now_ns();
  std::fill(times_.part_ns.begin(), times_.part_ns.end(), 0);
  run_nodes(0, nodes_.size());
  times_.downloaded_ns = times_.start_ns;
  for (std::int64_t& part : times_.part_ns) part = times_.downloaded_ns += part;
}

/// The stages that run on the host of a graph on a device. What they throw comes before anything is enqueued.
void PlannedGraph::run_on_host() {
  std::ranges::fill(host_part_ns_, 0);
  part_began_ns_ = now_ns();
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    if (!nodes_[index].on_host) continue;
    running_ = index;
    nodes_[index].context.part_ended = probed_ ? &part_ended_ : nullptr;
    nodes_[index].stage->run(nodes_[index].context);
    end_part(environment_.graph->nodes[index].type->timed_parts() - 1);
  }
}

/// Notes when a part of the node at work is done. On the CPU times are durations until all nodes are done,
/// since parts may take turns.
void PlannedGraph::end_part(std::size_t part) {
  part += nodes_[running_].first_part;
  const bool on_host = nodes_[running_].on_host;
  if (on_device() && !on_host) return record(2 + part);
  const std::int64_t now = now_ns();
  (on_host ? host_part_ns_ : times_.part_ns)[part] += now - part_began_ns_;
  part_began_ns_ = now;
}

/// Runs a stage, or enqueues it. What it needed on the CPU is asked for at once: its outputs may be gone
/// later.
void PlannedGraph::run_node(std::size_t index) {
  Node& node = nodes_[index];
  running_ = index;
  node.context.part_ended = probed_ ? &part_ended_ : nullptr;
  fill_blocks(static_cast<int>(index), &Lifetime::first);
  node.stage->run(node.context);
  if (!on_device()) node.needed = node.stage->overflow(node.context);
  end_part(environment_.graph->nodes[index].type->timed_parts() - 1);
  for (const Download& counts : counts_downloads_)
    if (counts.node == index) download(counts);
  fill_blocks(static_cast<int>(index), &Lifetime::last);
}

/// Where tests want it: overwrites blocks whose life begins or ends with a node.
void PlannedGraph::fill_blocks(int node, int Lifetime::*end) {
  for (const MemoryPlan::Block& block : shared_blocks_) {
    if (block.lifetime.*end != node || block.bytes == 0) continue;
    std::byte* const data = (on_device() ? device_block_ : host_block_).data() + block.offset;
    if (on_device())
      fill_async(data, kFilling, block.bytes, nodes_.front().context.stream);
    else
      for (std::size_t i = 0; i < block.bytes; ++i)  // no two words alike, so that no range of them is empty
        data[i] = static_cast<std::byte>(kFilling ^ (37 * i + i / 256));
  }
}

void PlannedGraph::enqueue(std::span<const Value> inputs, std::span<const Value> outputs, void* stream) {
  source_values_.assign(inputs.begin(), inputs.end());
  Node& last = nodes_.back();
  last.outputs.assign(outputs.begin(), outputs.end());
  for (std::size_t port = 0; port < outputs.size(); ++port)
    if (!on_device() || !std::holds_alternative<ContoursView>(outputs[port]))
      last.host_outputs[port] = outputs[port];
  connect_nodes();
  for (Node& node : nodes_) node.context.stream = stream;
  states_.bring(input_->info.number, stream);
  run_nodes(0, nodes_.size());
}

void PlannedGraph::launch_captured() {
  if (captured_[probed_ ? 1 : 0].empty()) capture();
  const std::vector<CapturedGraph>& parts = captured_[probed_ ? 1 : 0];
  if (states_.empty()) return parts[0].launch(stream_);
  parts[0].launch(stream_);
  states_.bring(input_->info.number, stream_.get());
  parts[1].launch(stream_);
  states_.mark(stream_.get());
  parts[2].launch(stream_);
}

/// Captures the work of probed and of other frames at once: a frame that is planned again pays for it, and
/// none behind it.
void PlannedGraph::capture() {
  std::array<std::vector<CapturedGraph>, 2> all;
  const bool launched = probed_;
  for (const bool probed : {false, true}) {
    if (!has_frames(probed)) continue;
    probed_ = probed;
    all[probed ? 1 : 0] = capture_parts();
  }
  probed_ = launched;
  captured_ = std::move(all);
}

std::vector<CapturedGraph> PlannedGraph::capture_parts() {
  std::vector<CapturedGraph> parts;
  if (states_.empty())
    parts.push_back(capture(Part::Whole));
  else
    for (const Part part : {Part::Before, Part::Stateful, Part::Behind}) parts.push_back(capture(part));
  return parts;
}

CapturedGraph PlannedGraph::capture(Part part) {
  CapturedGraph::begin_capture(stream_);
  try {
    enqueue(part);
  } catch (...) {
    // Ends the capture that the stream would otherwise stay in; the first error is the one that tells.
    try {
      CapturedGraph::end_capture(stream_);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
    }
    throw;
  }
  return CapturedGraph::end_capture(stream_);
}

void PlannedGraph::record(std::size_t event) {
  if (probed_) events_[event].record(stream_.get());
}

void PlannedGraph::enqueue_uploads() {
  for (std::size_t port = 0; port < source_values_.size(); ++port)
    if (const auto* contours = std::get_if<ContoursView>(&source_values_[port]))
      copy_async(std::get<ContoursView>(device_sources_[port]).counts, contours->counts,
                 packed_bytes(contours->format), stream_.get());
  const auto used = [](const auto& upload) { return upload.has_value(); };
  const auto last = std::find_if(uploads_.rbegin(), uploads_.rend(), used);
  if (last == uploads_.rend()) return record(1);
  for (std::size_t port = 0; port < uploads_.size(); ++port) {
    if (!uploads_[port]) continue;
    const bool timed = probed_ && &uploads_[port] == &*last;
    uploads_[port]->begin(std::get<ImageView>(source_values_[port]),
                          std::get<ImageView>(device_sources_[port]), stream_.get(),
                          timed ? &events_[1] : nullptr);
  }
}

/// Sources that the node takes are there from here on, unless it waits itself.
void PlannedGraph::wait_for_inputs(std::size_t node) {
  if (takes_bands(node)) return;
  for (const Origin& origin : nodes_[node].origins)
    if (origin.node == Origin::kSource)
      if (auto& upload = uploads_[static_cast<std::size_t>(origin.port)]) upload->wait_for_all(stream_.get());
}

void PlannedGraph::enqueue(Part part) {
  const bool first = part == Part::Before || part == Part::Whole;
  const bool last = part == Part::Behind || part == Part::Whole;
  if (first) {
    record(0);
    enqueue_uploads();
    run_nodes(0, first_with_state_);
  }
  // Before a part ends, and with it the capture.
  if (part == Part::Before) finish_uploads();
  if (part == Part::Stateful) run_nodes(first_with_state_, end_with_state_);
  if (!last) return;
  run_nodes(end_with_state_, nodes_.size());
  enqueue_downloads();
  finish_uploads();  // nearly always long waited for
  record(2 + times_.part_ns.size());
}

void PlannedGraph::run_nodes(std::size_t begin, std::size_t end) {
  for (std::size_t node = begin; node < end; ++node) {
    if (nodes_[node].on_host) continue;
    if (on_device() && !environment_.outside) wait_for_inputs(node);
    run_node(node);
  }
}

void PlannedGraph::enqueue_downloads() {
  if (host_maps_) {
    const auto& maps = std::get<ImageView>(source_values_[Origin::kMaps]);
    copy_async(std::get<ImageView>(*host_maps_).data, maps.data, packed_bytes(maps.format), stream_.get());
  }
  for (const Download& one : downloads_) download(one);
}

void PlannedGraph::download(const Download& one) {
  const Node& node = nodes_[one.node];
  const Value &from = node.outputs[one.port], &to = node.host_outputs[one.port];
  void* const stream = node.context.stream;
  if (const auto* contours = std::get_if<ContoursView>(&from))
    copy_contours_async(*contours, std::get<ContoursView>(to), stream);
  if (const auto* image = std::get_if<ImageView>(&from))
    copy_async(std::get<ImageView>(to).data, image->data, packed_bytes(image->format), stream);
}

void PlannedGraph::finish_uploads() {
  for (auto& upload : uploads_)
    if (upload) upload->wait_for_all(stream_.get());
}

void PlannedGraph::wait() {
  if (on_device()) stream_.synchronize();
}

const PartTimes* PlannedGraph::times() {
  if (on_device() && environment_.probe_every != kNoFrame) {
    if (probed_) read_events();
    // Behind the other frames too: the clocks are tied together once a second, however few are timed.
    clock_->follow();
  }
  return probed_ ? &times_ : nullptr;
}

void PlannedGraph::read_events() {
  // Durations within the frame are short, so the float behind elapsed_us is exact enough; only its start is
  // far away.
  const auto nanoseconds = [](double microseconds) { return static_cast<std::int64_t>(microseconds * 1e3); };
  times_.start_ns = clock_->host_ns(events_[0]);
  const auto since_start = [&](std::size_t event) {
    return times_.start_ns + nanoseconds(Event::elapsed_us(events_[0], events_[event]));
  };
  times_.uploaded_ns = since_start(1);
  // A stage that works on bands has begun while the upload was going on.
  std::int64_t before = times_.uploaded_ns;
  for (std::size_t index = 0; index < nodes_.size(); ++index)
    for (std::size_t i = 0; i < environment_.graph->nodes[index].type->timed_parts(); ++i) {
      const std::size_t part = nodes_[index].first_part + i;
      // A part on the host has no event, and takes no time of the device.
      times_.part_ns[part] =
          nodes_[index].on_host ? before : std::max(times_.uploaded_ns, since_start(2 + part));
      before = times_.part_ns[part];
    }
  times_.downloaded_ns = since_start(2 + times_.part_ns.size());
  add_host_times();
}

/// Puts the time of stages on the host, which was before the upload, where they are among the parts: what
/// came before them is told earlier by as much. Durations and the end of the frame are as they were.
void PlannedGraph::add_host_times() {
  std::int64_t left = std::accumulate(host_part_ns_.begin(), host_part_ns_.end(), std::int64_t{0});
  times_.start_ns -= left, times_.uploaded_ns -= left;
  for (std::size_t part = 0; part < times_.part_ns.size(); ++part) {
    left -= host_part_ns_[part];
    times_.part_ns[part] -= left;
  }
}

bool PlannedGraph::overflowed() {
  bool any = false;
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    Node& node = nodes_[index];
    const std::uint64_t needed = on_device() ? node.stage->overflow(node.context) : node.needed;
    if (needed == 0) continue;
    environment_.capacities->raise(index, capacity_to_plan(needed));
    any = true;
  }
  if (!any) states_.settle();
  return any;
}

}  // namespace contorno
