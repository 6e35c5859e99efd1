#include "plugins/publish/outbox/outbox_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "plugins/publish/outbox/planted.h"

namespace contorno::outbox {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPageBytes = 4096;
constexpr std::int64_t kFormat = 1;  // user_version of the file

std::uint64_t unix_ms() {
  using std::chrono::milliseconds;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count());
}

constexpr const char* kTables =
    "CREATE TABLE IF NOT EXISTS runs(run INTEGER, camera TEXT, last_n INTEGER, frames INTEGER, ended INTEGER,"
    " PRIMARY KEY(run, camera)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS messages(id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER, camera TEXT,"
    " n INTEGER, kind TEXT, first INTEGER, last INTEGER, body BLOB, UNIQUE(run, camera, n));"
    "CREATE TABLE IF NOT EXISTS cursors(route TEXT PRIMARY KEY, id INTEGER) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS refused(route TEXT, run INTEGER, camera TEXT, n INTEGER, reason TEXT, body "
    "BLOB);";

void bind_message(Statement& statement, std::uint64_t run, const OutboxMessage& message) {
  statement.bind(1, run).bind(2, std::string_view(message.camera)).bind(3, message.n);
  statement.bind(4, std::string_view(message.kind)).bind(5, message.first).bind(6, message.last);
  statement.bind_bytes(7, message.body);
}

void insert(Statement& statement, std::uint64_t run, const OutboxMessage& message) {
  bind_message(statement, run, message);
  statement.step();
}

constexpr const char* kInsert =
    "INSERT INTO messages(run, camera, n, kind, first, last, body) VALUES(?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertAgain =
    "INSERT INTO messages(run, camera, n, kind, first, last, body, id) VALUES(?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kNote =
    "INSERT INTO runs(run, camera, last_n, frames, ended) VALUES(?, ?, ?, ?, ?) ON CONFLICT(run, camera) DO"
    " UPDATE SET last_n = excluded.last_n, frames = max(frames, excluded.frames), ended = excluded.ended";

void note(Statement& statement, std::uint64_t run, const OutboxMessage& last, std::uint64_t frames) {
  statement.bind(1, run).bind(2, std::string_view(last.camera)).bind(3, last.n).bind(4, frames);
  statement.bind(5, std::uint64_t{last.kind == "run_end" ? 1U : 0U});
  statement.step();
}

/// A row of no camera, so that the number of a run is taken, whatever is kept of the run.
void take_number(Database& database, std::uint64_t run) {
  Statement statement(database, kNote);
  note(statement, run, {.kind = "run_end"}, 0);
}

}  // namespace

std::int64_t log_pages(std::uint64_t max_bytes) {
  constexpr std::int64_t kUsual = 1000, kFewest = 16;
  const auto part = static_cast<std::int64_t>(max_bytes / 16) / kPageBytes;
  return std::clamp(part, kFewest, kUsual);
}

FileLock::FileLock(const std::string& outbox) {
  const std::string path = outbox + ".lock";
  constexpr int kMode = 0644;
  file_ = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, kMode);
  if (file_ < 0)
    throw Error(ExitCode::CannotCreate, fmt::format("'{}' cannot be made: {}", path, std::strerror(errno)));
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return;
  const int why = errno;
  ::close(file_);
  throw Error(ExitCode::CannotCreate,
              why == EWOULDBLOCK
                  ? fmt::format("the outbox '{}' belongs to another process, which is running; give this one "
                                "another path",
                                outbox)
                  : fmt::format("'{}' cannot be locked: {}", path, std::strerror(why)));
}

FileLock::~FileLock() {
  ::close(file_);
}

OutboxFile::OutboxFile(const OutboxSettings& settings, std::mutex& writing)
    : settings_(settings), writing_(writing) {
  const std::lock_guard lock(writing_);
  open_or_replace();
}

void OutboxFile::open_or_replace() {
  try {
    open();
  } catch (const DatabaseError& error) {
    if (!error.is_corrupt()) throw;
    move_aside();
    open();
  }
}

