// Brings what an outbox keeps to one broker, in a thread of its own: connects, sends from the cursor on,
// moves the cursor over what the broker has acknowledged. After an error a new connection begins from the
// cursor, after the waits of BackOff.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/run/back_off.h"
#include "plugins/publish/outbox/batch_size.h"
#include "plugins/publish/outbox/kept_times.h"
#include "plugins/publish/outbox/outbox_file.h"

namespace contorno::outbox {

/// What the threads of an outbox share.
struct Shared {
  std::mutex writing;                        // one thread writes to the file
  std::mutex mutex;                          // of `changed`
  std::condition_variable changed;           // something was kept, brought to a broker, or is to end
  std::atomic<std::uint64_t> last_id{0};     // of the messages that are kept
  std::atomic<std::uint64_t> generation{0};  // of the file: grows when it is replaced
  std::atomic<std::uint64_t> damaged{0};     // files below this generation: a route has met damage in one
  std::atomic<bool> stopping{false};
  KeptTimes kept;  // under the mutex

  /// Under the mutex, so that nobody looks at `stopping` before it is set and waits behind it.
  void stop() {
    const std::lock_guard lock(mutex);
    stopping = true;
    changed.notify_all();
  }
};

class Publisher {
 public:
  /// Everything is borrowed.
  Publisher(const OutboxSettings& settings, const RouteSpec& route, Shared& shared);
  /// Ends the thread, in the time-out of the route at most.
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  /// Messages that wait for this broker.
  std::uint64_t waiting() const {
    const std::uint64_t last = shared_.last_id, cursor = cursor_;
    return last > cursor ? last - cursor : 0;
  }
  OutboxStatus::Route status() const;

 private:
  void run();
  void publish();
  bool publish_some(RouteFile& file, Route& route);
  Route::Sent send(Route& route, const std::vector<RouteMessage>& messages);
  void advance(RouteFile& file, const std::vector<RouteFile::Row>& rows, const Route::Sent& sent);
  void pause(std::int64_t nanoseconds);
  void say_failure(const std::string& reason);
  void tell(Severity severity, const std::string& state, const std::string& reason,
            const std::string& sentence);

  const OutboxSettings& settings_;
  const RouteSpec& route_;
  Shared& shared_;
  std::atomic<std::uint64_t> cursor_ = 0;
  std::uint64_t generation_ = 0;  // of the file that is read
  BackOff back_off_;
  BatchSize batch_;
  std::int64_t said_ns_ = 0;
  std::atomic<bool> is_down_ = false;
  std::thread thread_;
};

}  // namespace contorno::outbox
