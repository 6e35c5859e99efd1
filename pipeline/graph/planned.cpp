#include "pipeline/graph/planned.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

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
  void set_output(std::size_t port, const Format& format) override {
    if (const auto* image = std::get_if<ImageFormat>(&format))
      check_sides(*image, "what it makes");
    else if (node().on_host)
      throw InternalError("contours were made on the host of a graph on a device");
    node().formats.at(port) = format;
  }
  Scratch scratch(std::size_t bytes, MemoryKind kind) override { return request(bytes, kind, false); }
  Scratch temporary(std::size_t bytes, MemoryKind kind) override { return request(bytes, kind, true); }
  State state(std::size_t bytes) override {
    if (node().on_host)
      throw Error(ExitCode::BadConfig,
                  "it would run on the host, for the sake of a stage behind it, but knows of earlier frames, "
                  "which the "
                  "device keeps; allowed is backend: cpu");
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
  Scratch request(std::size_t bytes, MemoryKind kind, bool temporary) const {
    if (!graph_.on_device() && kind == MemoryKind::Device)
      throw InternalError("a CPU stage asked for device memory");
    node().requests.push_back({bytes, kind, temporary});
    return {node().requests.size() - 1};
  }
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
  };
  return align_up(std::visit(Size{}, format));
}

/// The value of `format` in the memory at `data`.
Value value_at(std::byte* data, const Format& format) {
  struct Placed {
    std::byte* data;
    Value operator()(const ImageFormat& image) const { return packed_view(data, image); }
    Value operator()(const ContoursFormat& contours) const { return packed_view(data, contours); }
  };
  return std::visit(Placed{data}, format);
}

/// Whether this stands for what a source does not have.
bool is_absent(const Format& format) {
  const auto* image = std::get_if<ImageFormat>(&format);
  return image != nullptr && image->channels == 0;
}

/// Whether who reads one of them can read the other: contours may have other capacities.
bool is_alike(const Format& one, const Format& other) {
  if (one.index() != other.index()) return false;
  if (std::holds_alternative<ImageFormat>(one)) return one == other;
  const auto &a = std::get<ContoursFormat>(one), &b = std::get<ContoursFormat>(other);
  return a.width == b.width && a.height == b.height && a.classes == b.classes && a.placement == b.placement &&
         a.attributes == b.attributes;
}

/// Names the key that a graph comes from which nobody has written.
template <class Work>
void as_degraded(const Work& work) {
  try {
    work();
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("degrade: {}", error.what()));
  }
}

/// What a source delivers, whose sizes nobody may have looked at.
const PlannedSource& checked(const PlannedSource& source) {
  for (const Format& format : source.formats)
    if (const auto* image = std::get_if<ImageFormat>(&format); image != nullptr && !is_absent(format))
      check_sides(*image, fmt::format("the source ({})", source.description));
  return source;
}

}  // namespace

/// Hands out memory of three kinds: once to find out where everything lies, once more, behind `allocate`, for
/// real.
class PlannedGraph::Placer {
 public:
  std::byte* take(std::size_t bytes, MemoryKind kind, const Lifetime& lifetime = {}) {
    const auto at = static_cast<std::size_t>(kind);
    if (!placed_) return plans_[at].add(bytes, lifetime), kNowhere;
    return base_[at] + plans_[at].offset(next_[at]++);
  }
  /// How much there is of each kind, when everything has been taken once.
  SlotMemory place(MemorySharing sharing) {
    std::size_t saved = 0;
    for (MemoryPlan& plan : plans_) {
      plan.place(sharing);
      saved += plan.bytes_apart() - plan.bytes();
    }
    placed_ = true;
    return {.host = plan_of(MemoryKind::Host).bytes(),
            .pinned = plan_of(MemoryKind::Pinned).bytes(),
            .device = plan_of(MemoryKind::Device).bytes(),
            .saved = saved};
  }
  void allocate(Block& host, Block& pinned, Block& device) {
    Block* blocks[] = {&host, &pinned, &device};
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      *blocks[kind] = Block();
      *blocks[kind] = Block(plans_[kind].bytes(), static_cast<MemoryKind>(kind));
      base_[kind] = blocks[kind]->data();
    }
  }
  const std::vector<MemoryPlan::Block>& blocks(MemoryKind kind) { return plan_of(kind).blocks(); }

 private:
  static constexpr std::size_t kKinds = 3;
  // While everything is taken once: arithmetic on a null pointer is undefined.
  static inline std::byte* const kNowhere = reinterpret_cast<std::byte*>(kAlignment);

  MemoryPlan& plan_of(MemoryKind kind) { return plans_[static_cast<std::size_t>(kind)]; }

  MemoryPlan plans_[kKinds];
  std::size_t next_[kKinds] = {};
  std::byte* base_[kKinds] = {};
  bool placed_ = false;
};

