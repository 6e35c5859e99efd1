// Brings what an outbox keeps to one broker, in a thread of its own: connects, sends from the cursor on,
// moves the cursor over what the broker has acknowledged. After an error a new connection begins from the
// cursor, 1, 2, 4, .. 30 s later.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "plugins/publish/outbox/outbox_file.h"

namespace contorno::outbox {

/// What the threads of an outbox share.
struct Shared {
  std::mutex writing;                        // one thread writes to the file
  std::mutex mutex;                          // of `changed`
  std::condition_variable changed;           // something was kept, brought to a broker, or is to end
  std::atomic<std::uint64_t> last_id{0};     // of the messages that are kept
  std::atomic<std::uint64_t> generation{0};  // of the file: grows when it is replaced
  std::atomic<bool> stopping{false};
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

 private:
  void run();
  void publish();
  bool publish_some(RouteFile& file, Route& route);
  void advance(RouteFile& file, const std::vector<RouteFile::Row>& rows, const Route::Sent& sent);
  void pause(double seconds);
  void say_failure(const std::string& reason);

  const OutboxSettings& settings_;
  const RouteSpec& route_;
  Shared& shared_;
  std::atomic<std::uint64_t> cursor_ = 0;
  double delay_s_ = 0;
  std::int64_t said_ns_ = 0;
  bool is_down_ = false;
  std::thread thread_;
};

}  // namespace contorno::outbox
