// Mipmaps of arrays: the image as it was given, and its levels over one block of memory.
#include "stages/mipmap/chain.h"

#include "plugins/python/device/on_device.h"
#include "plugins/python/device/stages.h"
#include "plugins/python/functions/bindings.h"
#include "plugins/python/host/host_image.h"
#include "plugins/python/shared/arguments.h"
#include "plugins/python/shared/process.h"

namespace contorno::python {
namespace {

py::list make_mipmaps(py::handle object, const py::dict& options, bool planar, py::handle place,
                      py::handle threads, bool stay, py::handle stream) {
  ParamSet set(mipmap_stage().params);
  set_params(set, options);
  const Layout layout = planar ? Layout::Planar : Layout::Interleaved;
  if (backend_of(place) == Backend::Cuda) {
    threads_for(threads, 1);  // only to refuse what is no number of threads
    return mipmaps_on_device(object, set, layout, {stay, stream});
  }
  const py::object host = to_host(object, "image", stream);
  HostArray array(host, "image");
  const ImageView image = image_of(array, "image", layout);
  if (array.was_converted())
    throw py::type_error(
        "image has a dtype that mipmaps are not made of; convert it to uint8, uint16 or float32");
  const int count = threads_for(threads, static_cast<std::uint64_t>(array.elements()));
  auto kept = std::make_unique<Mipmaps>();
  {
    const py::gil_scoped_release released;
    const SignalWatch watch;
    *kept = mipmaps(image, set.as<MipmapParams>(), count);
  }
  const Mipmaps& made = *kept;
  const py::capsule owner(kept.release(), [](void* one) { delete static_cast<Mipmaps*>(one); });
  py::list levels;
  levels.append(host);
  for (std::size_t level = 1; level < made.levels.size(); ++level)
    levels.append(array_of(made.levels[level], array.dimensions(), owner));
  return levels;
}

}  // namespace

void bind_mipmap(py::module_& module) {
  module.def("mipmaps", &make_mipmaps);
}

}  // namespace contorno::python
