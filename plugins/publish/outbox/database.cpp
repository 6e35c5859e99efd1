#include "plugins/publish/outbox/database.h"

#include <fmt/format.h>

namespace contorno::outbox {
namespace {

constexpr int kBusyMilliseconds = 10'000;

}  // namespace

Database::Database(const std::string& path, Access access) : path_(path) {
  const int flags =
      (access == Access::Write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) |
      SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr);
  if (code != SQLITE_OK) {
    const DatabaseError error(code, fmt::format("'{}' cannot be opened: {}", path, sqlite3_errmsg(handle_)));
    sqlite3_close(handle_);
    throw error;
  }
  sqlite3_busy_timeout(handle_, kBusyMilliseconds);
}

Database::~Database() {
  sqlite3_close(handle_);
}

void Database::run(const char* sql) {
  check(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr));
}

std::int64_t Database::number(const char* sql) {
  Statement statement(*this, sql);
  return statement.step() ? static_cast<std::int64_t>(statement.number(0)) : 0;
}

bool Database::empty_log() {
  constexpr int kShortMilliseconds = 100;
  sqlite3_busy_timeout(handle_, kShortMilliseconds);
  const int code = sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_timeout(handle_, kBusyMilliseconds);
  if (code != SQLITE_BUSY) check(code);
  return code != SQLITE_BUSY;
}

void Database::check(int code) const {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  throw DatabaseError(code, fmt::format("the outbox '{}' failed: {} ({})", path_, sqlite3_errmsg(handle_),
                                        sqlite3_errstr(code)));
}

Statement::Statement(Database& database, const char* sql) : database_(database) {
  database.check(sqlite3_prepare_v2(database.handle(), sql, -1, &handle_, nullptr));
}

Statement::~Statement() {
  sqlite3_finalize(handle_);
}

Statement& Statement::bind(int place, std::uint64_t value) {
  database_.check(sqlite3_bind_int64(handle_, place, static_cast<sqlite3_int64>(value)));
  return *this;
}

Statement& Statement::bind(int place, std::string_view text) {
  if (text.data() == nullptr) text = "";  // a null pointer would be bound as NULL
  database_.check(
      sqlite3_bind_text(handle_, place, text.data(), static_cast<int>(text.size()), SQLITE_STATIC));
  return *this;
}

Statement& Statement::bind_bytes(int place, std::string_view bytes) {
  if (bytes.data() == nullptr) bytes = "";
  database_.check(sqlite3_bind_blob64(handle_, place, bytes.data(), bytes.size(), SQLITE_STATIC));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  sqlite3_reset(handle_);
  database_.check(code);
  return false;
}

void Statement::reset() {
  sqlite3_reset(handle_);
}

std::uint64_t Statement::number(int column) const {
  return static_cast<std::uint64_t>(sqlite3_column_int64(handle_, column));
}

std::string_view Statement::text(int column) const {
  const auto* const data = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  return {data, data != nullptr ? static_cast<std::size_t>(sqlite3_column_bytes(handle_, column)) : 0};
}

Transaction::~Transaction() {
  if (is_open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.run("COMMIT");
  is_open_ = false;
}

}  // namespace contorno::outbox
