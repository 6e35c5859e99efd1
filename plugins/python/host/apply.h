// Applies an image stage on the CPU to arrays of the host, which are read where they lie; results are new
// arrays. Functions are called with the GIL held.
#pragma once

#include <string>

#include "pipeline/graph/stage.h"
#include "plugins/python/host/host_image.h"

namespace contorno::python {

/// What messages call image number `port` of a stage.
std::string port_name(const StageType& type, std::size_t port);
/// Throws TypeError: the array `name` has samples of a type that no stage takes.
[[noreturn]] void refuse_samples(const std::string& name);

/// One array for each output; for an output that holds mipmap levels, a list of an array each. `threads` as
/// in threads_for. Throws what DirectStage throws.
py::list apply_on_host(const StageType& type, const ParamSet& set, const py::list& images, Layout layout,
                       py::handle threads);

}  // namespace contorno::python
