// A stage on arrays of the host, which it reads where they lie; results are new arrays. With the GIL held.
#pragma once

#include <string>

#include "pipeline/graph/stage.h"
#include "plugins/python/host/host_image.h"

namespace contorno::python {

/// What messages call image number `port` of a stage.
std::string port_name(const StageType& type, std::size_t port);
/// For samples that were converted, because no stage takes their type. Throws TypeError.
[[noreturn]] void refuse_samples(const std::string& name);

/// Throws what DirectStage throws.
py::list apply_on_host(const StageType& type, const ParamSet& set, const py::list& images, Layout layout,
                       py::handle threads);

}  // namespace contorno::python
