// What a process that systemd has started tells it: that it is ready, what it is doing, that it gets on, that
// it ends. Datagrams to the socket that the environment names (sd_notify(3)); without one, nothing is said.
// For one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace contorno {

class ServiceManager {
 public:
  /// Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. A socket that cannot be used is told, and not used.
  ServiceManager();
  ~ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  bool listens() const { return socket_ >= 0; }
  /// Sent once, or again at the next call where the socket took none.
  void say_ready();
  /// Sent where it is another one than before.
  void say_status(std::string_view sentence);
  /// Work begins that takes so much longer than what the unit allows for a start.
  void ask_for_time(std::int64_t ns);
  void say_stopping();

  /// How long this process may go without `feed` before it is killed, in ns; nothing: for ever.
  std::optional<std::int64_t> watchdog_ns() const { return watchdog_ns_; }
  /// Says that all is well: a few times in `watchdog_ns`, however often it is called.
  void feed(std::int64_t now_ns);

 private:
  bool send(std::string_view text) const;

  int socket_ = -1;
  std::optional<std::int64_t> watchdog_ns_;
  std::int64_t fed_ns_ = 0;
  bool is_ready_ = false, is_stopping_ = false;
  std::string status_;
};

}  // namespace contorno
