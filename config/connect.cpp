#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>

#include "config/sections.h"

namespace contorno::config {
namespace {

/// What asks for a value: an input of a stage, or a sink.
struct Wanted {
  std::string owner;  ///< begins messages: "node 'overlay': input 'frame'"
  PortSpec port;

  /// Where a plain `source` leads.
  Origin source() const {
    return {.node = Origin::kSource,
            .port = port.from == From::MapsOrFrame ? Origin::kMapsOrFrame : Origin::kFrameOrMaps};
  }
};

/// Finds producers. Node numbers are those of the file until `sort` has put them in order.
class Connector {
 public:
  Connector(const std::vector<DeclaredStage>& stages, const Catalog& catalog, Problems& problems)
      : stages_(stages), catalog_(catalog), problems_(problems) {
    for (std::size_t i = 0; i < stages.size(); ++i) {
      index_.emplace(stages[i].name, i);
      if (!stages[i].part_names.empty()) first_halves_.emplace(stages[i].part_names.front(), i);
    }
  }

  /// One origin for each input of stage `number`.
  std::vector<Origin> inputs(std::size_t number) {
    const DeclaredStage& stage = stages_[number];
    if (stage.type == nullptr) return {};
    const std::vector<const YamlNode*> from = references(stage);
    std::vector<Origin> origins;
    for (std::size_t port = 0; port < stage.type->inputs.size(); ++port) {
      const PortSpec& spec = stage.type->inputs[port];
      const Wanted wanted{.owner = fmt::format("node '{}': input '{}'", stage.input_name(), spec.name),
                          .port = spec};
      origins.push_back(from[port] != nullptr ? follow(*from[port], wanted)
                                              : implied(stage.after, stage.place, wanted));
      if (from[port] != nullptr && origins.back().node >= 0) edges_.push_back({number, from[port]->place});
    }
    return origins;
  }

  Origin sink_input(const DeclaredSink& sink) {
    if (sink.type == nullptr) return {};
    const bool is_image = sink.type->input == PortType::Image;
    const Wanted wanted{
        .owner = fmt::format("sink '{}'", sink.name),
        .port = {.type = sink.type->input, .from = is_image ? From::FrameOrMaps : From::Stage}};
    if (sink.from != nullptr) return follow(sink.from->value, wanted);
    return implied(stages_.size(), sink.place, wanted);
  }

  /// An order of the stages in which each comes after its inputs, else in file order; empty when there is
  /// none, and then the cycle has been reported.
  std::vector<std::size_t> sort(const std::vector<std::vector<Origin>>& inputs);

 private:
  /// The `from:` of every input port, null where the file leaves it open.
  std::vector<const YamlNode*> references(const DeclaredStage& stage);
  /// "NODE" or "NODE.PORT".
  Origin follow(const YamlNode& reference, const Wanted& wanted);
  Origin follow_source(const YamlNode& reference, const std::string& port, const Wanted& wanted);
  /// The origin that an input without `from:` takes, for a stage or sink behind the first `before` stages of
  /// the file.
  Origin implied(std::size_t before, const Place& place, const Wanted& wanted);
  void report_cycle(const std::vector<std::vector<Origin>>& inputs, const std::vector<bool>& placed);

  struct Edge {
    std::size_t to;
    Place place;
  };

