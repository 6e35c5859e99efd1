// The sink `publish`: results as messages that are kept in an outbox and brought to brokers by routes.
#pragma once

#include "pipeline/graph/sink.h"
#include "plugins/publish/outbox.h"

namespace contorno {

const SinkType& publish_sink();
/// The module `publish`. Throws ModuleError.
const PublishModule& publish_module();

}  // namespace contorno
