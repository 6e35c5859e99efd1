// Facts about GIF files, for container_facts. Stateless.
#pragma once

#include "plugins/files/video/facts.h"
#include "plugins/files/video/file_bytes.h"

namespace contorno {

ContainerFacts gif_facts(Bytes& bytes);

}  // namespace contorno
