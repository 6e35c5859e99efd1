// Reads CBOR (RFC 8949), item by item, as the values that the JSON of the same data has. Bytes become binary
// values, whose subtype is the tag before them: float32 arrays of RFC 8746 have 85.
#pragma once

#include <cstdint>
#include <istream>
#include <nlohmann/json.hpp>
#include <string>

namespace contorno {

inline constexpr std::uint64_t kFloat32Array = 85;  ///< little endian

class CborItems {
 public:
  /// `stream` is borrowed; `name` stands for it in messages.
  CborItems(std::istream& stream, std::string name) : stream_(stream), name_(std::move(name)) {}
  /// The next item; false at the end. Throws Error(BadData) with the byte where the stream is wrong: cut off,
  /// nested deeper than 32, or a map that has a member twice or whose member is no text.
  bool next(nlohmann::json& item);

 private:
  nlohmann::json value(int depth);
  nlohmann::json value_of(std::uint8_t first, int depth);
  nlohmann::json simple(std::uint8_t info);
  nlohmann::json members(std::uint64_t count, int depth);
  std::uint8_t byte();
  std::uint64_t big_endian(int bytes);
  std::uint64_t argument(std::uint8_t info);
  std::string bytes(std::uint64_t count);
  [[noreturn]] void refuse(const std::string& what) const;

  std::istream& stream_;
  std::string name_;
  std::uint64_t read_ = 0;  // bytes so far
};

}  // namespace contorno
