#include "pipeline/graph/planned.h"

#include <fmt/format.h>

#include <algorithm>

#include "cuda/error.h"
#include "pipeline/shared/clock.h"

// The planning and placing; planned_launch.cpp has the way of a frame.
namespace contorno {

void Capacities::raise(std::size_t node, std::uint64_t needed) {
  std::uint64_t known = needed_[node].load(std::memory_order_relaxed);
  while (known < needed && !needed_[node].compare_exchange_weak(known, needed, std::memory_order_relaxed)) {
  }
  if (known < needed) generation_.fetch_add(1, std::memory_order_relaxed);
}

/// What one stage sees of the graph while it is planned.
class PlannedGraph::Context final : public PlanContext {
 public:
  Context(PlannedGraph& graph, std::size_t node) : graph_(graph), index_(node) {}

  const Format& input(std::size_t port) const override { return graph_.format(spec().inputs.at(port)); }
  void set_output(std::size_t port, const Format& format) override { node().formats.at(port) = format; }
  Scratch scratch(std::size_t bytes, MemoryKind kind) override {
    if (!graph_.on_device() && kind == MemoryKind::Device)
      throw InternalError("a CPU stage asked for device memory");
    node().requests.push_back({bytes, kind});
    return {node().requests.size() - 1};
  }
  std::span<const ClassSpec> classes() const override { return graph_.environment_.graph->classes; }
  std::uint64_t capacity(std::uint64_t first_guess) const override {
    return std::max(first_guess, graph_.environment_.capacities->of(index_));
  }
  int threads() const override { return graph_.environment_.threads; }
  const TextRasteriser* text() const override { return graph_.environment_.text; }

 private:
  Node& node() const { return graph_.nodes_[index_]; }
  const NodeSpec& spec() const { return graph_.environment_.graph->nodes[index_]; }

  PlannedGraph& graph_;
  std::size_t index_;
};

namespace {

std::size_t bytes_of(const Format& format) {
  struct Size {
    std::size_t operator()(const ImageFormat& image) const { return packed_bytes(image); }
    std::size_t operator()(const CrossingsFormat& crossings) const { return crossings.bytes; }
    std::size_t operator()(const ContoursFormat& contours) const { return packed_bytes(contours); }
  };
  return align_up(std::visit(Size{}, format));
}

/// The value of `format` in the memory at `data`.
Value value_at(std::byte* data, const Format& format) {
  Value value;
  if (const auto* image = std::get_if<ImageFormat>(&format)) value = packed_view(data, *image);
  if (const auto* contours = std::get_if<ContoursFormat>(&format)) value = packed_view(data, *contours);
  if (const auto* crossings = std::get_if<CrossingsFormat>(&format)) {
    CrossingsView view;
    view.format = *crossings;
    view.data = data;
    value = view;
  }
  return value;
}

}  // namespace

/// Hands out memory of three kinds: once to add up, once more, behind `allocate`, for real.
class PlannedGraph::Placer {
 public:
  std::byte* take(std::size_t bytes, MemoryKind kind) {
    std::size_t& used = used_[static_cast<std::size_t>(kind)];
    std::byte* data = base_[static_cast<std::size_t>(kind)] + used;
    used += align_up(bytes);
    return data;
  }
  void allocate(Block& host, Block& pinned, Block& device) {
    Block* blocks[] = {&host, &pinned, &device};
    for (std::size_t kind = 0; kind < 3; ++kind) {
      *blocks[kind] = Block();
      *blocks[kind] = Block(used_[kind], static_cast<MemoryKind>(kind));
      base_[kind] = blocks[kind]->data();
      used_[kind] = 0;
    }
  }

