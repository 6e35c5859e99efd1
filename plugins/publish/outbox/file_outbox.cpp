#include "plugins/publish/outbox/file_outbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <utility>

#include "pipeline/shared/clock.h"
#include "pipeline/shared/resource_limits.h"

namespace contorno::outbox {
namespace {

constexpr const char* kDiskIsFull = "its disk has no room";

/// One try at the start: a broker that must not be used ends the run before a frame. One that does not answer
/// is waited for by its publisher.
void try_routes(const OutboxSettings& settings) {
  constexpr double kShort = 1000;  // ms
  for (const RouteSpec& route : settings.routes) {
    RouteTarget target = route.target;
    target.timeout_ms = kShort;
    try {
      route.module->connect(target);
    } catch (const Error& error) {
      if (error.code() == ExitCode::BadConfig) throw;
    }
  }
}

std::uint64_t bytes_of(const std::vector<OutboxMessage>& messages) {
  std::uint64_t bytes = 0;
  for (const OutboxMessage& one : messages) bytes += one.body.size();
  return bytes;
}

std::uint64_t bytes_of_file(const std::string& path) {
  std::error_code absent;
  const std::uintmax_t bytes = std::filesystem::file_size(path, absent);
  return absent ? 0 : bytes;
}

/// The outboxes of this process. A path stays here until its outbox has given the lock of the file back.
struct OpenOutboxes {
  std::mutex mutex;
  std::condition_variable closed;
  std::map<std::string, std::weak_ptr<Outbox>> by_path;

  void close(const FileOutbox* outbox, const std::string& path) {
    delete outbox;  // waits for its threads, others are opened meanwhile
    const std::lock_guard lock(mutex);
    by_path.erase(path);
    closed.notify_all();
  }
};

}  // namespace

FileOutbox::FileOutbox(const OutboxSettings& settings)
    : settings_(settings), lock_(settings_.path), file_(settings_, shared_.writing), run_(file_.begin_run()) {
  shared_.last_id = file_.last_id();
  shared_.kept.note(shared_.last_id, now_ns());
  for (const RouteSpec& route : settings_.routes)
    publishers_.push_back(std::make_unique<Publisher>(settings_, route, shared_));
  keeper_ = start_thread("outbox", [this] { keep_loop(); });
}

FileOutbox::~FileOutbox() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  queued_.notify_all();
  taken_.notify_all();
  keeper_.join();
  shared_.stop();  // all at once, so that their time-outs do not add up
  publishers_.clear();
}

void FileOutbox::begin(const std::string& camera) {
  const std::lock_guard lock(mutex_);
  if (!cameras_.insert(camera).second)
    throw Error(
        ExitCode::BadConfig,
        fmt::format("two sinks publish the camera '{}' to the outbox '{}'; give each another 'camera' or "
                    "another 'outbox'",
                    camera, settings_.path));
}

Outbox::Added FileOutbox::add(OutboxMessage message, const Patience& patience) {
  std::unique_lock lock(mutex_);
  const std::int64_t since = now_ns();
  Added added = Added::AtOnce;
  while (queue_.size() >= settings_.queue && failure_.empty()) {
    added = Added::Waited;
    // A full queue is no fault: it is waited for until the run is to end.
    if (patience.stops() && patience.ends(since))
      throw Error(ExitCode::Io,
                  fmt::format("the outbox '{}' has no room, and the run is to end", settings_.path));
    if (waits_for_room_) patience.note_wait();
    taken_.wait_for(lock, Patience::kLook);
  }
  if (!failure_.empty()) throw Error(ExitCode::Io, failure_);
  queue_.push_back(std::move(message));
  queued_.notify_one();
  return added;
}

bool FileOutbox::is_queue_full() const {
  const std::lock_guard lock(mutex_);
  return queue_.size() >= std::max<std::size_t>(1, settings_.queue - 1);
}

void FileOutbox::flush(const Patience& patience) {
  std::unique_lock lock(mutex_);
  const std::int64_t since = now_ns();
  while ((!queue_.empty() || in_work_ > 0) && failure_.empty()) {
    if (patience.stops() && patience.ends(since))
      throw Error(ExitCode::Io, fmt::format("the outbox '{}' has no room for the last {} messages",
                                            settings_.path, queue_.size() + in_work_));
    if (waits_for_room_) patience.note_wait();
    taken_.wait_for(lock, Patience::kLook);
  }
  if (!failure_.empty()) throw Error(ExitCode::Io, failure_);
}

std::uint64_t FileOutbox::waiting() const {
  std::uint64_t most = 0;
  for (const auto& publisher : publishers_) most = std::max(most, publisher->waiting());
  return most;
}

OutboxStatus FileOutbox::status() const {
  OutboxStatus status{.path = settings_.path,
                      .bytes = bytes_of_file(settings_.path) + bytes_of_file(settings_.path + "-wal"),
                      .max_bytes = settings_.max_bytes,
                      .takes_messages = !waits_for_room_};
  {
    const std::lock_guard lock(mutex_);
    status.takes_messages = status.takes_messages && failure_.empty();
  }
  for (const auto& publisher : publishers_) status.routes.push_back(publisher->status());
  return status;
}

void FileOutbox::keep_loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    // Damage that a route meets is looked for now and then, since no message may come any more.
    queued_.wait_for(lock, std::chrono::seconds(1), [&] { return closed_ || !queue_.empty(); });
    if (queue_.empty() && closed_) return;
    const std::vector<OutboxMessage> messages = take_some();
    in_work_ = messages.size();
    taken_.notify_all();
    lock.unlock();
    std::string failure;
    try {
      if (shared_.damaged > shared_.generation) begin_new_file();
      if (!messages.empty()) keep(messages);
    } catch (const std::exception& error) {
      failure = error.what();
    }
    lock.lock();
    in_work_ = 0;
    if (!failure.empty()) failure_ = failure, queue_.clear();
    taken_.notify_all();
    if (!failure_.empty()) return;
  }
}

