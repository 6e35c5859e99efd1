// contorno._pipeline: graphs from YAML for contorno.Pipeline. A module of its own, so that find_contours
// needs neither YAML nor GStreamer.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <cstdio>

#include "config/load.h"
#include "cuda/device.h"
#include "pipeline/run/push_source.h"
#include "pipeline/shared/printable.h"
#include "plugins/catalog.h"
#include "plugins/extension.h"
#include "plugins/python/host/host_image.h"
#include "plugins/python/pipeline/pipeline_run.h"
#include "plugins/python/shared/process.h"

namespace contorno::python {
namespace {

template <class T>
py::array array_over(const Buffer<T>& buffer, std::vector<py::ssize_t> shape, const py::dtype& type,
                     const py::object& owner) {
  std::vector<py::ssize_t> strides(shape.size());
  py::ssize_t step = type.itemsize();
  for (std::size_t axis = shape.size(); axis-- > 0; step *= shape[axis]) strides[axis] = step;
  return {type, std::move(shape), std::move(strides), buffer.data(), owner};
}

py::object image_array(const std::optional<OwnedImage>& image, const py::object& owner) {
  if (!image) return py::none();
  std::vector<py::ssize_t> shape{image->format.height, image->format.width};
  if (image->format.channels != 1) shape.push_back(image->format.channels);
  return array_over(image->samples, std::move(shape), dtype_of(image->format.type), owner);
}

/// number, name, pts, error, frame, overlay, placement, points, offsets, closed, class_ids, attributes,
/// milliseconds
py::tuple result_tuple(FrameResult result) {
  auto* kept = new FrameResult(std::move(result));
  const py::capsule owner(kept, [](void* one) { delete static_cast<FrameResult*>(one); });
  const auto count = static_cast<py::ssize_t>(kept->closed.size());
  py::dict milliseconds;
  for (const auto& [name, value] : kept->milliseconds) milliseconds[py::str(name)] = value;
  py::dict attributes;
  for (const auto& [name, column] : kept->attributes)
    attributes[py::str(std::string(name))] = array_over(column, {count}, py::dtype("f8"), owner);
  const Placement& place = kept->placement;
  // A frame without contours in its graph has no offsets either.
  const bool found = kept->offsets.size() > 0;
  return py::make_tuple(
      kept->info.number, kept->info.name, kept->info.pts_ns, masked(kept->error),
      image_array(kept->frame, owner), image_array(kept->overlay, owner),
      py::make_tuple(place.scale_x, place.scale_y, place.offset_x, place.offset_y),
      array_over(kept->points, {static_cast<py::ssize_t>(kept->points.size()), 2}, py::dtype("f4"), owner),
      found ? py::object(array_over(kept->offsets, {count + 1}, py::dtype("i8"), owner)) : py::none(),
      array_over(kept->closed, {count}, py::dtype("?"), owner),
      array_over(kept->class_ids, {count}, py::dtype("i4"), owner), attributes, milliseconds);
}

py::dict latency_dict(const Histogram& histogram) {
  py::dict of;
  of["count"] = histogram.count();
  if (histogram.count() == 0) return of;
  of["min"] = histogram.min_us() * 1e-3;
  of["p50"] = histogram.percentile_us(0.5) * 1e-3;
  of["p99"] = histogram.percentile_us(0.99) * 1e-3;
  of["max"] = histogram.max_us() * 1e-3;
  return of;
}

py::list totals_list(const std::vector<ClassTotals>& totals) {
  const auto or_none = [](const std::optional<double>& value) {
    return value ? py::object(py::float_(*value)) : py::object(py::none());
  };
  py::list list;
  for (const ClassTotals& of : totals) {
    py::dict one;
    one["class"] = of.name;
    one["contours"] = of.contours;
    one["area"] = of.area;
    one["perimeter"] = of.perimeter;
    one["share"] = or_none(of.share);
    one["mean"] = or_none(of.mean);
    list.append(one);
  }
  return list;
}

py::list objects_list(const std::vector<ObjectTotals>& totals) {
  py::list list;
  for (const ObjectTotals& of : totals) {
    py::dict one;
    one["stage"] = of.stage;
    one["object"] = of.name;
    one["objects"] = of.objects;
    one["never_whole"] = of.never_whole;
    one["views_left_out"] = of.views_left_out;
    one["threshold"] = of.threshold;
    py::list over;
    for (const ObjectTotals::Over& defect : of.over) {
      py::dict part;
      part["class"] = defect.name;
      part["objects"] = defect.objects;
      over.append(part);
    }
    one["over"] = over;
    list.append(one);
  }
  return list;
}

py::dict report_dict(const RunReport& report) {
  py::dict dict, frames, latency, parts, sink_latency;
  frames["in"] = report.frames.offered;
  frames["out"] = report.frames.delivered;
  frames["failed"] = report.frames.failed;
  frames["dropped"] = report.frames.dropped();
  frames["regrown"] = report.frames.regrown;
  dict["backend"] = std::string(name_of(report.backend));
  dict["source"] = masked(report.source);
  dict["frames"] = frames;
  dict["wall_seconds"] = report.wall_seconds;
  dict["frames_per_second"] = report.rate();
  latency["end_to_end"] = latency_dict(report.end_to_end);
  for (const Timing& part : report.parts) parts[py::str(part.name)] = latency_dict(part.histogram);
  latency["parts"] = parts;
  for (const SinkOutcome& sink : report.sinks) {
    py::dict one;
    one["queued"] = latency_dict(sink.queued);
    one["writing"] = latency_dict(sink.writing);
    one["end_to_end"] = latency_dict(sink.end_to_end);
    sink_latency[py::str(sink.name)] = one;
  }
  latency["sinks"] = sink_latency;
  dict["latency_ms"] = latency;
  py::list faults;
  for (const SourceFault& fault : report.source_faults) {
    py::dict one;
    one["missing"] = fault.missing < 0 ? py::object(py::none()) : py::object(py::int_(fault.missing));
    one["reason"] = fault.sentence;
    faults.append(one);
  }
  dict["source_faults"] = faults;
  dict["source_reconnections"] = report.source_reconnections;
  dict["objects"] = objects_list(report.objects);
  py::list sinks;
  for (const SinkOutcome& sink : report.sinks) {
    if (sink.summary.empty() && sink.error.empty()) continue;
    py::dict one;
    one["name"] = sink.name;
    one["made"] = masked(sink.summary);
    one["error"] = masked(sink.error);
    one["written"] = sink.written;
    one["dropped"] = sink.dropped;
    one["missed"] = sink.missed;
    if (!sink.totals.empty()) one["totals"] = totals_list(sink.totals);
    sinks.append(one);
  }
  dict["sinks"] = sinks;
  return dict;
}

py::list classes_of(const GraphSpec& graph) {
  py::list classes;
  for (const ClassSpec& one : graph.classes) {
    const Colour& colour = one.colour;
    classes.append(py::make_tuple(
        one.name, one.level, py::make_tuple(colour.red, colour.green, colour.blue, colour.alpha), one.hidden,
        py::cast(std::vector<double>(one.iso_levels().begin(), one.iso_levels().end()))));
  }
  return classes;
}

/// A frame, its maps, or both; `on_device` in place of maps: what maps_in_place (device/on_device.h) has made
/// of them, which the caller keeps.
struct Given {
  py::handle frame, maps, on_device;
  bool planar;
};

/// A PipelineRun behind Python's rules: without the GIL while it waits, not in a forked process.
class Run {
 public:
  Run(const GraphSpec& graph, const RunSettings& settings) {
    begin();
    {
      const py::gil_scoped_release released;
      run_ = std::make_unique<PipelineRun>(graph, settings);
    }
    warn_of_notice();
  }

