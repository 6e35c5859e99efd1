// Finds damage in the structure of a container file: a demuxer that meets a damaged place goes on behind it
// and does not report what it skipped. container_damage reads every header of a Matroska or AVI file and the
// checksum of every page of an Ogg file, so it is called once, when a stream has ended. It has no state; any
// thread may call it.
#pragma once

#include <string>

#include "plugins/files/video/facts.h"

namespace contorno {

/// What is wrong with the regular file at `path`, as "its structure is broken at byte 1234"; empty when
/// nothing is, when the file cannot be read, and for kinds other than Matroska, Ogg and AVI, whose structure
/// is not checked. `found` is how many encoded pictures a reader found by the index of an AVI file, -1 when
/// nobody counted: fewer than the file has are damage. Never throws for damaged content.
std::string container_damage(const std::string& path, ContainerKind kind, std::int64_t found);

}  // namespace contorno
