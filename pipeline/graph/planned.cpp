#include "pipeline/graph/planned.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "pipeline/value/sides.h"

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
  const Format& input_of_maker(std::size_t port, std::size_t input) const override {
    const auto maker = static_cast<std::size_t>(spec().inputs.at(port).node);
    return graph_.format(graph_.environment_.graph->nodes.at(maker).inputs.at(input));
  }
  void set_output(std::size_t port, const Format& format) override {
    if (const auto* image = std::get_if<ImageFormat>(&format)) check_sides(*image, "what it makes");
    node().formats.at(port) = format;
  }
  Scratch scratch(std::size_t bytes, MemoryKind kind) override {
    if (!graph_.on_device() && kind == MemoryKind::Device)
      throw InternalError("a CPU stage asked for device memory");
    node().requests.push_back({bytes, kind});
    return {node().requests.size() - 1};
  }
  State state(std::size_t bytes) override {
    std::size_t& used = node().state_bytes;
    const State asked{node().state_offset + used};
    used += align_up(bytes);
    return asked;
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
    std::size_t operator()(const ContoursFormat& contours) const { return packed_bytes(contours); }
    std::size_t operator()(const PrivateFormat& block) const { return block.bytes; }
  };
  return align_up(std::visit(Size{}, format));
}

/// The value of `format` in the memory at `data`.
Value value_at(std::byte* data, const Format& format) {
  struct Placed {
    std::byte* data;
    Value operator()(const ImageFormat& image) const { return packed_view(data, image); }
    Value operator()(const ContoursFormat& contours) const { return packed_view(data, contours); }
    Value operator()(const PrivateFormat& block) const { return PrivateView{.format = block, .data = data}; }
  };
  return std::visit(Placed{data}, format);
}

/// Whether this stands for what a source does not have.
bool is_absent(const Format& format) {
  const auto* image = std::get_if<ImageFormat>(&format);
  return image != nullptr && image->channels == 0;
}