PlannedGraph::PlannedGraph(const PlanEnvironment& environment) : environment_(environment) {
  const std::vector<bool> on_host = host_nodes(*environment.graph);
  for (const NodeSpec& spec : environment.graph->nodes) {
    Node& node = nodes_.emplace_back();
    node.on_host = on_device() && on_host[nodes_.size() - 1];
    if (node.on_host && environment.outside)
      throw InternalError("a stage on the host was given values on a device");
    node.stage = make_stage(*spec.type, node.on_host ? Backend::Cpu : environment.backend, spec.params);
    node.first_part = times_.part_ns.size();
    times_.part_ns.resize(node.first_part + spec.type->timed_parts());
  }
  host_part_ns_.resize(times_.part_ns.size());
  if (!on_device() || environment.outside) return;
  stream_ = Stream::create();
  for (std::size_t event = 0; event < times_.part_ns.size() + 3; ++event) events_.push_back(Event::create());
  clock_.emplace(stream_);
}

PlannedGraph::~PlannedGraph() = default;

PlannedSource source_of(const StreamFormat& stream) {
  const ImageFormat none;
  return {{stream.frame.value_or(none), stream.maps.value_or(none)}, stream.description};
}

void PlannedGraph::set_source(const PlannedSource& source) {
  source_ = checked(source);
  source_ports_ = source_.formats.size();
}

void PlannedGraph::plan_formats(const StreamFormat& stream) {
  set_source(source_of(stream));
  plan_memory();
  for (std::size_t port = 0; port < source_ports_; ++port) memory_.pinned += bytes_of(source_.formats[port]);
}

void PlannedGraph::plan_formats_beside(const PlannedGraph& first, const StreamFormat& stream) {
  as_degraded([&] {
    set_source(source_of(stream));
    plan_memory();
    check_beside(first);
  });
}

/// Finds out what memory it takes, but for what the source writes.
void PlannedGraph::plan_memory() {
  plan_nodes();
  if (on_device()) plan_uploads();
  source_values_.assign(source_ports_, Value());
  Placer placer;
  place_all(placer);
  memory_ = placer.place(environment_.sharing);
  count_states();
}