  const std::vector<DeclaredStage>& stages_;
  const Catalog& catalog_;
  Problems& problems_;
  std::unordered_map<std::string, std::size_t> index_, first_halves_;
  std::vector<Edge> edges_;  ///< inputs that the file names by `from:`: only they can close a cycle
};

std::vector<const YamlNode*> Connector::references(const DeclaredStage& stage) {
  const std::vector<PortSpec>& ports = stage.type->inputs;
  const std::vector<std::string> names = names_of(ports);
  std::vector<const YamlNode*> found(ports.size(), nullptr);
  if (stage.from == nullptr) return found;
  const YamlNode& from = stage.from->value;
  const std::string owner = fmt::format("node '{}'", stage.input_name());
  if (from.kind == YamlKind::Map) {
    for (const YamlEntry& entry : from.entries) {
      const auto it = std::find(names.begin(), names.end(), entry.key);
      if (it != names.end())
        found[static_cast<std::size_t>(it - names.begin())] = &entry.value;
      else
        problems_.add(entry.place,
                      fmt::format("{}: unknown input '{}'{}", owner, printable(entry.key),
                                  did_you_mean(entry.key, names)),
                      fmt::format("the inputs of {} are {}", stage.type->name, fmt::join(names, ", ")));
    }
  } else if (from.kind == YamlKind::List && from.items.size() == ports.size()) {
    for (std::size_t i = 0; i < ports.size(); ++i) found[i] = &from.items[i];
  } else if (from.kind == YamlKind::Scalar && ports.size() == 1) {
    found[0] = &from;
  } else {
    problems_.add(
        from.place,
        fmt::format(
            "{}: from is {}, but {} has {} input{} ({})", owner,
            from.kind == YamlKind::List ? fmt::format("a list of {}", from.items.size()) : describe(from),
            stage.type->name, ports.size(), ports.size() == 1 ? "" : "s", fmt::join(names, ", ")),
        fmt::format("write from: {{{}: NODE}}", fmt::join(names, ": NODE, ")));
  }
  return found;
}

Origin Connector::follow(const YamlNode& reference, const Wanted& wanted) {
  if (reference.kind != YamlKind::Scalar) {
    problems_.add(reference.place, fmt::format("{} comes from {}, allowed NODE or NODE.PORT", wanted.owner,
                                               describe(reference)));
    return {};
  }
  const std::size_t dot = reference.text.find('.');
  const std::string name = reference.text.substr(0, dot);
  const std::string port = dot == std::string::npos ? "" : reference.text.substr(dot + 1);
  if (name == "source") return follow_source(reference, port, wanted);
  const auto it = index_.find(name);
  if (const auto half = first_halves_.find(name); it == index_.end() && half != first_halves_.end()) {
    const DeclaredStage& whole = stages_[half->second];
    problems_.add(
        reference.place,
        fmt::format("{} takes {}, but '{}' ({}) is the first half of '{}'", wanted.owner,
                    name_of(wanted.port.type), name, problems_.name_of(whole.input_place), whole.name),
        fmt::format("write {}", whole.name));
    return {};
  }
  if (it == index_.end()) {
    std::vector<std::string> known = names_of(stages_);
    known.push_back("source");
    problems_.add(reference.place,
                  fmt::format("{} comes from unknown node '{}'{}", wanted.owner, printable(name),
                              did_you_mean(name, known)),
                  known.size() <= 30 ? fmt::format("the nodes are {}", fmt::join(known, ", ")) : "");
    return {};
  }
  const DeclaredStage& producer = stages_[it->second];
  if (producer.type == nullptr) return {};
  const std::vector<PortSpec>& outputs = producer.type->outputs;
  const std::string where = fmt::format("'{}' ({})", producer.name, problems_.name_of(producer.place));
  std::vector<std::string> made, fitting;
  int found = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string_view kind = name_of(outputs[i].type);
    made.push_back(outputs[i].name == kind ? outputs[i].name : fmt::format("{} ({})", outputs[i].name, kind));
    const bool meant = port.empty() || outputs[i].name == port;
    if (meant && outputs[i].type == wanted.port.type)
      fitting.push_back(fmt::format("{}.{}", name, outputs[i].name)), found = static_cast<int>(i);
  }
  if (fitting.size() == 1) return {.node = static_cast<int>(it->second), .port = found};
  const auto named =
      std::find_if(outputs.begin(), outputs.end(), [&](const PortSpec& out) { return out.name == port; });
  if (!fitting.empty())
    problems_.add(reference.place,
                  fmt::format("{} comes from {}, which has several outputs of its type", wanted.owner, where),
                  fmt::format("write one of {}", fmt::join(fitting, ", ")));
  else if (!port.empty() && named == outputs.end())
    problems_.add(reference.place,
                  fmt::format("{} comes from unknown output '{}' of {}{}", wanted.owner, printable(port),
                              where, did_you_mean(port, names_of(outputs))),
                  fmt::format("its outputs are {}", fmt::join(made, ", ")));
  else
    problems_.add(reference.place, fmt::format("{} takes {}, but {} makes {}", wanted.owner,
                                               name_of(wanted.port.type), where, fmt::join(made, ", ")));
  return {};
}

Origin Connector::follow_source(const YamlNode& reference, const std::string& port, const Wanted& wanted) {
  if (wanted.port.type != PortType::Image)
    problems_.add(reference.place, fmt::format("{} takes {}, but the source makes images", wanted.owner,
                                               name_of(wanted.port.type)));
  if (port.empty()) return wanted.source();
  if (port == "frame") return {.node = Origin::kSource, .port = Origin::kFrame};
  if (port == "maps") return {.node = Origin::kSource, .port = Origin::kMaps};
  problems_.add(reference.place,
                fmt::format("{} comes from unknown output '{}' of the source{}", wanted.owner,
                            printable(port), did_you_mean(port, {"frame", "maps"})),
                "its outputs are frame, maps");
  return {};
}

Origin Connector::implied(std::size_t before, const Place& place, const Wanted& wanted) {
  if (wanted.port.from == From::Frame) return {.node = Origin::kSource, .port = Origin::kFrame};
  bool may_be_unknown = false;
  for (std::size_t i = before; i-- > 0;) {
    if (stages_[i].type == nullptr) {
      may_be_unknown = true;
      continue;
    }
    const std::vector<PortSpec>& outputs = stages_[i].type->outputs;
    for (std::size_t port = 0; port < outputs.size(); ++port)
      if (outputs[port].type == wanted.port.type)
        return {.node = static_cast<int>(i), .port = static_cast<int>(port)};
  }
  if (wanted.port.from != From::Stage) return wanted.source();
  if (may_be_unknown) return {};
  std::vector<std::string> makers;
  for (const StageType* type : catalog_.stages)
    if (std::any_of(type->outputs.begin(), type->outputs.end(),
                    [&](const PortSpec& out) { return out.type == wanted.port.type; }))
      makers.push_back(type->name);
  problems_.add(
      place,
      fmt::format("{} has no producer: no earlier stage makes {}", wanted.owner, name_of(wanted.port.type)),
      makers.empty() ? ""
                     : fmt::format("put one of {} before it, or write from: NODE", fmt::join(makers, ", ")));
  return {};
}

std::vector<std::size_t> Connector::sort(const std::vector<std::vector<Origin>>& inputs) {
  std::vector<std::vector<std::size_t>> consumers(stages_.size());
  std::vector<std::size_t> waits_for(stages_.size(), 0);
  for (std::size_t i = 0; i < stages_.size(); ++i)
    for (const Origin& origin : inputs[i])
      if (origin.node >= 0) consumers[static_cast<std::size_t>(origin.node)].push_back(i), ++waits_for[i];
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < stages_.size(); ++i)
    if (waits_for[i] == 0) ready.push(i);
  std::vector<std::size_t> order;
  std::vector<bool> placed(stages_.size(), false);
  for (; !ready.empty();) {
    const std::size_t next = ready.top();
    ready.pop();
    order.push_back(next);
    placed[next] = true;
    for (const std::size_t consumer : consumers[next])
      if (--waits_for[consumer] == 0) ready.push(consumer);
  }
  if (order.size() == stages_.size()) return order;
  report_cycle(inputs, placed);
  return {};
}

