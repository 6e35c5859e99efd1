// The sink `publish`: results as messages that are kept in an outbox and brought to brokers by routes.
#pragma once

#include "pipeline/graph/sink.h"
#include "plugins/publish/outbox.h"

namespace contorno {

const SinkType& publish_sink();
/// The module `publish`. Throws ModuleError.
const PublishModule& publish_module();
/// The module of the route that an address is for, by how it begins; null where it begins like none. Throws
/// ModuleError.
const RouteModule* route_module_of(std::string_view address);
/// The outboxes that sinks of this process have open. From any thread; opens no module.
std::vector<OutboxStatus> outbox_statuses();

}  // namespace contorno