void PlannedGraph::plan(const PlannedSource& source) {
  set_source(source);
  std::size_t bytes = 0, on_device_bytes = 0;
  for (std::size_t port = 0; port < source_ports_; ++port)
    (comes_on_device(port) ? on_device_bytes : bytes) += bytes_of(source_.formats[port]);
  input_block_ = Block();
  device_input_block_ = Block();
  input_block_ = Block(bytes, MemoryKind::Pinned);
  if (on_device_bytes > 0) device_input_block_ = Block(on_device_bytes, MemoryKind::Device);
  std::byte *data = input_block_.data(), *device_data = device_input_block_.data();
  source_values_.clear();
  for (std::size_t port = 0; port < source_ports_; ++port) {
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
  own_input_.frame = image(Origin::kFrame), own_input_.maps = image(Origin::kMaps);
  replan();
  if (on_device()) warm_up();
}

void PlannedGraph::plan_beside(PlannedGraph& first, const StreamFormat& stream) {
  set_source(source_of(stream));
  const auto of_source = first.source_values_.begin() + static_cast<std::ptrdiff_t>(source_ports_);
  source_values_.assign(first.source_values_.begin(), of_source);
  input_ = first.input_;
  as_degraded([&] { replan(); });
  check_beside(first);
  if (on_device()) warm_up();
}

/// Frames of both follow each other, and what one exports is read as what the other would.
void PlannedGraph::check_beside(const PlannedGraph& first) const {
  if (state_bytes_ != first.state_bytes_)
    throw InternalError("a graph was planned beside one with other states");
  for (const Origin& origin : environment_.exports)
    if (origin.node != Origin::kSource && !is_alike(format(origin), first.format(origin)))
      throw InternalError("a graph was planned beside one that makes something else");
}

/// Frames of zeros, with times and without, so that no real one pays for loading kernels and instantiating
/// its graph.
void PlannedGraph::warm_up() {
  std::fill_n(input_block_.data(), input_block_.size(), std::byte{0});
  for (std::size_t port = source_ports_; port < source_.formats.size();
       ++port)  // for what stages on the host make
    std::memset(std::get<ImageView>(source_values_[port]).data, 0, bytes_of(source_.formats[port]));
  if (device_input_block_.size() > 0)
    fill_async(device_input_block_.data(), 0, device_input_block_.size(), stream_.get());
  const CarriedState::Parked parked = states_.park(stream_.get());
  for (const bool probed : {false, true}) {
    if (!has_frames(probed)) continue;
    probed_ = probed;
    launch_captured();
  }
  states_.restore(parked, stream_.get());
  wait();
}

void PlannedGraph::replan() {
  // Where planning fails nothing can be launched before the next plan.
  captured_ = {}, generation_ = kNotPlanned;
  const std::uint64_t generation = environment_.capacities->generation();
  plan_nodes();
  if (on_device()) plan_uploads();
  place_values(stream_.get());
  generation_ = generation;
}

void PlannedGraph::plan_between(const PlannedSource& source, void* stream) {
  set_source(source);
  source_values_.assign(source_.formats.size(), Value());
  plan_nodes();
  place_values(stream);
}

/// The node that makes a value on the host of a graph on a device; null: the source or a device does.
const PlannedGraph::Node* PlannedGraph::host_node(const Origin& origin) const {
  if (origin.node == Origin::kSource) return nullptr;
  const Node& node = nodes_.at(static_cast<std::size_t>(origin.node));
  return node.on_host ? &node : nullptr;
}

void PlannedGraph::plan_nodes() {
  source_.formats.resize(source_ports_);
  first_with_state_ = end_with_state_ = nodes_.size();
  std::size_t state_bytes = 0;
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const NodeSpec& spec = environment_.graph->nodes[index];
    Node& node = nodes_[index];
    node.formats.assign(spec.type->outputs.size(), Format{});
    node.requests.clear();
    node.state_offset = state_bytes, node.state_bytes = 0;
    node.origins = spec.inputs;
    for (Origin& origin : node.origins)
      if (const Node* const maker = host_node(origin))
        origin = {Origin::kSource, static_cast<int>(maker->first_port) + origin.port};
    for (const Origin& origin : spec.inputs) {
      if (origin.node == Origin::kSource && is_absent(format(origin)))
        throw Error(ExitCode::BadConfig,
                    fmt::format("node '{}' takes the source's {}, but this source ({}) delivers none",
                                spec.name, origin.port == 0 ? "frame" : "class maps", source_.description));
      if (node.on_host && origin.node == Origin::kSource &&
          comes_on_device(static_cast<std::size_t>(origin.port)))
        throw Error(ExitCode::BadConfig,
                    fmt::format("node '{1}' runs on the host, while {0} come on the device: give it {0} in "
                                "memory of the host",
                                origin.port == Origin::kFrame ? "frames" : "class maps", spec.name));
    }
    Context context(*this, index);
    try {
      node.stage->plan(context);
    } catch (const InternalError&) {
      throw;
    } catch (const Error& error) {
      // Stages begin with their own name, which most nodes have too.
      std::string_view reason = error.what();
      if (spec.name.empty()) throw;
      if (const std::string own = spec.name + ": "; reason.starts_with(own)) reason.remove_prefix(own.size());
      throw Error(error.code(), fmt::format("{}{}node '{}': {}", spec.where, spec.where.empty() ? "" : ": ",
                                            spec.input_name(), reason));
    }
    node.first_port = source_.formats.size();
    if (node.on_host) source_.formats.insert(source_.formats.end(), node.formats.begin(), node.formats.end());
    if (node.state_bytes == 0) continue;
    if (state_bytes == 0) first_with_state_ = index;
    end_with_state_ = index + 1;
    state_bytes += node.state_bytes;
  }
  state_bytes_ = state_bytes;
  find_lifetimes();
}