 private:
  std::size_t used_[3] = {};
  // While adding up, an address that nobody uses: arithmetic on a null pointer is undefined.
  std::byte* base_[3] = {reinterpret_cast<std::byte*>(kAlignment), reinterpret_cast<std::byte*>(kAlignment),
                         reinterpret_cast<std::byte*>(kAlignment)};
};

PlannedGraph::PlannedGraph(const PlanEnvironment& environment) : environment_(environment) {
  for (const NodeSpec& spec : environment.graph->nodes) {
    const auto& make = on_device() ? spec.type->make_cuda : spec.type->make_cpu;
    if (!make)
      throw Error(ExitCode::Unavailable,
                  fmt::format("node '{}': the stage '{}' has no {} implementation", spec.name,
                              spec.type->name, name_of(environment.backend)));
    Node& node = nodes_.emplace_back();
    node.stage = make(spec.params);
  }
  times_.node_ns.assign(nodes_.size(), 0);
  if (!on_device()) return;
  stream_ = Stream::create();
  for (std::size_t event = 0; event < nodes_.size() + 3; ++event) events_.push_back(Event::create());
  anchor_ = Event::create();
  anchor_.record(stream_.get());
  anchor_.synchronize();
  anchor_ns_ = now_ns();
}

PlannedGraph::~PlannedGraph() = default;

void PlannedGraph::take_formats(const StreamFormat& stream) {
  stream_format_ = stream;
  const ImageFormat none;
  source_formats_ = {stream.frame.value_or(none), stream.maps.value_or(none)};
}

void PlannedGraph::plan_formats(const StreamFormat& stream) {
  take_formats(stream);
  plan_nodes();
}

void PlannedGraph::plan(const StreamFormat& stream) {
  take_formats(stream);
  input_block_ = Block();
  input_block_ = Block(bytes_of(source_formats_[0]) + bytes_of(source_formats_[1]), MemoryKind::Pinned);
  input_.frame = input_.maps = {};
  std::byte* data = input_block_.data();
  if (stream.frame) input_.frame = packed_view(data, *stream.frame);
  if (stream.maps) input_.maps = packed_view(data + bytes_of(source_formats_[0]), *stream.maps);
  source_values_ = {input_.frame, input_.maps};
  replan();
  if (on_device()) warm_up();
}

/// One frame of zeros, so that the first real one does not pay for loading kernels and instantiating the
/// graph.
void PlannedGraph::warm_up() {
  std::fill_n(input_block_.data(), input_block_.size(), std::byte{0});
  launch();
  wait();
}

void PlannedGraph::replan() {
  generation_ = environment_.capacities->generation();
  plan_nodes();
  if (on_device()) plan_uploads();
  place_values();
  captured_ = CapturedGraph();
}

void PlannedGraph::plan_nodes() {
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const NodeSpec& spec = environment_.graph->nodes[index];
    Node& node = nodes_[index];
    node.formats.assign(spec.type->outputs.size(), Format{});
    node.requests.clear();
    for (const Origin& origin : spec.inputs) {
      const bool missing =
          origin.node == Origin::kSource && std::get<ImageFormat>(format(origin)).channels == 0;
      if (missing)
        throw Error(
            ExitCode::BadConfig,
            fmt::format("node '{}' takes the source's {}, but this source ({}) delivers none", spec.name,
                        origin.port == 0 ? "frame" : "class maps", stream_format_.description));
    }
    Context context(*this, index);
    try {
      node.stage->plan(context);
    } catch (const InternalError&) {
      throw;
    } catch (const Error& error) {
      // Stages begin with their own name, which most nodes have too.
      std::string_view reason = error.what();
      if (const std::string own = spec.name + ": "; reason.starts_with(own)) reason.remove_prefix(own.size());
      throw Error(error.code(), fmt::format("{}{}node '{}': {}", spec.where, spec.where.empty() ? "" : ": ",
                                            spec.name, reason));
    }
  }
}

bool PlannedGraph::exported(const Origin& origin) const {
  return std::find(environment_.exports.begin(), environment_.exports.end(), origin) !=
         environment_.exports.end();
}

void PlannedGraph::place_values() {
  Placer placer;
  for (const bool real : {false, true}) {
    if (real) placer.allocate(host_block_, pinned_block_, device_block_);
    // Scratch begins as zeros, and rows are downloaded with the bytes between them, which no stage writes.
    if (real && device_block_.size() > 0)
      fill_async(device_block_.data(), 0, device_block_.size(), stream_.get());
    downloads_.clear();
    device_sources_.clear();
    if (on_device())
      for (const Format& format : source_formats_)
        device_sources_.push_back(value_at(placer.take(bytes_of(format), MemoryKind::Device), format));
    for (std::size_t index = 0; index < nodes_.size(); ++index) place_node(index, placer);
  }
}

