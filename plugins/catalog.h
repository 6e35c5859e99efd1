// What a graph can be made of: every stage, source and sink of this build, and what was left out of it. One
// list for the program, for Python and for every other host.
#pragma once

#include "pipeline/graph/graph.h"

namespace contorno {

const Catalog& full_catalog();
/// full_catalog() and the source `push`, for hosts that push frames themselves.
const Catalog& host_catalog();

}  // namespace contorno
