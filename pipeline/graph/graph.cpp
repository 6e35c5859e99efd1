#include "pipeline/graph/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "base/error.h"
#include "cuda/device.h"
#include "pipeline/graph/device_thread.h"
#include "pipeline/graph/numbered_choice.h"
#include "pipeline/graph/steps.h"
#include "pipeline/shared/threads.h"

namespace contorno {

std::string_view name_of(Backend backend) {
  switch (backend) {
    case Backend::Auto:
      return "auto";
    case Backend::Cpu:
      return "cpu";
    case Backend::Cuda:
      return "cuda";
  }
  throw InternalError("unknown backend");
}

std::string_view name_of(PortType type) {
  switch (type) {
    case PortType::Image:
      return "image";
    case PortType::Contours:
      return "contours";
  }
  throw InternalError("unknown port type");
}

std::string_view name_of(From from) {
  switch (from) {
    case From::Stage:
      return "nearest earlier output";
    case From::FrameOrMaps:
      return "nearest earlier output, else source.frame or source.maps";
    case From::MapsOrFrame:
      return "nearest earlier output, else source.maps or source.frame";
    case From::Frame:
      return "source.frame";
  }
  throw InternalError("unknown origin of an input");
}

std::string_view name_of(OnFull policy) {
  switch (policy) {
    case OnFull::Auto:
      return "auto";
    case OnFull::Wait:
      return "wait";
    case OnFull::DropOldest:
      return "drop_oldest";
    case OnFull::DropNewest:
      return "drop_newest";
  }
  throw InternalError("unknown policy");
}

PortType port_type(const Format& format) {
  return static_cast<PortType>(format.index());
}

std::string describe(const Format& format) {
  struct Writer {
    std::string operator()(const ImageFormat& image) const { return describe(image); }
    std::string operator()(const ContoursFormat& contours) const {
      return fmt::format("contours of {} classes on {}x{}, room for {} points", contours.classes,
                         contours.width, contours.height, contours.point_capacity);
    }
  };
  return std::visit(Writer{}, format);
}

namespace {

constexpr std::string_view kOnDevice = "cuda:", kOnAll = "cuda:all";

/// A word that the parameter takes.
BackendRequest request_of(std::string_view word) {
  if (word == kOnAll) return {Backend::Cuda, BackendRequest::kAll};
  for (const Backend backend : {Backend::Auto, Backend::Cpu, Backend::Cuda})
    if (word == name_of(backend)) return backend;
  BackendRequest request(Backend::Cuda);
  std::from_chars(word.data() + kOnDevice.size(), word.data() + word.size(), request.device);
  return request;
}

}  // namespace

std::string to_text(const BackendRequest& request) {
  if (request.device == BackendRequest::kAll) return std::string(kOnAll);
  if (request.device == BackendRequest::kUnnamed) return std::string(name_of(request.backend));
  return fmt::format("{}{}", kOnDevice, request.device);
}

std::string describe(const BackendChoice& choice) {
  if (choice.backend != Backend::Cuda || device_report().devices.size() < 2)
    return std::string(name_of(choice.backend));
  return fmt::format("{}{}", kOnDevice, device_label(choice.device));
}

const ParamDeclaration& pipeline_params() {
  static const ParamDeclaration declaration = [] {
    using P = PipelineSettings;
    ParamList<P> list;
    list.choice(
            "backend", &P::backend,
            {{"auto", Backend::Auto},
             {"cpu", Backend::Cpu},
             {"cuda", Backend::Cuda},
             {std::string(kOnAll), {Backend::Cuda, BackendRequest::kAll}},
             {"cuda" + std::string(kNumberedChoice), {Backend::Cuda, 0}}},
            "Where the stages run; auto takes CUDA when a device answers. cuda is the first device, cuda:1 "
            "the second; cuda:all spreads the cameras of sources over all.")
        .integer("slots", &P::slots, 1, 64, Unit::Frames, "Frames that are under way at once.")
        .choice("on_full", &P::on_full,
                {{"auto", OnFull::Auto},
                 {"wait", OnFull::Wait},
                 {"drop_oldest", OnFull::DropOldest},
                 {"drop_newest", OnFull::DropNewest}},
                "What happens to a frame that finds no free slot; auto waits for files and drops the oldest "
                "of live "
                "sources.")
        .choice(
            "waiting", &P::waiting, {{"adaptive", Waiting::Adaptive}, {"block", Waiting::Block}},
            "How threads wait for frames. block sleeps; adaptive sleeps until shortly before the next frame "
            "is due and then polls, which spares the time of waking up.")
        .number("deadline", &P::deadline_ms, 0, 1e7, Unit::Milliseconds,
                "A frame that has waited longer is dropped before it is processed, and a later result is "
                "counted as "
                "late; 0 is no deadline.")
        .number("device_timeout", &P::device_timeout_ms, 0, 1e7, Unit::Milliseconds,
                "contorno run gives up a device that is at work on one frame for so long; 0 waits for ever.")
        .number("sink_timeout", &P::sink_timeout_ms, 0, 1e7, Unit::Milliseconds,
                "A sink whose reader or encoder takes nothing for so long gets no more frames, and the run "
                "goes on with the "
                "others; 0 waits for ever.")
        .integer("threads", &P::threads, 0, kMostThreads, Unit::None,
                 "Threads of the CPU backend; 0 takes as many as the machine has, or one where one keeps up "
                 "with a recording.");
    ParamDeclaration declared = declare(std::move(list));
    ParamSpec& backend = declared.specs.front();  // has more words than can be listed
    backend.get = [](const void* p) -> ParamValue { return to_text(static_cast<const P*>(p)->backend); };
    backend.set = [](void* p, const ParamValue& word) {
      static_cast<P*>(p)->backend = request_of(std::get<std::string>(word));
    };
    return declared;
  }();
  return declaration;
}

const ParamDeclaration& sink_params() {
  static const ParamDeclaration declaration = [] {
    using P = SinkSettings;
    ParamList<P> list;
    list.choice("on_full", &P::on_full,
                {{"wait", OnFull::Wait}, {"drop_oldest", OnFull::DropOldest}, {"drop", OnFull::DropOldest}},
                "What happens to a frame when the sink is behind; wait loses none and in the end holds the "
                "pipeline up, drop_oldest leaves out the oldest frame that waits for this sink.");
    return declare(std::move(list));
  }();
  return declaration;
}

namespace {
template <class Type>
const Type* find_by_name(const std::vector<const Type*>& types, std::string_view name) {
  const auto it =
      std::find_if(types.begin(), types.end(), [&](const Type* type) { return type->name == name; });
  return it == types.end() ? nullptr : *it;
}
}  // namespace

const StageType& stage_called(const std::vector<const StageType*>& types, std::string_view kind,
                              std::string_view name) {
  if (const StageType* type = find_by_name(types, name)) return *type;
  for (const StageType* type : types)
    for (const PartSpec& part : type->parts)
      if (part.name == name)
        throw Error(ExitCode::Usage, fmt::format("'{}' is a part of the {} '{}': use that, or write both in "
                                                 "a graph",
                                                 name, kind, type->name));
  std::vector<std::string> names;
  for (const StageType* type : types) names.push_back(type->name);
  const std::string near = nearest(name, names);
  throw Error(ExitCode::Usage, fmt::format("there is no {0} '{1}'{2}; the {0}s are {3}", kind, name,
                                           near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near),
                                           fmt::join(names, ", ")));
}

