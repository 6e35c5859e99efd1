// Whether the structure of a container is whole from its beginning to its end. A demuxer that finds a damaged
// place goes on behind it, and what it left out is never heard of. Stateless; from any thread. Reads
// Matroska's headers and all of Ogg, so it is asked once, at the end of a file.
#pragma once

#include <string>

#include "plugins/container_facts.h"

namespace contorno {

/// What is wrong with the regular file at `path`, as "its structure is broken at byte 1234"; empty when
/// nothing is, or when `kind` has nothing to tell it by. Never throws for damaged content.
std::string container_damage(const std::string& path, ContainerKind kind);

}  // namespace contorno
