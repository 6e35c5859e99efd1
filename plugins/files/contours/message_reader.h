// What a message says of itself, for who checks that none is missing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace contorno {

/// The key of a message, and the frame numbers that it accounts for: `first` to `last`; none where first >
/// last.
struct MessageFacts {
  std::uint64_t run = 0, n = 0;
  std::string camera{}, kind{};
  std::uint64_t first = 1, last = 0;
  std::uint64_t frames = 0;  ///< how many numbers a run_end says are accounted for
  bool crashed = false;      ///< whether a run_end says that the run was killed
};

/// Reads a message in JSON or CBOR, which are told apart by the first byte. `name` stands for it in what is
/// thrown: Error(BadData) for what is no message of version 1, or lacks a member of its kind.
MessageFacts read_message(std::string_view body, const std::string& name);

}  // namespace contorno
