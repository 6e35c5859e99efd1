#include "pipeline/planned_graph.h"

#include <fmt/format.h>

#include "cuda/error.h"

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
    if (graph_.environment_.backend == Backend::Cpu && kind == MemoryKind::Device)
      throw InternalError("a CPU stage asked for device memory");
    node().scratch_bytes.push_back(bytes);
    return {node().scratch_bytes.size() - 1};
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
  struct View {
    std::byte* data;
    Value operator()(const ImageFormat& image) const { return packed_view(data, image); }
    Value operator()(const CrossingsFormat& crossings) const {
      return CrossingsView{.format = crossings, .map = {}, .data = data};
    }
    Value operator()(const ContoursFormat& contours) const { return packed_view(data, contours); }
  };
  return std::visit(View{data}, format);
}

}  // namespace

PlannedGraph::PlannedGraph(const PlanEnvironment& environment) : environment_(environment) {
  for (const NodeSpec& spec : environment.graph->nodes) {
    const auto& make = environment.backend == Backend::Cuda ? spec.type->make_cuda : spec.type->make_cpu;
    if (!make)
      throw Error(ExitCode::Unavailable,
                  fmt::format("node '{}': the stage '{}' has no {} implementation", spec.name,
                              spec.type->name, name_of(environment.backend)));
    Node& node = nodes_.emplace_back();
    node.stage = make(spec.params);
  }
}

void PlannedGraph::plan(const StreamFormat& stream) {
  stream_ = stream;
  const ImageFormat none;
  source_formats_ = {stream.frame.value_or(none), stream.maps.value_or(none)};
  input_block_ = Block();
  input_block_ = Block(bytes_of(source_formats_[0]) + bytes_of(source_formats_[1]), MemoryKind::Pinned);
  input_.frame = input_.maps = {};
  std::byte* data = input_block_.data();
  if (stream.frame) input_.frame = packed_view(data, *stream.frame);
  if (stream.maps) input_.maps = packed_view(data + bytes_of(source_formats_[0]), *stream.maps);
  source_values_ = {input_.frame, input_.maps};
  replan();
}

void PlannedGraph::replan() {
  generation_ = environment_.capacities->generation();
  plan_nodes();
  place_values();
}

void PlannedGraph::plan_nodes() {
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const NodeSpec& spec = environment_.graph->nodes[index];
    Node& node = nodes_[index];
    node.formats.assign(spec.type->outputs.size(), Format{});
    node.scratch_bytes.clear();
    for (const Origin& origin : spec.inputs) {
      const bool missing =
          origin.node == Origin::kSource && std::get<ImageFormat>(format(origin)).channels == 0;
      if (missing)
        throw Error(ExitCode::BadConfig,
                    fmt::format("node '{}' takes the source's {}, but this source ({}) delivers none",
                                spec.name, origin.port == 0 ? "frame" : "class maps", stream_.description));
    }
    Context context(*this, index);
    try {
      node.stage->plan(context);
    } catch (const InternalError&) {
      throw;
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("node '{}': {}", spec.name, error.what()));
    }
  }
}

void PlannedGraph::place_values() {
  std::size_t total = 0;
  for (const Node& node : nodes_) {
    for (const Format& format : node.formats) total += bytes_of(format);
    for (const std::size_t bytes : node.scratch_bytes) total += align_up(bytes);
  }
  work_block_ = Block();
  work_block_ = Block(total, MemoryKind::Host);
  std::byte* data = work_block_.data();
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    Node& node = nodes_[index];
    node.inputs.clear();
    node.outputs.clear();
    node.scratches.clear();
    for (const Origin& origin : environment_.graph->nodes[index].inputs) node.inputs.push_back(value(origin));
    for (const Format& format : node.formats) {
      node.outputs.push_back(value_at(data, format));
      data += bytes_of(format);
    }
    // Crossings are a block beside the map that they were made from.
    for (Value& output : node.outputs)
      if (auto* crossings = std::get_if<CrossingsView>(&output))
        for (const Value& input : node.inputs)
          if (const auto* map = std::get_if<ImageView>(&input)) crossings->map = *map;
    for (const std::size_t bytes : node.scratch_bytes) {
      node.scratches.push_back(data);
      data += align_up(bytes);
    }
    node.context = {.inputs = node.inputs,
                    .outputs = node.outputs,
                    .scratches = node.scratches,
                    .stream = nullptr,
                    .threads = environment_.threads};
  }
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

const Value& PlannedGraph::value(const Origin& origin) const {
  if (origin.node == Origin::kSource) return source_values_.at(static_cast<std::size_t>(origin.port));
  return nodes_.at(static_cast<std::size_t>(origin.node)).outputs.at(static_cast<std::size_t>(origin.port));
}

const Format& PlannedGraph::format(const Origin& origin) const {
  if (origin.node == Origin::kSource) return source_formats_.at(static_cast<std::size_t>(origin.port));
  return nodes_.at(static_cast<std::size_t>(origin.node)).formats.at(static_cast<std::size_t>(origin.port));
}

}  // namespace contorno
