// The outbox: a file that keeps messages until every route has brought them to its broker. Its code is the
// module `publish` (SQLite), that of a route one more (redis, mqtt, kafka); this is what the library knows of
// them. All cameras' sinks of a path share one outbox in a process, and no second process may open it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/shared/log_event.h"
#include "pipeline/shared/patience.h"

namespace contorno {

/// A message with what the outbox has to know of it. `first` to `last` are the frame numbers that it accounts
/// for; none where first > last.
struct OutboxMessage {
  std::string camera{}, kind{};
  std::uint64_t n = 0;
  std::uint64_t first = 1, last = 0;
  std::string body{};
};

/// A kept message on its way to a broker. Views are valid during the call.
struct RouteMessage {
  std::uint64_t run = 0;
  std::string_view camera{}, kind{};
  std::uint64_t n = 0;
  std::string_view body{};
};

/// A connection to a broker, used by one thread. After whatever it throws it is destroyed, and its messages
/// are given to a new connection, later and later.
class Route {
 public:
  virtual ~Route() = default;
  /// Brings messages to the broker, in order, and says how many of them from the first it has acknowledged;
  /// the others are given again. `refused`, a reason, is set where the broker will never take the next one:
  /// that one is set aside. Throws Error(Unavailable) when no answer comes in the time-out of the target.
  struct Sent {
    std::size_t count = 0;
    std::string refused{};
  };
  virtual Sent send(std::span<const RouteMessage> messages) = 0;
  /// Called about once a second while there is nothing to send: a protocol that wants signs of life gives
  /// them here. Throws as send.
  virtual void idle() {}
};

/// How to reach a broker.
struct RouteTarget {
  std::string address{};      ///< SCHEME://[USER:PASSWORD@]HOST[:PORT]/PREFIX, the scheme that of the route
  std::string credentials{};  ///< the file of a login (plugins/shared/credentials.h); empty: none
  std::string ca{};           ///< the file of the issuers that are trusted; empty: those of the system
  bool durable = true;        ///< whether a broker that does not keep what it acknowledges is refused
  double timeout_ms = 5000;
};

/// A message that a broker holds, by what it is called there. `body` is valid during the call.
struct BrokerMessage {
  std::string camera{};
  std::optional<std::uint64_t> run{}, n{};  ///< where the broker has them beside the body
  std::string_view body{};
};
using TakeBrokerMessage = std::function<void(const BrokerMessage&)>;

/// The table of a module of a route.
struct RouteModule {
  /// Whether the address is one that the other values fit; throws Error(BadConfig).
  void (*check)(const RouteTarget& target);
  /// Connects. Throws Error(Unavailable) where nobody answers, Error(BadConfig) where the broker's settings
  /// lose messages, or it refuses the login.
  std::unique_ptr<Route> (*connect)(const RouteTarget& target);
  /// Gives each message that a broker holds, those of a camera in the broker's order; null where a broker is
  /// not asked for them. Throws as connect, but that nothing is asked of the settings.
  void (*read)(const RouteTarget& target, const TakeBrokerMessage& take) = nullptr;
};

struct RouteSpec {
  std::string name{};  ///< of the cursor
  RouteTarget target{};
  const RouteModule* module = nullptr;
};

enum class WhenFull : std::uint8_t {
  Block,       ///< the sink waits, and the ring drops frames
  DropOldest,  ///< the oldest messages become gaps
  Thin,        ///< new messages have no points; when that does not help the sink waits
};

struct OutboxSettings {
  std::string path{};           ///< absolute
  bool sync_full = true;        ///< whether a commit survives a power cut
  std::uint64_t max_bytes = 0;  ///< of file and write-ahead log together
  WhenFull when_full = WhenFull::Block;
  std::size_t queue = 64;  ///< messages that wait to be kept
  std::vector<RouteSpec> routes{};
  /// Tells the log of the run; from any thread.
  std::function<void(const LogEvent&)> tell{};
  /// What becomes of a message that is dropped from a full outbox: a gap of the same key.
  std::function<std::string(std::uint64_t run, const OutboxMessage& dropped)> gap_body{};
  /// The run_end of a run that was killed; `n` is that of the message, `frames` how many are accounted for.
  std::function<std::string(std::uint64_t run, const std::string& camera, std::uint64_t n,
                            std::uint64_t frames)>
      crashed_body{};
};

/// What is seen of an outbox. Ages are those of the oldest message that waits, in seconds; one that an
/// earlier run has kept counts from the beginning of this one.
struct OutboxStatus {
  struct Route {
    std::string name{};
    std::uint64_t waiting = 0;  ///< messages that its broker does not have
    double age_s = 0;
    bool is_up = true;  ///< it is connected, or has not been tried yet
  };
  std::string path{};
  std::uint64_t bytes = 0;  ///< of file and write-ahead log together
  std::uint64_t max_bytes = 0;
  bool takes_messages = true;  ///< false: there is no room, or the file cannot be written any more
  std::vector<Route> routes{};
};

/// Safe from any thread.
class Outbox {
 public:
  virtual ~Outbox() = default;
  /// The number of this run: max(last + 1, Unix time in ms).
  virtual std::uint64_t run() const = 0;
  /// Begins the messages of a camera. Throws Error(BadConfig) when another sink has begun them in this run.
  virtual void begin(const std::string& camera) = 0;
  enum class Added : std::uint8_t { AtOnce, Waited };
  /// Queues a message; waits while the queue is full, as long as `patience` allows. Throws Error(Io) where
  /// the file cannot be written any more. Messages of a camera come from one thread, n growing by one.
  virtual Added add(OutboxMessage message, const Patience& patience) = 0;
  /// Whether the next message, or with a queue of more than one that behind it, has to wait.
  virtual bool is_queue_full() const = 0;
  /// Whether the file has reached `max_bytes`.
  virtual bool is_file_full() const = 0;
  /// Waits until all that was added is kept. Throws as add.
  virtual void flush(const Patience& patience) = 0;
  /// Messages that a route still has to bring to its broker; the largest number of all routes.
  virtual std::uint64_t waiting() const = 0;
  virtual OutboxStatus status() const = 0;
};

/// One row of an outbox's file, as it was kept.
struct KeptMessage {
  std::uint64_t run = 0;
  std::string camera{}, kind{};
  std::uint64_t n = 0, first = 1, last = 0;
  std::string body{};
};

/// The table of the module `publish`.
struct PublishModule {
  /// Opens the outbox of a path, or joins the one that is open; it is closed with the last owner. Throws
  /// Error(CannotCreate) when another process has it, Error(Io).
  std::shared_ptr<Outbox> (*open)(const OutboxSettings& settings);
  /// Gives each message of a file, by run, camera and n, then a sentence for what is wrong with the file as
  /// a whole: rows that were kept, that no route has brought away, and that are gone. Throws Error(BadData)
  /// when it is no outbox.
  void (*read)(const std::string& path, const std::function<void(const KeptMessage&)>& take,
               const std::function<void(const std::string&)>& fault);
};

}  // namespace contorno
