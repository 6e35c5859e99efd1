// Facts about ISO base media (mp4, mov), for container_facts. Stateless.
#pragma once

#include "plugins/files/video/facts.h"
#include "plugins/files/video/file_bytes.h"

namespace contorno {

ContainerFacts mp4_facts(Bytes& bytes);

}  // namespace contorno
