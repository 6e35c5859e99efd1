// Counts every operator new of the program, of all libraries and threads, so that a measurement can say
// whether frames do without.
#pragma once

#include <cstdint>

namespace contorno {

/// Since the first call. 0 in builds with a sanitizer, which brings operators of its own.
std::uint64_t allocations_so_far();
/// Whether this build counts them.
bool counts_allocations();

}  // namespace contorno