  Run(const GraphSpec& graph, RunSettings settings, const Given& given) {
    begin();
    Pushed pushed(given);
    settings.lookahead = 0;
    settings.maps_on_device = pushed.maps_place.on_device;
    auto source = std::make_unique<PushSource>(pushed_format(pushed.frame_view, pushed.maps_view),
                                               settings.maps_on_device);
    source_ = source.get();
    {
      const py::gil_scoped_release released;
      run_ = std::make_unique<PipelineRun>(graph, settings, std::move(source));
    }
    warn_of_notice();
  }

  ~Run() {
    // The threads that would have to end exist only in the process that started them.
    if (is_forked() && !forked_) {
      static_cast<void>(run_.release());
      return;
    }
    try {
      const py::gil_scoped_release released;
      run_.reset();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "contorno: ending a pipeline: %s\n", printable_sentence(error.what()).c_str());
    }
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void push(const Given& given) {
    check_process();
    Pushed pushed(given);
    source_->offer(pushed.frame_view, pushed.maps_view, pushed.maps_place);
    for (;;) {
      PushSource::Answer answer{};
      {
        const py::gil_scoped_release released;
        answer = source_->wait(50);
      }
      if (answer == PushSource::Answer::Taken) return;
      if (answer == PushSource::Answer::Ended) raise_end();
      if (PyErr_CheckSignals() != 0) {
        const py::error_already_set interrupted;
        {
          const py::gil_scoped_release released;
          source_->withdraw();
        }
        throw interrupted;
      }
    }
  }