/// One for each image of the source that a node takes, in bands if a node can make use of them.
void PlannedGraph::plan_uploads() {
  uploads_.clear();
  for (std::size_t port = 0; port < source_formats_.size(); ++port) {
    const Origin origin{Origin::kSource, static_cast<int>(port)};
    const auto& image = std::get<ImageFormat>(source_formats_[port]);
    auto& upload = uploads_.emplace_back();
    bool in_bands = false;
    bool taken = false;
    for (std::size_t index = 0; index < nodes_.size(); ++index)
      for (const Origin& input : environment_.graph->nodes[index].inputs)
        if (input == origin) taken = true, in_bands = in_bands || nodes_[index].stage->takes_bands();
    if (taken) upload.emplace(in_bands ? upload_bands(image, environment_.last_band) : one_band(image));
  }
}

void PlannedGraph::place_node(std::size_t index, Placer& placer) {
  Node& node = nodes_[index];
  const MemoryKind kind = on_device() ? MemoryKind::Device : MemoryKind::Host;
  node.inputs.clear();
  node.outputs.clear();
  node.host_outputs.clear();
  node.scratches.clear();
  for (const Origin& origin : environment_.graph->nodes[index].inputs)
    node.inputs.push_back(working_value(origin));
  for (std::size_t port = 0; port < node.formats.size(); ++port) {
    const Format& format = node.formats[port];
    std::byte* data = placer.take(bytes_of(format), kind);
    node.outputs.push_back(value_at(data, format));
    // Contours are always wanted on the host: their number decides whether the frame has to run again.
    const bool mirrored = on_device() && (port_type(format) == PortType::Contours ||
                                          exported({static_cast<int>(index), static_cast<int>(port)}));
    std::byte* mirror = mirrored ? placer.take(bytes_of(format), MemoryKind::Pinned) : data;
    node.host_outputs.push_back(value_at(mirror, format));
    if (mirrored && port_type(format) == PortType::Image)
      downloads_.push_back({data, mirror, bytes_of(format)});
  }
  // Crossings are a block beside the map that they were made from.
  for (Value& output : node.outputs)
    if (auto* crossings = std::get_if<CrossingsView>(&output))
      for (std::size_t port = 0; port < node.inputs.size(); ++port)
        if (const auto* map = std::get_if<ImageView>(&node.inputs[port])) {
          crossings->map = *map;
          const Origin& origin = environment_.graph->nodes[index].inputs[port];
          if (node.stage->takes_bands() && origin.node == Origin::kSource)
            crossings->upload = &*uploads_.at(static_cast<std::size_t>(origin.port));
        }
  for (const Request& request : node.requests)
    node.scratches.push_back(placer.take(request.bytes, request.kind));
  node.context = {.inputs = node.inputs,
                  .outputs = node.outputs,
                  .host_outputs = node.host_outputs,
                  .scratches = node.scratches,
                  .stream = stream_.get(),
                  .threads = environment_.threads};
}

const Value& PlannedGraph::working_value(const Origin& origin) const {
  const auto port = static_cast<std::size_t>(origin.port);
  if (origin.node != Origin::kSource)
    return nodes_.at(static_cast<std::size_t>(origin.node)).outputs.at(port);
  return on_device() ? device_sources_.at(port) : source_values_.at(port);
}

const Value& PlannedGraph::value(const Origin& origin) const {
  const auto port = static_cast<std::size_t>(origin.port);
  if (origin.node == Origin::kSource) return source_values_.at(port);
  return nodes_.at(static_cast<std::size_t>(origin.node)).host_outputs.at(port);
}

const Format& PlannedGraph::format(const Origin& origin) const {
  const auto port = static_cast<std::size_t>(origin.port);
  if (origin.node == Origin::kSource) return source_formats_.at(port);
  return nodes_.at(static_cast<std::size_t>(origin.node)).formats.at(port);
}

std::size_t PlannedGraph::bytes() const {
  return input_block_.size() + host_block_.size() + pinned_block_.size() + device_block_.size();
}

}  // namespace contorno
