// OpenFile owns the descriptor of a file that is read. Opening a named pipe does not block: it is refused,
// unless the caller wants to wait for a writer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"

namespace contorno {

/// Whether a pipe may take the place of a file: Wait blocks until somebody writes into it, as `cat` does.
enum class Pipes : std::uint8_t { Refuse, Wait };

class OpenFile {
 public:
  OpenFile() = default;
  /// Throws Error(MissingInput, Io), and Error(BadData) for anything but a regular file (or a pipe, where
  /// `pipes` allows one).
  explicit OpenFile(const std::string& path, Pipes pipes = Pipes::Refuse);
  ~OpenFile() { close(); }
  OpenFile(OpenFile&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), bytes_(other.bytes_), pipe_(other.pipe_) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    bytes_ = other.bytes_, pipe_ = other.pipe_;
    return *this;
  }

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  std::uint64_t bytes() const { return bytes_; }  ///< 0 of a pipe
  bool is_pipe() const { return pipe_; }
  /// Gives the descriptor to somebody else.
  int release() { return std::exchange(descriptor_, -1); }
  void close() noexcept;

 private:
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
  bool pipe_ = false;
};

/// "cannot read 'PATH': No such file or directory", with MissingInput or Io, for an errno.
Error read_error(const std::string& path, int error_number);

}  // namespace contorno
