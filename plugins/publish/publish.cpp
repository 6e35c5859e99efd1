#include "plugins/publish/publish.h"

#include "plugins/files/contours/message.h"
#include "plugins/files/shared/output_file.h"
#include "plugins/modules.h"
#include "plugins/publish/publish_sink.h"

namespace contorno {
namespace {

/// The routes that a sink has: a parameter each, an address.
struct RouteParam {
  const char* name;
  std::string PublishParams::*address;
  const ModuleSpec* module;
  const char* sentence;
};
constexpr RouteParam kRoutes[] = {
    {"redis", &PublishParams::redis, &kRedisModule,
     "Address of a Redis or Valkey, as redis://HOST:PORT/PREFIX: each camera gets the stream PREFIX:CAMERA; "
     "empty: none."},
    {"mqtt", &PublishParams::mqtt, &kMqttModule,
     "Address of a broker of MQTT, as mqtt://HOST:PORT/PREFIX: each camera gets the topic PREFIX/CAMERA; "
     "empty: none."},
    {"kafka", &PublishParams::kafka, &kKafkaModule,
     "Address of Kafka, as kafka://HOST:PORT/TOPIC: messages have their camera as the key; empty: none."},
};

const RouteModule& route_module(const ModuleSpec& spec) {
  return *static_cast<const RouteModule*>(open_module(spec));
}

void try_out(const PublishParams& params, const ParamTrial& trial) {
  trial.run("outbox", [&] { resolve_output(trial.output_root(), params.outbox); });
  for (const RouteParam& route : kRoutes) {
    const std::string& address = params.*route.address;
    if (!address.empty()) trial.run(route.name, [&] { route_module(*route.module).check(address); });
  }
}

std::unique_ptr<Sink> make_sink(const PublishParams& params) {
  const PublishModule& module = publish_module();
  std::vector<RouteSpec> routes;
  for (const RouteParam& route : kRoutes)
    if (const std::string& address = params.*route.address; !address.empty())
      routes.push_back({.name = route.name,
                        .target = {.address = address, .durable = params.durable == Durability::Required},
                        .module = &route_module(*route.module)});
  return make_publish_sink(params, module, std::move(routes));
}

ParamDeclaration declaration() {
  ParamList<PublishParams> list;
  list.text("outbox", &PublishParams::outbox,
            "File of the outbox, below the output folder; all cameras share it.");
  list.choice("format", &PublishParams::form, {{"cbor", MessageForm::Cbor}, {"json", MessageForm::Json}},
              "What messages are written in: CBOR with points as float32 arrays, or JSON.");
  list.choice("sync", &PublishParams::sync, {{"full", Sync::Full}, {"normal", Sync::Normal}},
              "Whether what is kept survives a power cut (full), or the end of the process alone (normal).");
  list.number("max_bytes", &PublishParams::max_bytes, 1 << 20, 1e15, Unit::None,
              "How large the outbox may become, in bytes: its file and write-ahead log together.");
  list.choice("disk_full", &PublishParams::disk_full,
              {{"block", WhenFull::Block}, {"drop_oldest", WhenFull::DropOldest}, {"thin", WhenFull::Thin}},
              "When it has this size: block waits, so that the ring drops frames; drop_oldest makes gaps of "
              "the oldest messages; thin keeps new ones without points, then waits.");
  list.integer("queue", &PublishParams::queue, 1, 100'000, Unit::None,
               "How many messages may wait for being kept.");
  list.choice("queue_full", &PublishParams::queue_full,
              {{"block", QueueFull::Block}, {"thin", QueueFull::Thin}},
              "When so many wait: block waits, thin leaves the points out, too.");
  list.number("drain", &PublishParams::drain_ms, 0, 1e9, Unit::Milliseconds,
              "How long the end of a run waits until the routes have everything; the rest stays kept.");
  list.text("camera", &PublishParams::camera,
            "What messages call the source where the graph gives it no name: a to z, 0 to 9, _ and -.");
  list.flag("skip_hidden", &PublishParams::skip_hidden, kSkipHiddenSentence);
  list.flag("totals", &PublishParams::totals, "Adds the totals of each class in the frame, as in jsonl.");
  for (const RouteParam& route : kRoutes) list.text(route.name, route.address, route.sentence);
  list.choice("durable", &PublishParams::durable,
              {{"required", Durability::Required}, {"any", Durability::Any}},
              "Whether a broker whose settings lose what it acknowledges is refused.");
  return declare(std::move(list), try_out);
}

}  // namespace

const PublishModule& publish_module() {
  return *static_cast<const PublishModule*>(open_module(kPublishModule));
}

const SinkType& publish_sink() {
  static const SinkType type{
      .name = "publish",
      .summary = "Keeps results as messages in an outbox, and brings them to brokers: nothing kept is lost.",
      .input = PortType::Contours,
      .params = declaration(),
      .example = "sinks:\n  - type: publish\n    outbox: line.db\n",
      .needs_every_frame = true,
      .make = [](const ParamSet& params) { return make_sink(params.as<PublishParams>()); },
  };
  return type;
}

}  // namespace contorno
