// SQLite behind three small classes: an open file, a prepared statement, a transaction. One connection is
// used by one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace contorno::outbox {

/// What SQLite refused, with its sentence.
class DatabaseError : public Error {
 public:
  DatabaseError(int sqlite_code, const std::string& sentence)
      : Error(ExitCode::Io, sentence), sqlite_code_(sqlite_code & 0xFF) {}
  /// The file's content is none of SQLite's, or damaged.
  bool is_corrupt() const { return sqlite_code_ == SQLITE_CORRUPT || sqlite_code_ == SQLITE_NOTADB; }
  /// The disk has no room.
  bool is_full() const { return sqlite_code_ == SQLITE_FULL; }
  /// Another program holds a lock of the file.
  bool is_locked() const { return sqlite_code_ == SQLITE_BUSY; }
  /// The file cannot be opened for writing.
  bool is_shut() const {
    return sqlite_code_ == SQLITE_CANTOPEN || sqlite_code_ == SQLITE_READONLY || sqlite_code_ == SQLITE_PERM;
  }

 private:
  int sqlite_code_;
};

enum class Access : std::uint8_t { Write, Read };

class Database {
 public:
  /// Opens the file, which Access::Write makes where it is missing. Throws DatabaseError.
  Database(const std::string& path, Access access);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Runs statements that give no rows.
  void run(const char* sql);
  /// The one number that a statement gives; 0 where it gives none.
  std::int64_t number(const char* sql);
  /// Copies the write-ahead log into the file and makes it empty. False: somebody who reads the file, and
  /// does not end soon, needs the log as it is.
  bool empty_log();
  /// Throws what `code` means, unless it is a success.
  void check(int code) const;
  sqlite3* handle() const { return handle_; }

 private:
  std::string path_;
  sqlite3* handle_ = nullptr;
};

/// A prepared statement; borrowed from a database that outlives it. Texts that are bound must stay valid
/// until the next reset.
class Statement {
 public:
  Statement(Database& database, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int place, std::uint64_t value);
  Statement& bind(int place, std::string_view text);
  Statement& bind_bytes(int place, std::string_view bytes);
  /// True: there is a row. A statement that is done, or throws, is reset, so that it holds no lock.
  bool step();
  void reset();
  /// The value of a column of the row; the first is 0. Views are valid until the next step.
  std::uint64_t number(int column) const;
  std::string_view text(int column) const;

 private:
  Database& database_;
  sqlite3_stmt* handle_ = nullptr;
};

/// Rolled back unless it is committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) { database_.run("BEGIN IMMEDIATE"); }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool is_open_ = true;
};

}  // namespace contorno::outbox
