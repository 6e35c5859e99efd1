#include "plugins/publish/outbox/publisher.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "pipeline/shared/clock.h"
#include "pipeline/shared/resource_limits.h"
#include "plugins/publish/outbox/planted.h"

namespace contorno::outbox {
namespace {

constexpr std::int64_t kSayAgain = 60'000'000'000;  // ns

}  // namespace

Publisher::Publisher(const OutboxSettings& settings, const RouteSpec& route, Shared& shared)
    : settings_(settings),
      route_(route),
      shared_(shared),
      back_off_({}, std::random_device{}()),
      batch_(static_cast<std::int64_t>(route.target.timeout_ms * 1e6)) {
  cursor_ = RouteFile(settings_, route_.name, shared_.writing).cursor();
  thread_ = start_thread("route " + route_.name, [this] { run(); });
}

Publisher::~Publisher() {
  shared_.stop();
  thread_.join();
}

void Publisher::run() {
  while (!shared_.stopping) {
    try {
      publish();
    } catch (const DatabaseError& error) {
      // The keeper replaces the file, and says so.
      if (error.is_corrupt()) shared_.damaged = std::max<std::uint64_t>(shared_.damaged, generation_ + 1);
      say_failure(error.what());
      pause(back_off_.next());
    } catch (const std::exception& error) {
      say_failure(error.what());
      pause(back_off_.next());
    }
  }
}

/// One connection, until it fails, the file is replaced, or all ends.
void Publisher::publish() {
  generation_ = shared_.generation;
  RouteFile file(settings_, route_.name, shared_.writing);
  cursor_ = file.cursor();
  const std::unique_ptr<Route> route = route_.module->connect(route_.target);
  if (is_down_.exchange(false))
    tell(Severity::Notice, "connected", {}, fmt::format("route '{}': connected again", route_.name));
  while (!shared_.stopping && shared_.generation == generation_) {
    if (publish_some(file, *route)) continue;
    route->idle();
    std::unique_lock lock(shared_.mutex);
    shared_.changed.wait_for(lock, std::chrono::seconds(1),
                             [&] { return shared_.stopping || waiting() > 0; });
  }
}

/// False: nothing waits.
bool Publisher::publish_some(RouteFile& file, Route& route) {
  const std::uint64_t last = shared_.last_id;
  const std::vector<RouteFile::Row> rows = file.next(batch_.messages());
  if (rows.empty()) {
    // Rows up to there are gone: a route that was added later has missed them.
    if (last > cursor_) cursor_ = last;
    return false;
  }
  if (is_planted("cursor before report")) file.moved_to(rows.back().id);
  std::vector<RouteMessage> messages;
  for (const RouteFile::Row& row : rows) {
    messages.push_back(
        {.run = row.run, .camera = row.camera, .kind = row.kind, .n = row.n, .body = row.body});
    if (is_planted("two keys") && row.n % 50 == 0)
      messages.push_back(
          {.run = row.run + 1, .camera = row.camera, .kind = row.kind, .n = row.n, .body = row.body});
  }
  Route::Sent sent = send(route, messages);
  sent.count = std::min(sent.count, rows.size());
  advance(file, rows, sent);
  back_off_.reset();
  return true;
}

Route::Sent Publisher::send(Route& route, const std::vector<RouteMessage>& messages) {
  const std::int64_t since = now_ns();
  try {
    Route::Sent sent = route.send(messages);
    if (sent.count > 0) batch_.acknowledged(sent.count, now_ns() - since);
    return sent;
  } catch (...) {
    batch_.failed(messages.size(), now_ns() - since);
    throw;
  }
}

void Publisher::advance(RouteFile& file, const std::vector<RouteFile::Row>& rows, const Route::Sent& sent) {
  std::size_t done = sent.count;
  if (!sent.refused.empty() && done < rows.size()) {
    file.set_aside(rows[done], sent.refused);
    if (settings_.tell)
      settings_.tell({.severity = Severity::Error,
                      .camera = rows[done].camera,
                      .name = "message_refused",
                      .subject = fmt::format("{} {} {}", route_.name, rows[done].run, rows[done].n),
                      .fields = {{"route", route_.name},
                                 {"run", std::to_string(rows[done].run)},
                                 {"n", std::to_string(rows[done].n)},
                                 {"reason", sent.refused}},
                      .sentence = fmt::format(
                          "route '{}': message {} of '{}' in run {} was refused and set aside: {}",
                          route_.name, rows[done].n, rows[done].camera, rows[done].run, sent.refused)});
    ++done;
  }
  if (done == 0) throw Error(ExitCode::Unavailable, "the broker took nothing");
  file.moved_to(rows[done - 1].id);
  cursor_ = rows[done - 1].id;
  shared_.changed.notify_all();
}

OutboxStatus::Route Publisher::status() const {
  const std::lock_guard lock(shared_.mutex);
  return {.name = route_.name,
          .waiting = waiting(),
          .age_s = static_cast<double>(shared_.kept.age_ns(cursor_, now_ns())) * 1e-9,
          .is_up = !is_down_};
}

void Publisher::pause(std::int64_t nanoseconds) {
  std::unique_lock lock(shared_.mutex);
  shared_.changed.wait_for(lock, std::chrono::nanoseconds(nanoseconds),
                           [&] { return shared_.stopping.load(); });
}

void Publisher::say_failure(const std::string& reason) {
  const std::int64_t now = now_ns();
  if (is_down_ && now - said_ns_ < kSayAgain) return;
  is_down_ = true;
  said_ns_ = now;
  tell(Severity::Warning, "waits", reason,
       fmt::format("route '{}': {}; {} messages are kept and tried again", route_.name, reason, waiting()));
}

void Publisher::tell(Severity severity, const std::string& state, const std::string& reason,
                     const std::string& sentence) {
  if (!settings_.tell) return;
  LogEvent event{.severity = severity,
                 .name = "route",
                 .subject = fmt::format("{} {}", settings_.path, route_.name),
                 .fields = {{"route", route_.name}, {"state", state}, {"waiting", std::to_string(waiting())}},
                 .sentence = sentence};
  if (!reason.empty()) event.fields.emplace_back("reason", reason);
  settings_.tell(event);
}

}  // namespace contorno::outbox
