// The errors of contorno: a sentence for the user and the exit code that goes with it (sysexits style).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace contorno {

enum class ExitCode : std::uint8_t {
  Ok = 0,
  Usage = 2,
  FramesFailed = 3,  ///< finished, but some frames failed or never came
  BadOption = 64,
  BadData = 65,
  MissingInput = 66,
  Unavailable = 69,  ///< a device or service that was asked for by name is not there
  Internal = 70,     ///< our bug, or a device in an unusable state
  OutOfMemory = 71,
  CannotCreate = 73,
  Io = 74,
  BadConfig = 78,
  Interrupted = 130,
  Terminated = 143,
};

/// The exception that contorno throws. `what()` is a sentence that says what was given, what is allowed and
/// where.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// A contradiction inside contorno: always our bug, and the message says so.
class InternalError : public Error {
 public:
  explicit InternalError(const std::string& what)
      : Error(ExitCode::Internal, what + " (this is a bug in contorno; please report it)") {}
};

}  // namespace contorno
