// Morphology on arrays in place, for structuring elements that are arrays as well.
#include "stages/morphology/stage.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <optional>

#include "plugins/python/device/stages.h"
#include "plugins/python/host/host_image.h"
#include "plugins/python/shared/bindings.h"
#include "plugins/python/shared/process.h"
#include "stages/morphology/params.h"

namespace contorno::python {
namespace {

/// A mask and heights from arrays of the same shape, or a shape's own.
StructuringElement element_from(py::handle mask_object, py::handle heights_object, py::handle anchor,
                                const char* name) {
  const auto array = [](py::handle object, const std::string& what) {
    auto values = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(object);
    if (!values) throw py::error_already_set();
    if (values.ndim() != 2)
      throw py::value_error(fmt::format("{} has {} dimensions, wanted 2", what, values.ndim()));
    return values;
  };
  const auto values = array(mask_object, name);
  if (values.shape(0) > StructuringElement::kMaxSide || values.shape(1) > StructuringElement::kMaxSide)
    throw py::value_error(fmt::format("{} has {} rows and {} columns, allowed 1 to {} each", name,
                                      values.shape(0), values.shape(1), StructuringElement::kMaxSide));
  Mask mask{.width = static_cast<int>(values.shape(1)), .height = static_cast<int>(values.shape(0))};
  for (py::ssize_t i = 0; i < values.size(); ++i) mask.values.push_back(values.data()[i] != 0 ? 1 : 0);
  StructuringElement element = StructuringElement::from_mask(mask);
  if (!heights_object.is_none()) {
    const auto heights = array(heights_object, "heights");
    if (heights.shape(0) != values.shape(0) || heights.shape(1) != values.shape(1))
      throw py::value_error("heights must have the shape of the element");
    element = element.with_heights({heights.data(), static_cast<std::size_t>(heights.size())});
  }
  if (anchor.is_none()) return element;
  const auto at = anchor.cast<std::pair<int, int>>();
  return element.with_anchor(at.first, at.second);
}

/// The parameters of a stage's declaration that are options here.
template <class P>
P params_of(const ParamDeclaration& declaration, const py::dict& given) {
  ParamSet set(declaration);
  set_params(set, given);
  return set.as<P>();
}

/// One image in, one like it out, in place, without the GIL.
template <class F>
py::array transformed(py::handle object, bool planar, py::handle threads, py::handle stream, const F& work) {
  const py::object host = host_image(object, "image", stream);
  HostArray array(host, "image");
  const ImageView in = image_of(array, "image", planar ? Layout::Planar : Layout::Interleaved);
  if (array.was_converted())
    throw py::type_error(
        "image has a dtype that morphology does not take; convert it to uint8, uint16 or float32");
  NewImage out = new_image(in.format, array.dimensions());
  const MorphologyExecution execution{.threads =
                                          threads_for(threads, static_cast<std::uint64_t>(array.elements()))};
  {
    const py::gil_scoped_release released;
    const SignalWatch watch;
    work(in, out.view, execution);
  }
  return std::move(out.array);
}

py::array morphology(py::handle image, py::handle element, py::handle heights, py::handle anchor,
                     const py::dict& options, bool planar, py::handle threads, py::handle stream) {
  static const ParamDeclaration declaration = morphology_params();
  const auto params = params_of<MorphologyParams>(declaration, options);
  const StructuringElement shape = element_from(element, heights, anchor, "element");
  return transformed(image, planar, threads, stream,
                     [&](const ImageView& in, const ImageView& out, const MorphologyExecution& execution) {
                       apply_morphology(params.operation, in, shape, out, options_of(params), execution);
                     });
}

py::array hit_or_miss(py::handle image, py::handle hit, py::handle miss, py::handle anchor,
                      const py::dict& options, bool planar, py::handle threads, py::handle stream) {
  static const ParamDeclaration declaration = hit_or_miss_params();
  const auto params = params_of<HitOrMissParams>(declaration, options);
  const StructuringElement inside = element_from(hit, py::none(), anchor, "hit");
  const StructuringElement outside = element_from(miss, py::none(), anchor, "miss");
  return transformed(image, planar, threads, stream,
                     [&](const ImageView& in, const ImageView& out, const MorphologyExecution& execution) {
                       apply_hit_or_miss(in, inside, outside, out, options_of(params), execution);
                     });
}

py::array reconstruct(py::handle marker_object, py::handle mask_object, const py::dict& options, bool planar,
                      py::handle threads, py::handle stream) {
  static const ParamDeclaration declaration = reconstruction_params();
  const auto params = params_of<ReconstructionParams>(declaration, options);
  const Layout layout = planar ? Layout::Planar : Layout::Interleaved;
  const py::object host = host_image(mask_object, "mask", stream);
  HostArray mask_array(host, "mask");
  const ImageView mask = image_of(mask_array, "mask", layout);
  return transformed(
      marker_object, planar, threads, stream,
      [&](const ImageView& marker, const ImageView& out, const MorphologyExecution& execution) {
        if (!(marker.format == mask.format))
          throw Error(ExitCode::BadData, fmt::format("the marker is {}, the mask {}; they must be the same",
                                                     describe(marker.format), describe(mask.format)));
        apply_reconstruction(params.method, marker, mask, out, options_of(params), execution);
      });
}

/// A shape as an array of bool.
py::array_t<bool> element(const std::string& shape, const std::vector<double>& size, double angle) {
  static const ParamDeclaration declaration = morphology_params();
  ParamSet set(declaration);
  if (shape == "file") throw py::value_error("shape is 'file'; read the file and pass its array as element");
  set.set("element", shape);
  set.set("size", size);
  set.set("angle", angle);
  const StructuringElement made = element_of(set.as<MorphologyParams>());
  py::array_t<bool> mask({made.height(), made.width()});
  auto at = mask.mutable_unchecked<2>();
  for (int y = 0; y < made.height(); ++y)
    for (int x = 0; x < made.width(); ++x) at(y, x) = made.member(x, y);
  return mask;
}

}  // namespace

void bind_morphology(py::module_& module) {
  module.def("morphology", &morphology);
  module.def("hit_or_miss", &hit_or_miss);
  module.def("reconstruct", &reconstruct);
  module.def("element", &element);
}

}  // namespace contorno::python
