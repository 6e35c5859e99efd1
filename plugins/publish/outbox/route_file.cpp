// What a route reads of an outbox, and what anybody may read of one that is not written.
#include <fmt/format.h>

#include <algorithm>

#include "plugins/publish/outbox/outbox_file.h"
#include "plugins/publish/outbox/planted.h"

namespace contorno::outbox {
namespace {

std::string quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

/// Rows get one id after the other, and go from the first one on when a route has brought them away.
void find_missing_rows(Database& database, const std::function<void(const std::string&)>& fault) {
  const std::int64_t rows = database.number("SELECT count(*) FROM messages"),
                     kept = database.number("SELECT seq FROM sqlite_sequence WHERE name = 'messages'"),
                     brought = database.number("SELECT max(id) FROM cursors"),
                     last = database.number("SELECT max(id) FROM messages"),
                     first = rows > 0 ? database.number("SELECT min(id) FROM messages") : kept + 1;
  if (first > brought + 1)
    fault(fmt::format("{} rows are missing before the first one, and no route has brought them away",
                      first - brought - 1));
  if (rows == 0) return;
  if (const std::int64_t missing = last - first + 1 - rows; missing > 0)
    fault(fmt::format("{} rows are missing between the first and the last", missing));
  if (last < kept) fault(fmt::format("{} rows are missing behind the last one", kept - last));
}

}  // namespace

RouteFile::RouteFile(const OutboxSettings& settings, const std::string& route, std::mutex& writing)
    : route_(route),
      writing_(writing),
      database_(settings.path, Access::Write),
      removed_at_once_(std::clamp<std::uint64_t>(settings.max_bytes >> 17, 8, 64)) {
  // A cursor that is lost by a power cut gives duplicates, which are allowed. What is brought away makes the
  // write-ahead log longer, too.
  database_.run(fmt::format("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = {}",
                            log_pages(settings.max_bytes))
                    .c_str());
  std::string routes;
  for (const RouteSpec& one : settings.routes) routes += (routes.empty() ? "" : ", ") + quoted(one.name);
  oldest_cursor_ = fmt::format("SELECT min(id) FROM cursors WHERE route IN ({})", routes);
  Statement cursor(database_, "SELECT id FROM cursors WHERE route = ?");
  cursor.bind(1, std::string_view(route_));
  cursor_ = cursor.step() ? cursor.number(0) : 0;
}

std::vector<RouteFile::Row> RouteFile::next(std::size_t most) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  std::vector<Row> rows;
  std::size_t bytes = 0;
  // Read to the end at once: a reader that stays in a transaction lets the write-ahead log grow.
  Statement behind(database_,
                   "SELECT id, run, camera, n, kind, body FROM messages WHERE id > ? ORDER BY id LIMIT ?");
  behind.bind(1, cursor_).bind(2, most);
  const auto has_next = [&] {
    try {
      return behind.step();
    } catch (const DatabaseError&) {  // damage: what was read before it goes first
      if (rows.empty()) throw;
      return false;
    }
  };
  while (bytes < kMostBytes && has_next()) {
    rows.push_back({.id = behind.number(0),
                    .run = behind.number(1),
                    .n = behind.number(3),
                    .camera = std::string(behind.text(2)),
                    .kind = std::string(behind.text(4)),
                    .body = std::string(behind.text(5))});
    bytes += rows.back().body.size();
  }
  return rows;
}

void RouteFile::moved_to(std::uint64_t id) {
  cursor_ = id;
  {
    const std::lock_guard lock(writing_);
    Statement(database_, "UPDATE cursors SET id = ? WHERE route = ?")
        .bind(1, id)
        .bind(2, std::string_view(route_))
        .step();
  }
  while (remove_some()) continue;
}

/// Some rows that every route has, few enough for the log to keep its size. True: there may be more.
bool RouteFile::remove_some() {
  const std::lock_guard lock(writing_);
  Statement(database_,
            fmt::format("DELETE FROM messages WHERE id IN (SELECT id FROM messages WHERE id <= ({})"
                        " ORDER BY id LIMIT {})",
                        oldest_cursor_, removed_at_once_)
                .c_str())
      .step();
  return static_cast<std::uint64_t>(sqlite3_changes(database_.handle())) == removed_at_once_;
}

void RouteFile::set_aside(const Row& row, const std::string& reason) {
  const std::lock_guard lock(writing_);
  Statement aside(database_, "INSERT INTO refused VALUES(?, ?, ?, ?, ?, ?)");
  aside.bind(1, std::string_view(route_))
      .bind(2, row.run)
      .bind(3, std::string_view(row.camera))
      .bind(4, row.n);
  aside.bind(5, std::string_view(reason)).bind_bytes(6, row.body).step();
}

void read_outbox(const std::string& path, const std::function<void(const KeptMessage&)>& take,
                 const std::function<void(const std::string&)>& fault) {
  try {
    Database database(path, Access::Read);
    database.run("BEGIN");  // a run may be writing: all of one moment
    Statement rows(database,
                   "SELECT run, camera, n, kind, first, last, body FROM messages ORDER BY run, camera, n");
    while (rows.step())
      take({.run = rows.number(0),
            .camera = std::string(rows.text(1)),
            .kind = std::string(rows.text(3)),
            .n = rows.number(2),
            .first = rows.number(4),
            .last = rows.number(5),
            .body = std::string(rows.text(6))});
    find_missing_rows(database, fault);
  } catch (const DatabaseError& error) {
    throw Error(ExitCode::BadData, fmt::format("'{}' is no outbox that can be read: {}", path, error.what()));
  }
}

}  // namespace contorno::outbox