const StageType* Catalog::stage(std::string_view name) const {
  return find_by_name(stages, name);
}
const SourceType* Catalog::source(std::string_view name) const {
  return find_by_name(sources, name);
}
const SinkType* Catalog::sink(std::string_view name) const {
  return find_by_name(sinks, name);
}

std::vector<std::string> part_names(const GraphSpec& graph) {
  std::vector<std::string> names;
  for (const NodeSpec& node : graph.nodes) {
    if (node.type == nullptr || node.type->parts.empty()) {
      names.push_back(node.step.name.empty() ? node.name : node.step.name);
      continue;
    }
    for (std::size_t part = 0; part < node.type->parts.size(); ++part) {
      const bool named = !node.part_names.empty() &&
                         std::find(names.begin(), names.end(), node.part_names[part]) == names.end();
      names.push_back(named ? node.part_names[part]
                            : fmt::format("{}.{}", node.name, node.type->parts[part].name));
    }
  }
  return names;
}

const ParamSpec* list_of_steps(const StageType& type) {
  for (const ParamSpec& spec : type.params.specs)
    if (spec.kind == ParamKind::Steps) return &spec;
  return nullptr;
}

bool runs_on(const StageType& type, Backend backend) {
  if (const ParamSpec* list = list_of_steps(type)) {
    const StepTypes& types = list->step_types();
    return std::all_of(types.begin(), types.end(),
                       [&](const StageType* one) { return runs_on(*one, backend); });
  }
  return static_cast<bool>(backend == Backend::Cuda ? type.make_cuda : type.make_cpu);
}

Origin counted_contours(const GraphSpec& graph) {
  Origin last;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node)
    for (std::size_t port = 0; port < graph.nodes[node].type->outputs.size(); ++port)
      if (graph.nodes[node].type->outputs[port].type == PortType::Contours)
        last = {static_cast<int>(node), static_cast<int>(port)};
  return last;
}

std::string why_not_on(Backend backend, const StageType& type, const ParamSet& params) {
  const bool on_cuda = backend == Backend::Cuda;
  if (!(on_cuda ? type.make_cuda : type.make_cpu))
    return fmt::format("the stage '{}' has no {} implementation", type.name, on_cuda ? "CUDA" : "CPU");
  for (const OnlyOnCpu& one : type.only_on_cpu)
    if (on_cuda && params.get(one.param) == ParamValue(one.word))
      return fmt::format("the stage '{}' has no CUDA implementation of {}: {}; take {}, or backend: cpu",
                         type.name, one.param, one.word, one.instead);
  return {};
}