void OutboxFile::open() {
  database_ = std::make_unique<Database>(settings_.path, Access::Write);
  database_->run(fmt::format("PRAGMA page_size = {}; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = "
                             "WAL; PRAGMA synchronous = {};"
                             "PRAGMA wal_autocheckpoint = {}; PRAGMA journal_size_limit = {};",
                             kPageBytes, settings_.sync_full ? "FULL" : "NORMAL",
                             log_pages(settings_.max_bytes), log_pages(settings_.max_bytes) * kPageBytes)
                     .c_str());
  const std::int64_t format = database_->number("PRAGMA user_version");
  if (format > kFormat)
    throw Error(
        ExitCode::CannotCreate,
        fmt::format("the outbox '{}' was made by a newer contorno (its format is {}, this one writes {})",
                    settings_.path, format, kFormat));
  database_->run(kTables);
  database_->run(fmt::format("PRAGMA user_version = {}", kFormat).c_str());
  add_cursors();
  // Damage in the pages that are looked at first is found here, other damage where it is met.
  database_->number("SELECT count(*) FROM runs");
  database_->number("SELECT max(id) FROM messages");
}

/// Before any route moves its own: a message that one route has is kept for the others. A new route begins
/// with the oldest message that is kept.
void OutboxFile::add_cursors() {
  Statement added(
      *database_,
      "INSERT OR IGNORE INTO cursors(route, id) SELECT ?, coalesce((SELECT min(id) - 1 FROM messages), "
      "(SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0)");
  for (const RouteSpec& route : settings_.routes) added.bind(1, std::string_view(route.name)).step();
}

void OutboxFile::move_aside() {
  database_.reset();
  dropped_up_to_ = 0;  // ids begin again
  const std::string aside = fmt::format("{}.corrupt-{}", settings_.path, unix_ms());
  std::error_code failed;
  fs::rename(settings_.path, aside, failed);
  if (failed)
    throw Error(ExitCode::Io, fmt::format("the outbox '{}' is damaged and cannot be moved aside: {}",
                                          settings_.path, failed.message()));
  for (const char* ending : {"-wal", "-shm"})
    fs::rename(settings_.path + ending, aside + ending, failed);  // may be absent
  if (settings_.tell)
    settings_.tell(
        {.severity = Severity::Error,
         .name = "outbox_damaged",
         .subject = aside,
         .fields = {{"outbox", settings_.path}, {"moved_to", aside}},
         .sentence = fmt::format("the outbox '{}' was damaged; it was moved to '{}', and a new one begun",
                                 settings_.path, aside)});
}

void OutboxFile::replace() {
  const std::lock_guard lock(writing_);
  move_aside();
  open();
}

std::uint64_t OutboxFile::begin_run() {
  const std::lock_guard lock(writing_);
  Transaction transaction(*database_);
  end_killed_runs();
  const auto last = static_cast<std::uint64_t>(database_->number("SELECT max(run) FROM runs"));
  std::uint64_t run = std::max(last + 1, unix_ms());
  if (is_planted("run goes back") && last > 0)
    run = static_cast<std::uint64_t>(database_->number("SELECT min(run) FROM runs")) - 1;
  take_number(*database_, run);
  transaction.commit();
  return run;
}

void OutboxFile::continue_run(std::uint64_t run) {
  const std::lock_guard lock(writing_);
  take_number(*database_, run);
}

void OutboxFile::end_killed_runs() {
  struct Killed {
    std::uint64_t run, last_n, frames;
    std::string camera;
  };
  std::vector<Killed> killed;
  Statement open(*database_,
                 "SELECT run, camera, last_n, frames FROM runs WHERE ended = 0 ORDER BY run, camera");
  while (open.step())
    killed.push_back({open.number(0), open.number(2), open.number(3), std::string(open.text(1))});
  Statement inserted(*database_, kInsert), noted(*database_, kNote);
  for (const Killed& one : killed) {
    OutboxMessage end{.camera = one.camera, .kind = "run_end", .n = one.last_n + 1};
    end.body = settings_.crashed_body(one.run, one.camera, end.n, one.frames);
    insert(inserted, one.run, end);
    note(noted, one.run, end, one.frames);
  }
}

void OutboxFile::keep(std::uint64_t run, std::span<const OutboxMessage> messages) {
  const std::lock_guard lock(writing_);
  if (is_planted("commit left out") && is_turn(20)) return;
  Transaction transaction(*database_);
  Statement inserted(*database_, kInsert), noted(*database_, kNote);
  for (const OutboxMessage& message : messages) {
    if (is_planted("gap left out") && message.kind == "gap") continue;
    if (is_planted("numbers swapped") && message.n % 100 == 50 && &message != &messages.back()) {
      OutboxMessage swapped = message;
      swapped.body = (&message + 1)->body;
      insert(inserted, run, swapped);
      note(noted, run, message, message.last + 1);
      continue;
    }
    insert(inserted, run, message);
    note(noted, run, message, message.first <= message.last ? message.last + 1 : 0);
  }
  transaction.commit();
}

