// The outbox of a process and a path: a bounded queue, a thread that keeps what is in it, many messages a
// commit, and a publisher a route.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "plugins/publish/outbox/outbox_file.h"
#include "plugins/publish/outbox/publisher.h"

namespace contorno::outbox {

class FileOutbox final : public Outbox {
 public:
  explicit FileOutbox(const OutboxSettings& settings);
  /// Keeps what is queued, and ends the threads.
  ~FileOutbox() override;

  std::uint64_t run() const override { return run_; }
  void begin(const std::string& camera) override;
  Added add(OutboxMessage message, const Patience& patience) override;
  bool is_queue_full() const override;
  bool is_file_full() const override { return is_full_; }
  void flush(const Patience& patience) override;
  std::uint64_t waiting() const override;
  OutboxStatus status() const override;

 private:
  void keep_loop();
  std::vector<OutboxMessage> take_some();
  void keep(const std::vector<OutboxMessage>& messages);
  void begin_new_file();
  void make_room(const std::vector<OutboxMessage>& messages);
  void say_full() const;
  void wait_for_room(const std::string& reason);

  const OutboxSettings settings_;
  const FileLock lock_;
  Shared shared_;
  OutboxFile file_;
  std::uint64_t run_;

  mutable std::mutex mutex_;  // guards cameras_ to failure_
  std::condition_variable queued_, taken_;
  std::set<std::string> cameras_;  // that have begun
  std::deque<OutboxMessage> queue_;
  std::size_t in_work_ = 0;  // taken and not yet kept
  bool closed_ = false;
  std::string failure_;                // why nothing is kept any more
  std::atomic<bool> is_full_ = false;  // the file has no room
  std::atomic<bool> waits_for_room_ = false;
  std::string reason_said_;  // why it waits; the keeper's

  std::vector<std::unique_ptr<Publisher>> publishers_;
  std::thread keeper_;  // last: it uses the others
};

/// Opens the file. Throws Error(CannotCreate) where another program has locked it or it cannot be opened for
/// writing, Error(Io) where it cannot be read or written.
std::unique_ptr<FileOutbox> make_outbox(const OutboxSettings& settings);

/// Opens the outbox of a path, or joins the one that this process has.
std::shared_ptr<Outbox> open_outbox(const OutboxSettings& settings);

}  // namespace contorno::outbox