void Connector::report_cycle(const std::vector<std::vector<Origin>>& inputs,
                             const std::vector<bool>& placed) {
  // Every stage that is left waits for another one that is left: walking up the inputs must come back.
  std::size_t at = static_cast<std::size_t>(std::find(placed.begin(), placed.end(), false) - placed.begin());
  std::vector<std::size_t> walk;
  while (std::find(walk.begin(), walk.end(), at) == walk.end()) {
    walk.push_back(at);
    for (const Origin& origin : inputs[at])
      if (origin.node >= 0 && !placed[static_cast<std::size_t>(origin.node)]) {
        at = static_cast<std::size_t>(origin.node);
        break;
      }
  }
  walk.erase(walk.begin(), std::find(walk.begin(), walk.end(), at));
  std::reverse(walk.begin(), walk.end());
  std::rotate(walk.begin(), std::min_element(walk.begin(), walk.end()), walk.end());
  std::string path;
  for (const std::size_t node : walk) path += stages_[node].name + " -> ";
  path += stages_[walk.front()].name;
  Place place = stages_[walk.front()].place;
  std::vector<std::string> lines;
  for (const Edge& edge : edges_)
    if (std::find(walk.begin(), walk.end(), edge.to) != walk.end()) {
      if (lines.empty()) place = edge.place;
      lines.push_back(problems_.name_of(edge.place));
    }
  problems_.add(place, fmt::format("the stages form a cycle: {}", path),
                fmt::format("change one of the from: in {}", fmt::join(lines, ", ")));
}

}  // namespace

void connect(std::vector<DeclaredStage> stages, std::vector<DeclaredSink> sinks, const Catalog& catalog,
             GraphSpec& graph, Problems& problems) {
  Connector connector(stages, catalog, problems);
  std::vector<std::vector<Origin>> inputs;
  for (std::size_t i = 0; i < stages.size(); ++i) inputs.push_back(connector.inputs(i));
  const std::vector<std::size_t> order = connector.sort(inputs);
  std::vector<Origin> sink_inputs;
  for (const DeclaredSink& sink : sinks) sink_inputs.push_back(connector.sink_input(sink));
  if (!problems.empty()) return;

  std::vector<int> place_of(stages.size());
  for (std::size_t i = 0; i < order.size(); ++i) place_of[order[i]] = static_cast<int>(i);
  const auto renumber = [&](Origin origin) {
    if (origin.node >= 0) origin.node = place_of[static_cast<std::size_t>(origin.node)];
    return origin;
  };
  for (const std::size_t number : order) {
    NodeSpec node{.name = stages[number].name,
                  .type = stages[number].type,
                  .params = std::move(stages[number].params),
                  .inputs = {},
                  .where = problems.where(stages[number].input_place),
                  .part_names = std::move(stages[number].part_names),
                  .step = std::move(stages[number].step)};
    for (const Origin& origin : inputs[number]) node.inputs.push_back(renumber(origin));
    graph.nodes.push_back(std::move(node));
  }
  for (std::size_t i = 0; i < sinks.size(); ++i)
    graph.sinks.push_back({.name = sinks[i].name,
                           .type = sinks[i].type,
                           .params = std::move(sinks[i].params),
                           .input = renumber(sink_inputs[i]),
                           .settings = std::move(sinks[i].settings)});
}

}  // namespace contorno::config
