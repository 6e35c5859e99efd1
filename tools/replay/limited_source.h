// A source that ends when it has delivered a given time.
#pragma once

#include <cstdint>
#include <memory>

#include "pipeline/graph/source.h"

namespace contorno {

/// Delivers what `source` delivers, to the last frame that is less than `duration_ns` later than the first
/// one.
std::unique_ptr<Source> make_limited(std::unique_ptr<Source> source, std::int64_t duration_ns);

}  // namespace contorno
