#include "plugins/python/host/apply.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "pipeline/graph/direct.h"
#include "pipeline/value/levels.h"
#include "plugins/python/shared/arguments.h"
#include "plugins/python/shared/idle.h"
#include "plugins/python/shared/process.h"

namespace contorno::python {
namespace {

/// Samples that a stage without inputs is taken to make, for the number of threads.
constexpr std::uint64_t kSamplesOfNone = 1 << 20;

/// The images of one call.
struct HostImages {
  std::deque<HostArray> arrays;
  std::vector<Value> views;
  std::vector<Format> formats;
  int channels = 0;  // of the first
  std::uint64_t samples = 0;

  HostImages(const py::list& objects, const StageType& type, Layout layout) {
    for (std::size_t port = 0; port < objects.size(); ++port) {
      const std::string name = port_name(type, port);
      HostArray& array = arrays.emplace_back(objects[port], name);
      const ImageView view = image_of(array, name, layout);
      if (array.was_converted()) refuse_samples(name);
      if (port == 0) channels = view.format.channels;
      views.emplace_back(view);
      formats.emplace_back(view.format);
      samples = std::max(samples, static_cast<std::uint64_t>(array.elements()));
    }
    if (arrays.empty()) samples = kSamplesOfNone;
  }
  int dimensions() const { return arrays.empty() ? 3 : arrays.front().dimensions(); }
};

/// The array, or copies of the levels that it holds.
py::object result_of(NewImage&& image, int dimensions) {
  if (!holds_levels(image.view.format)) return std::move(image.array);
  py::list levels;
  for (const LevelBox& box : level_boxes(image.view.format.atlas))
    levels.append(array_of(level_view(image.view, box), dimensions, py::object()));
  return levels;
}

}  // namespace

std::string port_name(const StageType& type, std::size_t port) {
  return port < type.inputs.size() ? type.inputs[port].name : "image";
}

void refuse_samples(const std::string& name) {
  throw py::type_error(
      fmt::format("{} has a dtype that no stage takes; convert it to uint8, uint16 or float32", name));
}

py::list apply_on_host(const StageType& type, const ParamSet& set, const py::list& images, Layout layout,
                       py::handle threads) {
  const HostImages given(images, type, layout);
  const int count = threads_for(threads, given.samples);
  const std::string key = fmt::format("{}\n{}", key_of(type, set), count);
  std::unique_ptr<DirectStage> stage = Idle<DirectStage>::instance().take(key);
  {
    const py::gil_scoped_release released;
    const SignalWatch watch;
    if (!stage) stage = std::make_unique<DirectStage>(type, set, Backend::Cpu, count);
    stage->plan(given.formats, nullptr);
  }
  std::vector<NewImage> made;
  std::vector<Value> views;
  for (const Format& output : stage->outputs()) {
    const auto& format = std::get<ImageFormat>(output);
    made.push_back(new_image(format, dimensions_of(format, given.dimensions(), given.channels)));
    views.emplace_back(made.back().view);
  }
  {
    const py::gil_scoped_release released;
    const SignalWatch watch;
    stage->enqueue(given.views, views, nullptr);
  }
  Idle<DirectStage>::instance().give(key, std::move(stage));
  py::list outputs;
  for (NewImage& image : made) outputs.append(result_of(std::move(image), given.dimensions()));
  return outputs;
}

}  // namespace contorno::python
