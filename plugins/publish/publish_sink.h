// What the sink `publish` is made of, and how it is made.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/graph/sink.h"
#include "plugins/files/contours/message.h"
#include "plugins/publish/outbox.h"

namespace contorno {

enum class Sync : std::uint8_t { Full, Normal };
enum class QueueFull : std::uint8_t { Block, Thin };
enum class Durability : std::uint8_t { Required, Any };

struct PublishParams {
  std::string outbox = "outbox.db";
  MessageForm form = MessageForm::Cbor;
  Sync sync = Sync::Full;
  double max_bytes = 10.0 * 1024 * 1024 * 1024;
  WhenFull disk_full = WhenFull::Block;
  int queue = 64;
  QueueFull queue_full = QueueFull::Block;
  double drain_ms = 10'000;
  std::string camera = "camera";
  bool skip_hidden = false;
  bool totals = false;
  std::string redis{}, mqtt{}, kafka{};  ///< addresses; empty: no such route
  std::string redis_credentials{}, mqtt_credentials{}, kafka_credentials{};  ///< files with logins
  std::string redis_ca{}, mqtt_ca{}, kafka_ca{};                             ///< files of issuers
  Durability durable = Durability::Required;
};

std::unique_ptr<Sink> make_publish_sink(const PublishParams& params, const PublishModule& module,
                                        std::vector<RouteSpec> routes);

}  // namespace contorno