void PlannedGraph::find_lifetimes() {
  source_read_until_.assign(source_.formats.size(), Lifetime::kUpload);
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const int reader = static_cast<int>(index);
    nodes_[index].read_until = reader;
    if (nodes_[index].on_host) continue;  // has read all before the upload
    for (const Origin& origin : nodes_[index].origins) {
      if (origin.node != Origin::kSource) {
        nodes_[static_cast<std::size_t>(origin.node)].read_until = reader;
      } else {  // What comes in bands may still come when the last reader is done.
        int& until = source_read_until_[static_cast<std::size_t>(origin.port)];
        until = takes_bands(index) || until == Lifetime::kEnd ? Lifetime::kEnd : reader;
      }
    }
  }
}

Lifetime PlannedGraph::lifetime_of(std::size_t node, std::size_t port) const {
  const Origin origin{static_cast<int>(node), static_cast<int>(port)};
  return {.first = origin.node, .last = is_kept(origin) ? Lifetime::kEnd : nodes_[node].read_until};
}

/// Whether the host reads the value when the frame is complete. On CUDA the counts have been copied by then.
bool PlannedGraph::is_kept(const Origin& origin) const {
  return exported(origin) || (!on_device() && origin == environment_.counted);
}

bool PlannedGraph::is_outside(const Origin& origin) const {
  return environment_.outside && origin.node + 1 == static_cast<int>(nodes_.size());
}

bool PlannedGraph::exported(const Origin& origin) const {
  return std::find(environment_.exports.begin(), environment_.exports.end(), origin) !=
         environment_.exports.end();
}

void PlannedGraph::place_values(void* stream) {
  Placer placer;
  states_.plan(state_bytes_, environment_.backend);
  place_all(placer);
  memory_ = placer.place(environment_.sharing);
  memory_.pinned += input_block_.size();
  memory_.device += device_input_block_.size();
  count_states();
  placer.allocate(host_block_, pinned_block_, device_block_);
  // Scratch begins as zeros, and so do the bytes between rows, which are downloaded with them.
  if (device_block_.size() > 0) fill_async(device_block_.data(), 0, device_block_.size(), stream);
  place_all(placer);
  if (environment_.sharing == MemorySharing::Filled) shared_blocks_ = placer.blocks(working_kind());
}

void PlannedGraph::count_states() {
  (on_device() ? memory_.device : memory_.host) += 2 * state_bytes_;
}

void PlannedGraph::place_all(Placer& placer) {
  downloads_.clear();
  counts_downloads_.clear();
  device_sources_.clear();
  source_values_.resize(source_ports_);
  for (std::size_t port = source_ports_; port < source_.formats.size(); ++port) {
    const Format& format = source_.formats[port];
    source_values_.push_back(value_at(placer.take(bytes_of(format), MemoryKind::Pinned), format));
  }
  if (on_device() && !environment_.outside)
    for (std::size_t port = 0; port < source_.formats.size(); ++port) {
      const Format& format = source_.formats[port];
      device_sources_.push_back(comes_on_device(port)
                                    ? source_values_.at(port)
                                    : value_at(placer.take(bytes_of(format), MemoryKind::Device,
                                                           {.last = source_read_until_[port]}),
                                               format));
    }
  constexpr Origin kMaps{Origin::kSource, Origin::kMaps};
  const bool downloads_maps = comes_on_device(Origin::kMaps) && source_ports_ > Origin::kMaps &&
                              exported(kMaps) && !is_absent(format(kMaps));
  host_maps_.reset();
  if (downloads_maps)
    host_maps_ = value_at(placer.take(bytes_of(format(kMaps)), MemoryKind::Pinned), format(kMaps));
  for (std::size_t index = 0; index < nodes_.size(); ++index) place_node(index, placer);
  connect_nodes();
}

/// Gives each node the values that it reads. Their number stays, so that the contexts stay valid.
void PlannedGraph::connect_nodes() {
  for (Node& node : nodes_)
    for (std::size_t port = 0; port < node.origins.size(); ++port) {
      const Origin& from = node.origins[port];
      node.inputs[port] =
          node.on_host ? source_values_.at(static_cast<std::size_t>(from.port)) : working_value(from);
    }
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
    for (std::size_t index = 0; index < nodes_.size(); ++index) {
      if (nodes_[index].on_host) continue;
      for (const Origin& input : nodes_[index].origins)
        if (input == origin) taken = true, in_bands = in_bands || takes_bands(index);
    }
    if (taken) upload.emplace(in_bands ? upload_bands(*image, environment_.last_band) : one_band(*image));
  }
}

