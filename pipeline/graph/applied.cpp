#include "pipeline/graph/applied.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "pipeline/graph/planned.h"
#include "pipeline/shared/threads.h"

namespace contorno {
namespace {

template <class T>
void copy_samples(const ImageView& from, const ImageView& to) {
  const ImageFormat& format = from.format;
  for (int y = 0; y < format.height; ++y)
    for (int c = 0; c < format.channels; ++c)
      for (int x = 0; x < format.width; ++x) {
        const T sample = from.format.layout == Layout::Planar ? from.row<const T>(y, c)[x]
                                                              : from.row<const T>(y)[x * format.channels + c];
        (to.format.layout == Layout::Planar ? to.row<T>(y, c)[x] : to.row<T>(y)[x * format.channels + c]) =
            sample;
      }
}

/// Refuses a stage that takes or makes (`verb`) something other than images.
void check_ports(const StageType& type, const std::vector<PortSpec>& ports, std::string_view verb) {
  for (const PortSpec& port : ports)
    if (port.type != PortType::Image)
      throw Error(ExitCode::BadOption, fmt::format("the stage '{}' {} {}, allowed images; use it in a graph",
                                                   type.name, verb, name_of(port.type)));
}

}  // namespace

bool is_on_contours(const StageType& type) {
  const auto is = [](PortType wanted) {
    return [wanted](const PortSpec& port) { return port.type == wanted; };
  };
  const auto& in = type.inputs;
  return !in.empty() && is(PortType::Contours)(in[0]) &&
         std::all_of(in.begin() + 1, in.end(), is(PortType::Image)) && type.outputs.size() == 1 &&
         is(PortType::Contours)(type.outputs[0]);
}

void check_makes_images(const StageType& type) {
  check_ports(type, type.outputs, "makes");
}

void check_on_images(const StageType& type) {
  check_ports(type, type.inputs, "takes");
  check_makes_images(type);
}

void check_input_count(const StageType& type, std::size_t count) {
  if (count != type.inputs.size())
    throw Error(ExitCode::BadOption, fmt::format("the stage '{}' takes {} inputs, {} were given", type.name,
                                                 type.inputs.size(), count));
}

AppliedStage::AppliedStage(const StageType& type, ParamSet params, Backend backend, int threads,
                           std::vector<ClassSpec> classes, const TextRasteriser* text)
    : type_(type), graph_(graph_of(type, params)) {
  graph_.classes = std::move(classes);
  capacities_ = std::make_unique<Capacities>(graph_.nodes.size());
  backend_ = choose_backend(backend, graph_).backend;
  PlanEnvironment environment{.graph = &graph_,
                              .backend = backend_,
                              .probe_every = kNoFrame,
                              .threads = decided_threads(threads),
                              .text = text,
                              .capacities = capacities_.get(),
                              .exports = {}};
  for (std::size_t port = 0; port < type.outputs.size(); ++port)
    environment.exports.push_back(output_origin(port));
  planned_ = std::make_unique<PlannedGraph>(environment);
}

AppliedStage::~AppliedStage() = default;

void AppliedStage::plan(std::span<const Format> inputs) {
  check_input_count(type_, inputs.size());
  if (ready_ && std::equal(inputs.begin(), inputs.end(), formats_.begin(), formats_.end())) return;
  ready_ = false;
  formats_.assign(inputs.begin(), inputs.end());
  planned_->plan({formats_, "what was given"});
  ready_ = true;
}

const Value& AppliedStage::input(std::size_t port) const {
  return planned_->source_value(port);
}

void AppliedStage::set_frame(std::uint64_t number) {
  planned_->input().info.number = number;
}

void AppliedStage::run() try {
  do {
    planned_->launch();
    planned_->wait();
  } while (planned_->overflowed());
} catch (const Error& error) {
  if (error.code() == ExitCode::OutOfMemory) ready_ = false;
  throw;
}

const Value& AppliedStage::output(std::size_t port) const {
  return planned_->value(output_origin(port));
}

Origin AppliedStage::output_origin(std::size_t port) const {
  return {static_cast<int>(graph_.nodes.size()) - 1, static_cast<int>(port)};
}

void copy_image(const ImageView& from, const ImageView& to) {
  if (from.format.layout == to.format.layout) {
    const std::size_t bytes = from.format.row_bytes();
    for (int plane = 0; plane < from.format.planes(); ++plane)
      for (int y = 0; y < from.format.height; ++y)
        std::memcpy(to.row<std::byte>(y, plane), from.row<const std::byte>(y, plane), bytes);
    return;
  }
  const std::size_t size = element_size(from.format.type);
  if (size == 1) copy_samples<std::uint8_t>(from, to);
  if (size == 2) copy_samples<std::uint16_t>(from, to);
  if (size == 4) copy_samples<std::uint32_t>(from, to);
  if (size == 8) copy_samples<std::uint64_t>(from, to);
}

}  // namespace contorno
