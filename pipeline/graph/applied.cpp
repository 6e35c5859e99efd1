#include "pipeline/graph/applied.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cuda/error.h"
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

}  // namespace

void check_takes_images(const StageType& type) {
  const auto other = std::find_if(type.inputs.begin(), type.inputs.end(),
                                  [](const PortSpec& port) { return port.type != PortType::Image; });
  if (other != type.inputs.end())
    throw Error(ExitCode::BadOption,
                fmt::format("the stage '{}' takes {}, and only stages that take images can be applied to a "
                            "file; use it in a graph",
                            type.name, name_of(other->type)));
  if (type.inputs.size() > AppliedStage::kMaxInputs)
    throw Error(ExitCode::BadOption,
                fmt::format("the stage '{}' takes {} images, at most {} can be given; use it in a graph",
                            type.name, type.inputs.size(), AppliedStage::kMaxInputs));
}

void check_input_count(const StageType& type, std::size_t count) {
  if (count != type.inputs.size())
    throw Error(ExitCode::BadOption, fmt::format("the stage '{}' takes {} images, {} were given", type.name,
                                                 type.inputs.size(), count));
}

AppliedStage::AppliedStage(const StageType& type, ParamSet params, Backend backend, int threads,
                           std::vector<ClassSpec> classes, const TextRasteriser* text)
    : type_(type), capacities_(std::make_unique<Capacities>(1)) {
  check_takes_images(type);
  graph_.classes = std::move(classes);
  NodeSpec node{.name = type.name, .type = &type, .params = std::move(params), .inputs = {}};
  // A planned graph knows two images from outside, the frame and the class maps: here, inputs 0 and 1.
  for (std::size_t port = 0; port < type.inputs.size(); ++port)
    node.inputs.push_back({Origin::kSource, static_cast<int>(port)});
  graph_.nodes.push_back(std::move(node));
  backend_ = choose_backend(backend, graph_);
  PlanEnvironment environment{.graph = &graph_,
                              .backend = backend_,
                              .probes = Probes::Off,
                              .threads = decided_threads(threads),
                              .text = text,
                              .capacities = capacities_.get(),
                              .exports = {}};
  for (std::size_t port = 0; port < type.outputs.size(); ++port)
    environment.exports.push_back({0, static_cast<int>(port)});
  planned_ = std::make_unique<PlannedGraph>(environment);
}

AppliedStage::~AppliedStage() = default;

void AppliedStage::plan(std::span<const ImageFormat> inputs) {
  check_input_count(type_, inputs.size());
  if (ready_ && std::equal(inputs.begin(), inputs.end(), formats_.begin(), formats_.end())) return;
  ready_ = false;
  StreamFormat stream;
  stream.description = "what was given";
  if (!inputs.empty()) stream.frame = inputs[0];
  if (inputs.size() > 1) stream.maps = inputs[1];
  planned_->plan(stream);
  formats_.assign(inputs.begin(), inputs.end());
  ready_ = true;
}

const ImageView& AppliedStage::input(std::size_t port) const {
  return port == 0 ? planned_->input().frame : planned_->input().maps;
}

void AppliedStage::run() {
  do {
    planned_->launch();
    planned_->wait();
  } while (planned_->overflowed());
}

const Value& AppliedStage::output(std::size_t port) const {
  return planned_->value({0, static_cast<int>(port)});
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