/// What one commit keeps: a small part of the file. The mutex is held.
std::vector<OutboxMessage> FileOutbox::take_some() {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20, kParts = 32;
  const std::uint64_t most = std::min(kMostBytes, settings_.max_bytes / kParts);
  std::vector<OutboxMessage> messages;
  for (std::uint64_t bytes = 0; !queue_.empty() && (messages.empty() || bytes < most);) {
    bytes += queue_.front().body.size();
    messages.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return messages;
}

/// One commit; again where the file was damaged, locked or full.
void FileOutbox::keep(const std::vector<OutboxMessage>& messages) {
  for (int replaced = 0;;) {
    try {
      make_room(messages);
      file_.keep(run_, messages);
      waits_for_room_ = false;
      reason_said_.clear();
      break;
    } catch (const DatabaseError& error) {
      if (error.is_corrupt() && replaced++ == 0) {
        begin_new_file();
      } else if (error.is_full()) {
        wait_for_room(kDiskIsFull);
      } else if (error.is_locked()) {
        wait_for_room("another program has locked it");
      } else {
        throw;
      }
    }
  }
  {
    const std::lock_guard lock(shared_.mutex);
    shared_.last_id = file_.last_id();
    shared_.kept.note(shared_.last_id, now_ns());
  }
  shared_.changed.notify_all();
}

/// The run goes on in it, and every route with a new connection to it.
void FileOutbox::begin_new_file() {
  file_.replace();
  file_.continue_run(run_);
  {
    const std::lock_guard lock(shared_.mutex);
    shared_.last_id = file_.last_id();
    shared_.kept = {};  // ids begin again
  }
  ++shared_.generation;
}

void FileOutbox::make_room(const std::vector<OutboxMessage>& messages) {
  using Room = OutboxFile::Room;
  const auto look = [this, bytes = bytes_of(messages), count = messages.size()] {
    return file_.room_for(bytes, count);
  };
  for (Room room = look(); room != Room::Enough; room = look()) {
    if (room == Room::DiskFull) {
      wait_for_room(kDiskIsFull);
      continue;
    }
    // Dropping messages makes the log longer, and frees nothing while it is held.
    if (room == Room::Held) {
      wait_for_room("another program reads it, and does not end");
      continue;
    }
    if (!is_full_.exchange(true)) say_full();
    if (settings_.when_full == WhenFull::DropOldest && file_.drop_oldest()) continue;
    wait_for_room({});
  }
  is_full_ = false;
}

void FileOutbox::say_full() const {
  if (!settings_.tell) return;
  const bool drops = settings_.when_full == WhenFull::DropOldest;
  settings_.tell({.severity = Severity::Warning,
                  .name = "outbox_full",
                  .subject = settings_.path,
                  .fields = {{"outbox", settings_.path},
                             {"max_bytes", std::to_string(settings_.max_bytes)},
                             {"then", drops ? "drop_oldest" : "wait"}},
                  .sentence = fmt::format(
                      "the outbox '{}' is full ({} bytes allowed): {}", settings_.path, settings_.max_bytes,
                      drops ? "the oldest messages become gaps"
                            : "nothing is kept until routes have brought messages away")});
}

/// A look later it is tried again. `reason` is said once, until something is kept; it is empty where all is
/// said.
void FileOutbox::wait_for_room(const std::string& reason) {
  constexpr std::chrono::milliseconds kLook(100);
  waits_for_room_ = true;
  if (!reason.empty() && reason != std::exchange(reason_said_, reason) && settings_.tell)
    settings_.tell({.severity = Severity::Warning,
                    .name = "outbox_waits",
                    .subject = settings_.path,
                    .fields = {{"outbox", settings_.path}, {"reason", reason}},
                    .sentence = fmt::format("nothing is kept in the outbox '{}': {}; it is tried again",
                                            settings_.path, reason)});
  {
    const std::lock_guard lock(mutex_);
    if (closed_)
      throw Error(ExitCode::Io,
                  fmt::format("the outbox '{}' cannot keep the last messages ({}), and the run has ended",
                              settings_.path, reason.empty() ? "it is full" : reason));
  }
  std::unique_lock lock(shared_.mutex);
  shared_.changed.wait_for(lock, kLook);
}

/// What SQLite says of a file that cannot be opened, or that somebody has locked, is no failure of the disk.
std::unique_ptr<FileOutbox> make_outbox(const OutboxSettings& settings) {
  try {
    return std::make_unique<FileOutbox>(settings);
  } catch (const DatabaseError& error) {
    if (error.is_locked() || error.is_shut()) throw Error(ExitCode::CannotCreate, error.what());
    throw;
  }
}

std::shared_ptr<Outbox> open_outbox(const OutboxSettings& settings) {
  static OpenOutboxes open;
  std::unique_lock lock(open.mutex);
  for (auto found = open.by_path.find(settings.path); found != open.by_path.end();
       found = open.by_path.find(settings.path)) {
    if (std::shared_ptr<Outbox> outbox = found->second.lock()) return outbox;
    open.closed.wait(lock);
  }
  try_routes(settings);
  std::shared_ptr<Outbox> outbox(make_outbox(settings).release(),
                                 [path = settings.path](const FileOutbox* old) { open.close(old, path); });
  open.by_path[settings.path] = outbox;
  return outbox;
}

}  // namespace contorno::outbox