std::string why_not_on_device(const GraphSpec& graph) {
  const std::vector<bool> on_host = host_nodes(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const StageType& type = *graph.nodes[i].type;
    std::string why = why_not_on(on_host[i] ? Backend::Cpu : Backend::Cuda, type, graph.nodes[i].params);
    const std::string& where = graph.nodes[i].where;
    if (!why.empty()) return where.empty() ? why : fmt::format("{} ({})", why, where);
    // Only images are uploaded.
    for (const PortSpec& port : type.outputs)
      if (on_host[i] && port.type != PortType::Image)
        return fmt::format("the stage '{}' makes contours for a stage that runs on the host", type.name);
  }
  if (!graph.nodes.empty() && std::ranges::all_of(on_host, std::identity()))
    return "all stages of the graph run on the host";
  return {};
}

std::vector<bool> host_nodes(const GraphSpec& graph) {
  std::vector<bool> on_host(graph.nodes.size());
  for (std::size_t node = graph.nodes.size(); node-- > 0;) {  // readers come behind what they read
    if (graph.nodes[node].type->on_host) on_host[node] = true;
    if (!on_host[node]) continue;
    for (const Origin& origin : graph.nodes[node].inputs)
      if (origin.node != Origin::kSource) on_host[static_cast<std::size_t>(origin.node)] = true;
  }
  return on_host;
}

std::unique_ptr<Stage> make_stage(const StageType& type, Backend backend, const ParamSet& params) {
  if (const std::string why = why_not_on(backend, type, params); !why.empty())
    throw Error(ExitCode::BadConfig, why);
  return (backend == Backend::Cuda ? type.make_cuda : type.make_cpu)(params);
}

GraphSpec graph_of(const StageType& type, const ParamSet& params) {
  GraphSpec graph;
  const auto add = [&](const std::string& name, const StageType& one, const ParamSet& given) {
    NodeSpec node{.name = name, .type = &one, .params = given, .inputs = {}, .where = {}};
    for (std::size_t port = 0; port < one.inputs.size(); ++port)
      node.inputs.push_back({Origin::kSource, static_cast<int>(port)});
    if (!graph.nodes.empty()) node.inputs[0] = {static_cast<int>(graph.nodes.size()) - 1, 0};
    graph.nodes.push_back(std::move(node));
  };
  const ParamSpec* const list = list_of_steps(type);
  if (list == nullptr) {
    add(type.name, type, params);
    return graph;
  }
  const auto steps = std::get<SharedSteps>(params.get(list->name));
  if (steps == nullptr || steps->empty())
    throw Error(ExitCode::BadOption, fmt::format("{}: {} is missing", type.name, list->name));
  for (std::size_t i = 0; i < steps->size(); ++i) {
    const StepSpec& step = (*steps)[i];
    if (step.type->inputs.size() != type.inputs.size())
      throw Error(ExitCode::BadOption,
                  fmt::format("{}: {}[{}] is {}, which takes {} too; use it in a graph, or alone", type.name,
                              list->name, i, step.type->name, step.type->inputs.back().name));
    add(fmt::format("{}[{}]", list->name, i), *step.type, step.params);
  }
  return graph;
}

namespace {

/// The number of the device that is wanted, of those that there are.
int device_of(const BackendRequest& wanted, const std::vector<DeviceInfo>& devices) {
  if (wanted.device == BackendRequest::kAll) return roomiest_device(devices);
  if (wanted.device == BackendRequest::kUnnamed) return devices.front().index;
  std::vector<std::string> names;
  for (const DeviceInfo& one : devices) {
    if (one.index == wanted.device) return wanted.device;
    names.push_back(fmt::format("{}{}", kOnDevice, one.index));
  }
  throw Error(
      ExitCode::Unavailable,
      fmt::format("backend {} was asked for, but this machine has {} CUDA device{}: {}", to_text(wanted),
                  names.size(), names.size() == 1 ? "" : "s", fmt::join(names, ", ")));
}

}  // namespace

BackendChoice choose_backend(const BackendRequest& wanted, const GraphSpec& graph) {
  if (wanted.backend == Backend::Cpu) return {Backend::Cpu, ""};
  const DeviceReport& report = device_report();
  std::string reason = report.reason;
  if (report.available) {
    reason = why_not_on_device(graph);
    if (reason.empty()) return {Backend::Cuda, "", device_of(wanted, report.devices)};
  }
  if (wanted.backend == Backend::Auto) return {Backend::Cpu, reason};
  throw Error(report.available ? ExitCode::BadConfig : ExitCode::Unavailable,
              fmt::format("backend {} was asked for, but {}{}", to_text(wanted), reason,
                          report.fix.empty() ? "" : "; " + report.fix));
}

}  // namespace contorno
