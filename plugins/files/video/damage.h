// Damage in the structure of a container file. A demuxer that meets a damaged place goes on behind it and
// does not report what it skipped; this finds such places. It walks every header of a Matroska or AVI file
// and checks the sum of every page of an Ogg file, so it is called once, when a stream has ended. Stateless,
// for any thread.
#pragma once

#include <string>

#include "plugins/files/video/facts.h"

namespace contorno {

/// What is wrong with the regular file at `path`, as "its structure is broken at byte 1234"; empty when
/// nothing is, when the file cannot be read, and for kinds other than Matroska, Ogg and AVI, whose structure
/// is not checked. `found` is how many encoded pictures a reader found in an AVI file, -1 when nobody
/// counted. Never throws for damaged content.
std::string container_damage(const std::string& path, ContainerKind kind, std::int64_t found);

}  // namespace contorno
