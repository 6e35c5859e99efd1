#include "plugins/publish/publish.h"

#include <fmt/format.h>

#include <fstream>

#include "base/error.h"
#include "plugins/files/contours/message.h"
#include "plugins/files/shared/output_file.h"
#include "plugins/modules.h"
#include "plugins/publish/publish_sink.h"
#include "plugins/shared/credentials.h"

namespace contorno {
namespace {

/// The routes that a sink has: an address each, the file of a login, and that of issuers.
struct RouteParam {
  const char* name;      // and how its addresses begin
  const char* with_tls;  // likewise
  std::string PublishParams::*address;
  std::string PublishParams::*credentials;
  std::string PublishParams::*ca;
  const ModuleSpec* module;
  const char* sentence;

  RouteTarget target(const PublishParams& params) const {
    return {.address = params.*address,
            .credentials = params.*credentials,
            .ca = params.*ca,
            .durable = params.durable == Durability::Required};
  }
  std::string credentials_name() const { return std::string(name) + "_credentials"; }
  std::string ca_name() const { return std::string(name) + "_ca"; }
};
constexpr RouteParam kRoutes[] = {
    {"redis", "rediss", &PublishParams::redis, &PublishParams::redis_credentials, &PublishParams::redis_ca,
     &kRedisModule,
     "Address of a Redis or Valkey, as redis://HOST:PORT/PREFIX, or rediss:// with TLS: each camera gets the "
     "stream PREFIX:CAMERA; empty: none."},
    {"mqtt", "mqtts", &PublishParams::mqtt, &PublishParams::mqtt_credentials, &PublishParams::mqtt_ca,
     &kMqttModule,
     "Address of a broker of MQTT, as mqtt://HOST:PORT/PREFIX, or mqtts:// with TLS: each camera gets the "
     "topic PREFIX/CAMERA; empty: none."},
    {"kafka", "kafka+ssl", &PublishParams::kafka, &PublishParams::kafka_credentials, &PublishParams::kafka_ca,
     &kKafkaModule,
     "Address of Kafka, as kafka://HOST:PORT/TOPIC, or kafka+ssl:// with TLS: messages have their camera as "
     "the key; empty: none."},
};

const RouteModule& route_module(const ModuleSpec& spec) {
  return *static_cast<const RouteModule*>(open_module(spec));
}

/// Libraries would say of a file of issuers that is none no more than that no certificate is trusted.
void check_issuers(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ExitCode::MissingInput, fmt::format("'{}' cannot be read", path));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("-----BEGIN ") && line.find("CERTIFICATE-----") != std::string::npos) return;
  throw Error(ExitCode::BadConfig,
              fmt::format("'{}' has no certificate (-----BEGIN CERTIFICATE-----)", path));
}

void try_route(const PublishParams& params, const RouteParam& route, const ParamTrial& trial) {
  const RouteTarget target = route.target(params);
  bool is_fine = true;
  const auto needs_address = [&](const std::string& param, const std::string& value) {
    if (value.empty() || !target.address.empty()) return;
    trial.refuse(param, ExitCode::BadConfig, fmt::format("{} is given, and no {}", param, route.name));
    is_fine = false;
  };
  needs_address(route.credentials_name(), target.credentials);
  needs_address(route.ca_name(), target.ca);
  if (target.address.empty()) return;
  if (!target.credentials.empty())
    is_fine = trial.run(route.credentials_name(), [&] { read_credentials(target.credentials); }) && is_fine;
  if (!target.ca.empty()) is_fine = trial.run(route.ca_name(), [&] { check_issuers(target.ca); }) && is_fine;
  if (is_fine) trial.run(route.name, [&] { route_module(*route.module).check(target); });
}

void try_out(const PublishParams& params, const ParamTrial& trial) {
  trial.run("outbox", [&] { resolve_output(trial.output_root(), params.outbox); });
  for (const RouteParam& route : kRoutes) try_route(params, route, trial);
}

std::unique_ptr<Sink> make_sink(const PublishParams& params) {
  const PublishModule& module = publish_module();
  std::vector<RouteSpec> routes;
  for (const RouteParam& route : kRoutes)
    if (!(params.*route.address).empty())
      routes.push_back(
          {.name = route.name, .target = route.target(params), .module = &route_module(*route.module)});
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
  for (const RouteParam& route : kRoutes) {
    list.text(route.credentials_name(), route.credentials,
              fmt::format("File with the login for {}: a name in $CREDENTIALS_DIRECTORY, or a path with "
                          "a '/'; empty: that of the address.",
                          route.name));
    list.text(route.ca_name(), route.ca,
              fmt::format("File (PEM) of the issuers of certificates that are trusted for {} with TLS; "
                          "empty: those of the system.",
                          route.name));
  }
  list.choice("durable", &PublishParams::durable,
              {{"required", Durability::Required}, {"any", Durability::Any}},
              "Whether a broker whose settings lose what it acknowledges is refused.");
  return declare(std::move(list), try_out);
}

}  // namespace

const PublishModule& publish_module() {
  return *static_cast<const PublishModule*>(open_module(kPublishModule));
}

const RouteModule* route_module_of(std::string_view address) {
  const std::string_view scheme = address.substr(0, address.find("://"));
  if (scheme.size() == address.size()) return nullptr;
  for (const RouteParam& route : kRoutes)
    if (scheme == route.name || scheme == route.with_tls) return &route_module(*route.module);
  return nullptr;
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