/// What a source delivers, whose sizes nobody may have looked at.
const PlannedSource& checked(const PlannedSource& source) {
  for (const Format& format : source.formats)
    if (const auto* image = std::get_if<ImageFormat>(&format); image != nullptr && !is_absent(format))
      check_sides(*image, fmt::format("the source ({})", source.description));
  return source;
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
  SlotMemory used() const {
    return {.host = used_[static_cast<std::size_t>(MemoryKind::Host)],
            .pinned = used_[static_cast<std::size_t>(MemoryKind::Pinned)],
            .device = used_[static_cast<std::size_t>(MemoryKind::Device)]};
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
  clock_.emplace(stream_);
}

PlannedGraph::~PlannedGraph() = default;

PlannedSource source_of(const StreamFormat& stream) {
  const ImageFormat none;
  return {{stream.frame.value_or(none), stream.maps.value_or(none)}, stream.description};
}

void PlannedGraph::plan_formats(const StreamFormat& stream) {
  source_ = checked(source_of(stream));
  plan_nodes();
  if (on_device()) plan_uploads();
  source_values_.assign(source_.formats.size(), Value());
  Placer placer;
  place_all(placer);
  memory_ = placer.used();
  for (const Format& format : source_.formats) memory_.pinned += bytes_of(format);
  count_states();
}

void PlannedGraph::plan(const PlannedSource& source) {
  source_ = checked(source);
  std::size_t bytes = 0, on_device_bytes = 0;
  for (std::size_t port = 0; port < source_.formats.size(); ++port)
    (comes_on_device(port) ? on_device_bytes : bytes) += bytes_of(source_.formats[port]);
  input_block_ = Block();
  frame_block_ = Block();
  input_block_ = Block(bytes, MemoryKind::Pinned);
  if (on_device_bytes > 0) frame_block_ = Block(on_device_bytes, MemoryKind::Device);
  std::byte *data = input_block_.data(), *device_data = frame_block_.data();
  source_values_.clear();
  for (std::size_t port = 0; port < source_.formats.size(); ++port) {
    const Format& format = source_.formats[port];
    std::byte*& place = comes_on_device(port) ? device_data : data;
    source_values_.push_back(is_absent(format) ? Value() : value_at(place, format));
    place += bytes_of(format);
  }
  const auto image = [&](std::size_t port) {
    const bool there =
        port < source_values_.size() && std::holds_alternative<ImageView>(source_values_[port]);
    return there ? std::get<ImageView>(source_values_[port]) : ImageView{};
  };
  input_.frame = image(Origin::kFrame), input_.maps = image(Origin::kMaps);
  replan();
  if (on_device()) warm_up();
}

/// Frames of zeros, with times and without, so that no real one pays for loading kernels and instantiating
/// its graph.
void PlannedGraph::warm_up() {
  std::fill_n(input_block_.data(), input_block_.size(), std::byte{0});
  if (frame_block_.size() > 0) fill_async(frame_block_.data(), 0, frame_block_.size(), stream_.get());
  const CarriedState::Parked parked = states_.park(stream_.get());
  for (const bool probed : {false, true}) {
    if (!has_frames(probed)) continue;
    probed_ = probed;
    launch_on_device();
  }
  states_.restore(parked, stream_.get());
  wait();
}

void PlannedGraph::replan() {
  generation_ = environment_.capacities->generation();
  plan_nodes();
  if (on_device()) plan_uploads();
  place_values();
  captured_ = {};
}

void PlannedGraph::plan_nodes() {
  first_with_state_ = end_with_state_ = nodes_.size();
  std::size_t state_bytes = 0;
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const NodeSpec& spec = environment_.graph->nodes[index];
    Node& node = nodes_[index];
    node.formats.assign(spec.type->outputs.size(), Format{});
    node.requests.clear();
    node.state_offset = state_bytes, node.state_bytes = 0;
    for (const Origin& origin : spec.inputs) {
      if (origin.node == Origin::kSource && is_absent(format(origin)))
        throw Error(ExitCode::BadConfig,
                    fmt::format("node '{}' takes the source's {}, but this source ({}) delivers none",
                                spec.name, origin.port == 0 ? "frame" : "class maps", source_.description));
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
    if (node.state_bytes == 0) continue;
    if (state_bytes == 0) first_with_state_ = index;
    end_with_state_ = index + 1;
    state_bytes += node.state_bytes;
  }
  state_bytes_ = state_bytes;
}

bool PlannedGraph::exported(const Origin& origin) const {
  return std::find(environment_.exports.begin(), environment_.exports.end(), origin) !=
         environment_.exports.end();
}

void PlannedGraph::place_values() {
  Placer placer;
  states_.plan(state_bytes_, environment_.backend);
  place_all(placer);
  memory_ = placer.used();
  memory_.pinned += input_block_.size();
  memory_.device += frame_block_.size();
  count_states();
  placer.allocate(host_block_, pinned_block_, device_block_);
  // Scratch begins as zeros, and rows are downloaded with the bytes between them, which no stage writes.
  if (device_block_.size() > 0) fill_async(device_block_.data(), 0, device_block_.size(), stream_.get());
  place_all(placer);
}

void PlannedGraph::count_states() {
  (on_device() ? memory_.device : memory_.host) += 2 * state_bytes_;
}

void PlannedGraph::place_all(Placer& placer) {
  downloads_.clear();
  device_sources_.clear();
  if (on_device())
    for (std::size_t port = 0; port < source_.formats.size(); ++port) {
      const Format& format = source_.formats[port];
      device_sources_.push_back(comes_on_device(port)
                                    ? source_values_.at(port)
                                    : value_at(placer.take(bytes_of(format), MemoryKind::Device), format));
    }
  for (std::size_t index = 0; index < nodes_.size(); ++index) place_node(index, placer);
}

/// One for each image of the source that a node takes, in bands if a node can make use of them.
void PlannedGraph::plan_uploads() {
  uploads_.clear();
  for (std::size_t port = 0; port < source_.formats.size(); ++port) {
    const Origin origin{Origin::kSource, static_cast<int>(port)};
    auto& upload = uploads_.emplace_back();
    const auto* image = std::get_if<ImageFormat>(&source_.formats[port]);
    if (image == nullptr || comes_on_device(port)) continue;
    bool in_bands = false;
    bool taken = false;
    for (std::size_t index = 0; index < nodes_.size(); ++index)
      for (const Origin& input : environment_.graph->nodes[index].inputs)
        if (input == origin) taken = true, in_bands = in_bands || takes_bands(index);
    if (taken) upload.emplace(in_bands ? upload_bands(*image, environment_.last_band) : one_band(*image));
  }
}

void PlannedGraph::place_node(std::size_t index, Placer& placer) {
  Node& node = nodes_[index];
  node.inputs.clear();
  node.uploads.clear();
  node.outputs.clear();
  node.host_outputs.clear();
  node.scratches.clear();
  for (const Origin& origin : environment_.graph->nodes[index].inputs) {
    node.inputs.push_back(working_value(origin));
    const bool in_bands = on_device() && origin.node == Origin::kSource && takes_bands(index);
    auto* const upload = in_bands ? &uploads_.at(static_cast<std::size_t>(origin.port)) : nullptr;
    node.uploads.push_back(upload != nullptr && *upload ? &**upload : nullptr);
  }
  for (std::size_t port = 0; port < node.formats.size(); ++port) place_output(index, port, placer);
  for (const Request& request : node.requests)
    node.scratches.push_back(placer.take(request.bytes, request.kind));
  node.context = {.inputs = node.inputs,
                  .outputs = node.outputs,
                  .host_outputs = node.host_outputs,
                  .uploads = node.uploads,
                  .scratches = node.scratches,
                  .stream = stream_.get(),
                  .threads = environment_.threads};
  states_.give_to(node.context);
}

void PlannedGraph::place_output(std::size_t index, std::size_t port, Placer& placer) {
  Node& node = nodes_[index];
  const Format& format = node.formats[port];
  Value value =
      value_at(placer.take(bytes_of(format), on_device() ? MemoryKind::Device : MemoryKind::Host), format);
  if (auto* block = std::get_if<PrivateView>(&value)) block->maker = &node.context;
  node.outputs.push_back(value);
  if (!on_device() || (frames_stay() && std::holds_alternative<ImageFormat>(format)))
    return node.host_outputs.push_back(value);
  // Private values stay on the device.
  const auto* contours = std::get_if<ContoursFormat>(&format);
  if (exported({static_cast<int>(index), static_cast<int>(port)})) {
    node.host_outputs.push_back(value_at(placer.take(bytes_of(format), MemoryKind::Pinned), format));
    if (contours == nullptr || !node.stage->downloads_contours())
      downloads_.push_back({value, node.host_outputs.back()});
  } else if (contours != nullptr) {
    // Their number is always wanted on the host: it decides whether the frame has to run again.
    node.host_outputs.push_back(
        packed_counts(placer.take(packed_counts_bytes(*contours), MemoryKind::Pinned), *contours));
    downloads_.push_back({value, node.host_outputs.back()});
  } else {
    node.host_outputs.push_back(value);
  }
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
  if (origin.node == Origin::kSource) return source_.formats.at(port);
  return nodes_.at(static_cast<std::size_t>(origin.node)).formats.at(port);
}

}  // namespace contorno
