// The route to Redis and Valkey: a stream a camera, PREFIX:CAMERA, whose ids are RUN-N.
#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "pipeline/shared/clock.h"
#include "pipeline/shared/module.h"
#include "plugins/publish/access.h"
#include "plugins/publish/outbox.h"
#include "plugins/publish/outbox/planted.h"
#include "plugins/publish/redis/tls.h"

namespace contorno {
namespace {

constexpr AddressScheme kRedisScheme{.plain = "redis", .tls = "rediss", .plain_port = 6379, .tls_port = 6379};

/// Adds messages in order and stops at the first that is not added: pipelined commands would go on behind one
/// that a server refuses while it loads, is read-only or out of memory, and their larger ids would shut the
/// refused one out for ever. An id that is "equal or smaller" was added before only if it is there.
constexpr std::string_view kScript = R"(
local done = 0
for i = 1, #ARGV, 3 do
  local key, id = KEYS[tonumber(ARGV[i])], ARGV[i + 1]
  local added = redis.pcall('XADD', key, id, 'm', ARGV[i + 2])
  if type(added) == 'table' and added.err then
    if not string.find(added.err, 'equal or smaller', 1, true) then return {done, added.err, 0} end
    if #redis.call('XRANGE', key, id, id) == 0 then return {done, added.err, 1} end
  end
  done = done + 1
end
return {done, '', 0}
)";

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;
struct FreeContext {
  void operator()(redisContext* context) const { redisFree(context); }
};

BrokerAccess redis_access(const RouteTarget& target) {
  BrokerAccess access = access_of(target, kRedisScheme);
  if (access.address.has_tls && !has_redis_tls())
    throw Error(
        ExitCode::Unavailable,
        "this build has no TLS for Redis: it needs hiredis 1.2 or newer with its library hiredis_ssl");
  return access;
}

std::string_view text_of(const redisReply& reply) {
  return {reply.str, reply.str != nullptr ? reply.len : 0};
}

class RedisRoute final : public Route {
 public:
  explicit RedisRoute(const RouteTarget& target) : RedisRoute(target, redis_access(target)) {}
  RedisRoute(const RouteTarget& target, const BrokerAccess& access)
      : address_(access.address), limit_ns_(static_cast<std::int64_t>(target.timeout_ms * 1e6)) {
    context_.reset(redisConnectWithTimeout(address_.host.c_str(), address_.port, span_of(limit_ns_)));
    check_connection();
    redisSetTimeout(context_.get(), span_of(limit_ns_));
    if (access.address.has_tls) begin_tls(target.ca);
    log_in(access.login);
    if (target.durable) check_durability();
  }

  Sent send(std::span<const RouteMessage> messages) override {
    if (outbox::is_planted("pipeline")) return send_in_pipeline(messages);
    std::vector<std::string> keys, words;
    for (const RouteMessage& message : messages) {
      const std::string key = fmt::format("{}:{}", address_.path, message.camera);
      std::size_t place = 0;
      while (place < keys.size() && keys[place] != key) ++place;
      if (place == keys.size()) keys.push_back(key);
      words.push_back(std::to_string(place + 1));
      words.push_back(fmt::format("{}-{}", message.run, message.n));
      words.emplace_back(message.body);
    }
    std::vector<std::string> command{"EVAL", std::string(kScript), std::to_string(keys.size())};
    command.insert(command.end(), keys.begin(), keys.end());
    command.insert(command.end(), words.begin(), words.end());
    const Reply reply = ask(command);
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3) throw unavailable("it gave no count");
    const auto done = static_cast<std::size_t>(reply->element[0]->integer);
    const std::string_view error = text_of(*reply->element[1]);
    const bool is_shut_out = reply->element[2]->integer == 1;
    if (is_shut_out) return {.count = done, .refused = std::string(error)};
    if (done == 0) throw unavailable(error);
    return {.count = done};
  }