void PlannedGraph::place_node(std::size_t index, Placer& placer) {
  Node& node = nodes_[index];
  node.inputs.assign(environment_.graph->nodes[index].inputs.size(), Value());
  node.uploads.clear();
  node.outputs.clear();
  node.host_outputs.clear();
  node.scratches.clear();
  for (const Origin& origin : nodes_[index].origins) {
    const bool in_bands = !uploads_.empty() && origin.node == Origin::kSource && takes_bands(index);
    auto* const upload = in_bands ? &uploads_.at(static_cast<std::size_t>(origin.port)) : nullptr;
    node.uploads.push_back(upload != nullptr && *upload ? &**upload : nullptr);
  }
  for (std::size_t port = 0; port < node.formats.size(); ++port) place_output(index, port, placer);
  const Lifetime own_turn{static_cast<int>(index), static_cast<int>(index)};
  for (const Request& request : node.requests) {
    const bool for_a_turn = request.temporary && request.kind == working_kind();
    node.scratches.push_back(placer.take(request.bytes, request.kind, for_a_turn ? own_turn : Lifetime{}));
  }
  node.context = {.inputs = node.inputs,
                  .outputs = node.outputs,
                  .host_outputs = node.host_outputs,
                  .uploads = node.uploads,
                  .scratches = node.scratches,
                  .stream = node.on_host ? nullptr : stream_.get(),
                  .threads = environment_.threads};
  states_.give_to(node.context);
}

void PlannedGraph::place_output(std::size_t index, std::size_t port, Placer& placer) {
  Node& node = nodes_[index];
  const Format& format = node.formats[port];
  const Origin origin{static_cast<int>(index), static_cast<int>(port)};
  Value value;
  if (node.on_host)
    value = source_values_.at(node.first_port + port);
  else if (!is_outside(origin))
    value = value_at(placer.take(bytes_of(format), working_kind(), lifetime_of(index, port)), format);
  node.outputs.push_back(value);
  node.host_outputs.push_back(value);
  if (!on_device() || node.on_host) return;
  Value& on_host = node.host_outputs.back();
  const auto* contours = std::get_if<ContoursFormat>(&format);
  if (exported(origin)) {
    if (contours == nullptr && frames_stay()) return;
    on_host = value_at(placer.take(bytes_of(format), MemoryKind::Pinned), format);
    if (!node.stage->downloads_output()) downloads_.push_back({index, port});
  } else if (contours != nullptr &&
             (origin == environment_.counted || is_outside(origin) || node.stage->needs_counts())) {
    on_host = packed_counts(placer.take(packed_counts_bytes(*contours), MemoryKind::Pinned), *contours);
    counts_downloads_.push_back({index, port});
  }
}

const Value& PlannedGraph::working_value(const Origin& origin) const {
  const auto port = static_cast<std::size_t>(origin.port);
  if (origin.node != Origin::kSource)
    return nodes_.at(static_cast<std::size_t>(origin.node)).outputs.at(port);
  return device_sources_.empty() ? source_values_.at(port) : device_sources_.at(port);
}

const Value& PlannedGraph::value(const Origin& origin) const {
  const auto port = static_cast<std::size_t>(origin.port);
  if (origin.node == Origin::kSource)
    return port == Origin::kMaps && host_maps_ ? *host_maps_ : source_values_.at(port);
  if (const Node* const maker = host_node(origin)) return source_values_.at(maker->first_port + port);
  if (!is_kept(origin) && origin != environment_.counted && !is_outside(origin))
    throw InternalError("a value was asked for that is not kept until the frame is complete");
  return nodes_.at(static_cast<std::size_t>(origin.node)).host_outputs.at(port);
}

const std::uint32_t* PlannedGraph::selection() const {
  const std::optional<Scratch> found = nodes_.size() == 1 ? nodes_[0].stage->selection() : std::nullopt;
  return found ? reinterpret_cast<const std::uint32_t*>(nodes_[0].scratches[found->index]) : nullptr;
}

const Format& PlannedGraph::format(const Origin& origin) const {
  const auto port = static_cast<std::size_t>(origin.port);
  if (origin.node == Origin::kSource) return source_.formats.at(port);
  return nodes_.at(static_cast<std::size_t>(origin.node)).formats.at(port);
}

}  // namespace contorno
