// The file of an outbox: its tables, and what is written to them. One process has it, by a lock on a file
// beside it; in the process a mutex lets one thread write at a time, each by its own connection.
//
//   runs      run, camera, last_n, frames, ended   what is kept of each camera in each run
//   messages  id, run, camera, n, kind, first, last, body
//   cursors   route, id                            up to where each route's broker has them
//   refused   route, run, camera, n, reason, body  what a broker will never take
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "plugins/publish/outbox.h"
#include "plugins/publish/outbox/database.h"

namespace contorno::outbox {

/// The lock of an outbox, until it is destroyed, however the process ends.
class FileLock {
 public:
  /// Throws Error(CannotCreate) when another process has it, or it cannot be made.
  explicit FileLock(const std::string& outbox);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int file_ = -1;
};

/// How many pages the write-ahead log of an outbox of this size may have before it is copied into the file.
std::int64_t log_pages(std::uint64_t max_bytes);

/// The connection of the one who keeps messages.
class OutboxFile {
 public:
  /// Opens the file or makes it, with a cursor for each route of the settings. One that is corrupt is moved
  /// aside and `say` is told its new name. Throws Error(Io).
  OutboxFile(const OutboxSettings& settings, std::mutex& writing);

  /// Begins a run; writes the run_end of every camera of runs that were killed.
  std::uint64_t begin_run();
  /// After the file was replaced in the middle of a run: keeps its number.
  void continue_run(std::uint64_t run);
  /// Keeps messages of the run: one transaction.
  void keep(std::uint64_t run, std::span<const OutboxMessage> messages);
  /// The id of the last message that was kept; ids grow by one.
  std::uint64_t last_id();
  enum class Room : std::uint8_t {
    Enough,
    None,
    DiskFull,
    Held,  ///< somebody reads the file, so that the write-ahead log cannot be made shorter
  };
  /// Whether messages of so many bytes in all can be kept below the limit, and the disk has a mebibyte more.
  Room room_for(std::uint64_t bytes, std::size_t messages);
  /// Makes the oldest messages of frames gaps. False: there is none left.
  bool drop_oldest();
  /// Closes the file, moves it aside and makes a new one.
  void replace();

 private:
  void open();
  void open_or_replace();
  Room room_now(std::int64_t needed_pages);
  void add_cursors();
  void move_aside();
  void end_killed_runs();

  const OutboxSettings& settings_;
  std::mutex& writing_;
  std::unique_ptr<Database> database_;
  std::uint64_t dropped_up_to_ = 0;  // the id of the last message that became a gap
};

/// What a route reads of the file, and where it is in it.
class RouteFile {
 public:
  /// The cursor of the route must be there: see OutboxFile. Throws DatabaseError.
  RouteFile(const OutboxSettings& settings, const std::string& route, std::mutex& writing);

  struct Row {
    std::uint64_t id = 0, run = 0, n = 0;
    std::string camera, kind, body;
  };
  /// The next messages behind the cursor, `most` of them or about a mebibyte.
  std::vector<Row> next(std::size_t most);
  /// Moves the cursor behind the row of this id, and removes what every route has.
  void moved_to(std::uint64_t id);
  void set_aside(const Row& row, const std::string& reason);
  /// The id of the last message that is behind it.
  std::uint64_t cursor() const { return cursor_; }

 private:
  bool remove_some();

  std::string route_;
  std::mutex& writing_;
  Database database_;
  std::uint64_t removed_at_once_;  // rows
  std::uint64_t cursor_ = 0;
  std::string oldest_cursor_;  // SQL: the least cursor of the routes that there are
};

/// See PublishModule::read.
void read_outbox(const std::string& path, const std::function<void(const KeptMessage&)>& take,
                 const std::function<void(const std::string&)>& fault);

}  // namespace contorno::outbox