std::uint64_t OutboxFile::last_id() {
  return static_cast<std::uint64_t>(
      database_->number("SELECT seq FROM sqlite_sequence WHERE name = 'messages'"));
}

/// Where there is none, the pages that rows have left are given back, some at a time: moving others into
/// their place is written to the log first.
OutboxFile::Room OutboxFile::room_for(std::uint64_t bytes, std::size_t messages) {
  const std::lock_guard lock(writing_);
  // Rows that do not fill their pages, and pages of the indexes.
  const auto needed =
      static_cast<std::int64_t>(bytes) / (kPageBytes - 4) + 2 * static_cast<std::int64_t>(messages) + 8;
  const auto free_pages = [&] { return database_->number("PRAGMA freelist_count"); };
  Room room = room_now(needed);
  for (std::int64_t free = free_pages(), before = free + 1; room != Room::Enough && free < before;) {
    // The write-ahead log keeps the size that it has had. Nothing is written while it cannot be emptied.
    if (!database_->empty_log()) return Room::Held;
    if ((room = room_now(needed)) == Room::Enough) break;
    database_->run("PRAGMA incremental_vacuum(16)");
    if (!database_->empty_log()) return Room::Held;
    room = room_now(needed);
    before = free, free = free_pages();
  }
  return room;
}

/// By how large file and write-ahead log will be at most, and what the disk has.
OutboxFile::Room OutboxFile::room_now(std::int64_t needed_pages) {
  constexpr std::int64_t kFrameBytes = kPageBytes + 24;
  const auto size_of = [](const std::string& path) {
    std::error_code absent;
    const auto bytes = fs::file_size(path, absent);
    return absent ? 0 : static_cast<std::int64_t>(bytes);
  };
  const std::int64_t pages = database_->number("PRAGMA page_count"),
                     free = database_->number("PRAGMA freelist_count");
  const std::int64_t file = (pages + std::max<std::int64_t>(0, needed_pages - free)) * kPageBytes;
  const std::int64_t log = size_of(settings_.path + "-wal") + needed_pages * kFrameBytes;
  const std::int64_t longest_log =
      std::max(log, (log_pages(settings_.max_bytes) + needed_pages) * kFrameBytes);
  if (static_cast<std::uint64_t>(file + longest_log) > settings_.max_bytes) return Room::None;
  // Where the disk is full to its last page, nothing can be taken out of the outbox: that is written first.
  constexpr std::int64_t kSpare = 1 << 20;
  std::error_code unknown;
  const auto disk = static_cast<std::int64_t>(fs::space(settings_.path, unknown).available);
  const std::int64_t growth =
      std::max<std::int64_t>(0, file - size_of(settings_.path)) + needed_pages * kFrameBytes;
  return unknown || growth + kSpare <= disk ? Room::Enough : Room::DiskFull;
}

bool OutboxFile::drop_oldest() {
  constexpr std::size_t kAtOnce = 32;
  const std::lock_guard lock(writing_);
  Transaction transaction(*database_);
  struct Dropped {
    std::uint64_t id, run;
    OutboxMessage message;
  };
  std::vector<Dropped> oldest;
  Statement frames(*database_,
                   "SELECT id, run, camera, n, first, last FROM messages WHERE id > ? AND kind = 'frame'"
                   " ORDER BY id LIMIT 32");
  frames.bind(1, dropped_up_to_);
  while (oldest.size() < kAtOnce && frames.step())
    oldest.push_back({frames.number(0),
                      frames.number(1),
                      {.camera = std::string(frames.text(2)),
                       .n = frames.number(3),
                       .first = frames.number(4),
                       .last = frames.number(5)}});
  frames.reset();
  // Taken out and put in again: SQLite joins pages that rows have left, and none that a row has shrunk in.
  Statement removed(*database_, "DELETE FROM messages WHERE id = ?");
  for (const Dropped& one : oldest) removed.bind(1, one.id).step();
  Statement inserted(*database_, kInsertAgain);
  for (Dropped& one : oldest) {
    one.message.kind = "gap";
    one.message.body = settings_.gap_body(one.run, one.message);
    bind_message(inserted, one.run, one.message);
    inserted.bind(8, one.id).step();
  }
  transaction.commit();
  if (!oldest.empty()) dropped_up_to_ = oldest.back().id;
  return !oldest.empty();
}

}  // namespace contorno::outbox