  /// None at the end.
  py::object take() {
    check_process();
    for (;;) {
      FrameResult result;
      PipelineRun::Taken taken{};
      {
        const py::gil_scoped_release released;
        taken = run_->take(result, 50);
      }
      if (taken == PipelineRun::Taken::Result) return result_tuple(std::move(result));
      if (taken == PipelineRun::Taken::End) return py::none();
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
  }

  void finish() {
    check_process();
    const py::gil_scoped_release released;
    if (source_ != nullptr) source_->finish();
  }

  void stop() {
    check_process();
    const py::gil_scoped_release released;
    run_->stop();
  }

  std::vector<std::string> take_objects() {
    check_process();
    return run_->take_objects();
  }

  py::dict report() const { return report_dict(run_->report()); }
  std::int64_t frame_count() const { return run_->format().frame_count; }
  /// Those of the maps, where the graph leaves it to them which there are.
  py::list classes() const { return classes_of(run_->graph()); }

 private:
  void warn_of_notice() const {
    if (!run_->notice().empty() && PyErr_WarnEx(PyExc_UserWarning, run_->notice().c_str(), 1) != 0)
      throw py::error_already_set();
  }
  struct Pushed {
    explicit Pushed(const Given& given) {
      if (given.frame.is_none() && given.maps.is_none() && given.on_device.is_none())
        throw py::type_error("push takes a frame, maps, or both");
      if (!given.frame.is_none()) {
        frame_view = image_of(frame_array.emplace(given.frame, "frame"), "frame", Layout::Interleaved);
        if (frame_view.format.type != ElementType::U8) throw py::type_error("frame must be of uint8");
      }
      if (!given.on_device.is_none())
        take_device_maps(py::reinterpret_borrow<py::tuple>(given.on_device));
      else if (!given.maps.is_none())
        maps_view = image_of(maps_array.emplace(given.maps, "maps"), "maps",
                             given.planar ? Layout::Planar : Layout::Interleaved);
    }
    void take_device_maps(const py::tuple& maps) {
      const auto pointer = [&](int place) {
        return reinterpret_cast<void*>(maps[place].cast<std::uintptr_t>());
      };
      maps_view = {.data = pointer(0),
                   .format = {.width = maps[1].cast<int>(),
                              .height = maps[2].cast<int>(),
                              .channels = maps[3].cast<int>(),
                              .type = static_cast<ElementType>(maps[4].cast<int>()),
                              .layout = maps[5].cast<bool>() ? Layout::Planar : Layout::Interleaved},
                   .row_pitch = maps[6].cast<std::ptrdiff_t>(),
                   .plane_pitch = maps[7].cast<std::ptrdiff_t>()};
      maps_place = {.on_device = true, .stream = pointer(8)};
    }
    std::optional<HostArray> frame_array, maps_array;
    ImageView frame_view, maps_view;
    MapsPlace maps_place;
  };

  void begin() {
    begin_cuda();
    begin_threads();
    forked_ = is_forked();
    if (device_is_there()) cuda_began();
  }
  static bool device_is_there();
  void check_process() const {
    if (is_forked() != forked_)
      throw std::runtime_error(
          "this process was forked while the pipeline ran; its threads do not exist here. Make the pipeline "
          "in the "
          "new process, which must be started with multiprocessing.set_start_method('spawn')");
  }
  /// After a push that nobody took: what ended the run.
  [[noreturn]] void raise_end() {
    FrameResult result;
    while (run_->take(result, 1000) == PipelineRun::Taken::Result) {
    }
    throw Error(ExitCode::BadOption, "the pipeline has ended; frames cannot be pushed any more");
  }

  bool forked_ = false;
  PushSource* source_ = nullptr;
  std::unique_ptr<PipelineRun> run_;
};

bool Run::device_is_there() {
  const py::gil_scoped_release released;
  return device_report().available;
}

GraphSpec load(const std::string& text, const std::string& name, bool is_path,
               const std::vector<std::string>& overrides, const std::optional<std::string>& input,
               const std::string& backend, const std::vector<std::string>& extensions) {
  config::LoadOptions options{.overrides = overrides, .input = input};
  if (!backend.empty()) {
    ParamSet settings(pipeline_params());
    settings.set("backend", backend);
    options.backend = settings.as<PipelineSettings>().backend;
  }
  const py::gil_scoped_release released;
  const Catalog catalog = with_extensions(host_catalog(), extensions);
  return is_path ? config::load_graph(text, catalog, options)
                 : config::load_graph_text(text, name, catalog, options);
}

RunSettings settings_of(const std::string& output, std::uint64_t frames, bool images) {
  return {.output_root = output, .max_frames = frames, .images = images};
}

void bind(py::module_& module) {
  py::class_<GraphSpec>(module, "Graph")
      .def_property_readonly("classes", &classes_of)
      .def_property_readonly("source", [](const GraphSpec& graph) { return graph.source.type->name; })
      // Whether a run of it would be on CUDA; throws what such a run would.
      .def("runs_on_cuda",
           [](const GraphSpec& graph) {
             const py::gil_scoped_release released;
             return choose_backend(graph.settings.backend, graph).backend == Backend::Cuda;
           })
      .def_property_readonly("nodes", [](const GraphSpec& graph) {
        py::list names;
        for (const NodeSpec& node : graph.nodes) names.append(node.name);
        return names;
      });
  py::list settings;
  for (const ParamSpec& spec : pipeline_params().specs) settings.append(spec.name);
  module.attr("settings") = py::tuple(settings);
  py::dict types;
  const auto names = [](const auto& list) {
    py::list all;
    for (const auto* type : list) all.append(type->name);
    return all;
  };
  types["stages"] = names(host_catalog().stages);
  types["sources"] = names(host_catalog().sources);
  types["sinks"] = names(host_catalog().sinks);
  module.attr("types") = types;
  module.def("load", &load);
  py::class_<Run>(module, "Run")
      .def(py::init([](const GraphSpec& graph, const std::string& output, std::uint64_t frames, bool images) {
        return std::make_unique<Run>(graph, settings_of(output, frames, images));
      }))
      .def(py::init([](const GraphSpec& graph, const std::string& output, std::uint64_t frames, bool images,
                       py::handle frame, py::handle maps, py::handle on_device, bool planar) {
        return std::make_unique<Run>(graph, settings_of(output, frames, images),
                                     Given{frame, maps, on_device, planar});
      }))
      .def("push",
           [](Run& run, py::handle frame, py::handle maps, py::handle on_device, bool planar) {
             run.push({frame, maps, on_device, planar});
           })
      .def("take", &Run::take)
      .def("take_objects", &Run::take_objects)
      .def("finish", &Run::finish)
      .def("stop", &Run::stop)
      .def("report", &Run::report)
      .def_property_readonly("frame_count", &Run::frame_count)
      .def_property_readonly("classes", &Run::classes);
}

}  // namespace
}  // namespace contorno::python

PYBIND11_MODULE(_pipeline, module) {
  using namespace contorno::python;
  module.doc() = "Graphs for contorno.Pipeline.";
  register_errors();
  bind_process(module);
  bind(module);
}