  /// Gives each message of the streams that are a camera's. An answer may take as long as parts of it come.
  void read(const TakeBrokerMessage& take) {
    limits_whole_answers_ = false;
    for (const std::string& camera : cameras()) read_stream(camera, take);
  }

 private:
  std::set<std::string> cameras() {
    std::set<std::string> cameras;
    const std::string head = address_.path + ":";
    std::string cursor = "0";
    do {
      const Reply reply = ask({"SCAN", cursor, "MATCH", head + "*", "COUNT", "1000"});
      if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2) throw unavailable("it gave no keys");
      cursor = text_of(*reply->element[0]);
      for (std::size_t i = 0; i < reply->element[1]->elements; ++i) {
        const std::string key(text_of(*reply->element[1]->element[i]));
        const std::string camera = key.substr(head.size());
        // What another prefix, which begins with this one, has is not ours.
        if (camera.find(':') == std::string::npos && text_of(*ask({"TYPE", key})) == "stream")
          cameras.insert(camera);
      }
    } while (cursor != "0");
    return cameras;
  }

  void read_stream(const std::string& camera, const TakeBrokerMessage& take) {
    const std::string key = fmt::format("{}:{}", address_.path, camera);
    for (std::string from = "-"; !from.empty();) {
      const Reply reply = ask({"XRANGE", key, from, "+", "COUNT", "64"});
      from.clear();
      for (std::size_t i = 0; i < reply->elements; ++i) {
        const redisReply& entry = *reply->element[i];
        BrokerMessage message{.camera = camera};
        const std::string id(text_of(*entry.element[0]));
        const std::size_t dash = std::min(id.find('-'), id.size());
        message.run = std::strtoull(id.c_str(), nullptr, 10);
        message.n = std::strtoull(id.c_str() + std::min(dash + 1, id.size()), nullptr, 10);
        for (std::size_t field = 0; field + 1 < entry.element[1]->elements; field += 2)
          if (text_of(*entry.element[1]->element[field]) == "m")
            message.body = text_of(*entry.element[1]->element[field + 1]);
        take(message);
        const bool is_last = *message.n == std::numeric_limits<std::uint64_t>::max();
        from = is_last ? fmt::format("{}-0", *message.run + 1)
                       : fmt::format("{}-{}", *message.run, *message.n + 1);
      }
    }
  }

  /// The fault that the script avoids, for the tests: all are sent at once, and "equal or smaller" is taken
  /// for "already there".
  Sent send_in_pipeline(std::span<const RouteMessage> messages) {
    for (const RouteMessage& message : messages)
      redisAppendCommand(context_.get(), "XADD %s:%b %s m %b", address_.path.c_str(), message.camera.data(),
                         message.camera.size(), fmt::format("{}-{}", message.run, message.n).c_str(),
                         message.body.data(), message.body.size());
    std::size_t done = 0;
    bool is_held = false;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      void* answer = nullptr;
      if (redisGetReply(context_.get(), &answer) != REDIS_OK) check_connection();
      const Reply reply(static_cast<redisReply*>(answer));
      const bool is_error = reply && reply->type == REDIS_REPLY_ERROR;
      const bool is_taken = !is_error || text_of(*reply).find("equal or smaller") != std::string_view::npos;
      is_held = is_held || !is_taken;
      done += is_held ? 0 : 1;
    }
    if (done == 0) throw unavailable("it refused the first of a pipeline");
    return {.count = done};
  }

  Error unavailable(std::string_view why) const {
    return Error(ExitCode::Unavailable, fmt::format("Redis at {}: {}", address_.place(), why));
  }

  void check_connection() const {
    if (!context_) throw unavailable("out of memory");
    if (context_->err != 0) throw unavailable(context_->errstr);
  }

  Reply ask(const std::vector<std::string>& command) {
    std::vector<const char*> words;
    std::vector<std::size_t> sizes;
    for (const std::string& word : command) words.push_back(word.data()), sizes.push_back(word.size());
    if (redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), words.data(), sizes.data()) !=
        REDIS_OK)
      throw unavailable(context_->errstr);
    Reply reply = exchange();
    if (reply->type == REDIS_REPLY_ERROR) throw unavailable(text_of(*reply));
    return reply;
  }

  /// Sends what was appended, and waits for the answer to it. The library's own waits end when nothing comes
  /// at all for so long: a line that carries a byte a second would hold up the end of a run for hours.
  Reply exchange() {
    const std::int64_t since = now_ns();
    for (int done = 0; done == 0;) {
      limit_next_wait(since);
      if (redisBufferWrite(context_.get(), &done) != REDIS_OK) check_connection();
    }
    for (;;) {
      void* answer = nullptr;
      if (redisGetReplyFromReader(context_.get(), &answer) != REDIS_OK) check_connection();
      if (answer != nullptr) return Reply(static_cast<redisReply*>(answer));
      limit_next_wait(since);
      if (redisBufferRead(context_.get()) != REDIS_OK) check_connection();
    }
  }

  void limit_next_wait(std::int64_t since_ns) {
    if (!limits_whole_answers_) return;
    const std::int64_t left = limit_ns_ - (now_ns() - since_ns);
    if (left <= 0) throw unavailable("it does not answer in time");
    redisSetTimeout(context_.get(), span_of(left));
  }

  static timeval span_of(std::int64_t nanoseconds) {
    const std::int64_t microseconds = std::max<std::int64_t>(1, nanoseconds / 1000);  // 0 would be no limit
    return {.tv_sec = microseconds / 1'000'000, .tv_usec = microseconds % 1'000'000};
  }

  void begin_tls(const std::string& ca) {
    try {
      begin_redis_tls(*context_, address_.host, ca);
    } catch (const Error& error) {
      throw unavailable(error.what());
    }
  }

  void log_in(const Credentials& login) {
    if (login.password.empty()) return;
    std::vector<std::string> command{"AUTH"};
    if (!login.user.empty()) command.push_back(login.user);
    command.push_back(login.password);
    try {
      ask(command);
    } catch (const Error& error) {
      // A server without this command repeats what it was given.
      std::string reason = error.what();
      for (std::size_t at = 0; (at = reason.find(login.password, at)) != std::string::npos; at += 3)
        reason.replace(at, login.password.size(), "***");
      throw Error(error.code(), reason);
    }
  }

  void check_durability() {
    const auto has = [&](const char* section, std::string_view line) {
      return text_of(*ask({"INFO", section})).find(line) != std::string_view::npos;
    };
    if (!has("persistence", "aof_enabled:1\r"))
      throw Error(
          ExitCode::BadConfig,
          fmt::format("Redis at {} forgets what it has acknowledged when it ends (its appendonly is "
                      "no); set 'appendonly yes' in its configuration, or 'durable: any' in the graph",
                      address_.place()));
    if (!has("memory", "maxmemory_policy:noeviction\r"))
      throw Error(
          ExitCode::BadConfig,
          fmt::format("Redis at {} removes what it has acknowledged when its memory is full; set "
                      "'maxmemory-policy noeviction' in its configuration, or 'durable: any' in the graph",
                      address_.place()));
  }

  BrokerAddress address_;
  std::int64_t limit_ns_;
  bool limits_whole_answers_ = true;
  std::unique_ptr<redisContext, FreeContext> context_;
};

constexpr RouteModule kRedisTable{.check = [](const RouteTarget& target) { redis_access(target); },
                                  .connect = [](const RouteTarget& target) -> std::unique_ptr<Route> {
                                    return std::make_unique<RedisRoute>(target);
                                  },
                                  .read =
                                      [](const RouteTarget& target, const TakeBrokerMessage& take) {
                                        RouteTarget any = target;
                                        any.durable = false;
                                        RedisRoute(any).read(take);
                                      }};

}  // namespace
}  // namespace contorno

CONTORNO_MODULE(contorno::kRedisTable);
