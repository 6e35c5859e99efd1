#include "plugins/files/contours/cbor_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "pipeline/shared/printable.h"

namespace contorno {
namespace {

using nlohmann::json;

constexpr int kDeepest = 32;

/// IEEE 754 half precision, RFC 8949, appendix D.
double half_precision(std::uint64_t bits) {
  const auto exponent = static_cast<int>((bits >> 10) & 31);
  const auto mantissa = static_cast<double>(bits & 1023);
  constexpr int kInfinite = 31;
  double value = std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0)
    value = std::ldexp(mantissa, -24);
  else if (exponent != kInfinite)
    value = std::ldexp(mantissa + 1024, exponent - 25);
  else if (mantissa == 0)
    value = std::numeric_limits<double>::infinity();
  return (bits & 0x8000) != 0 ? -value : value;
}

/// A number as JSON has it: null for NaN and infinities.
json finite_or_null(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

}  // namespace

bool CborItems::next(json& item) {
  if (stream_.peek() == std::istream::traits_type::eof()) return false;
  item = value(0);
  return true;
}

json CborItems::value(int depth) {
  if (depth > kDeepest) refuse(fmt::format("values are nested deeper than {}", kDeepest));
  return value_of(byte(), depth);
}

json CborItems::value_of(std::uint8_t first, int depth) {
  enum : std::uint8_t { kUnsigned, kNegative, kBytes, kText, kArray, kMap, kTag, kSimple };
  const auto info = static_cast<std::uint8_t>(first & 31);
  const auto major = static_cast<std::uint8_t>(first >> 5);
  if (major == kSimple) return simple(info);
  const std::uint64_t count = argument(info);
  if (major == kUnsigned) return count;
  if (major == kNegative) {
    if (count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      refuse("a negative number has more than 64 bits");
    return -1 - static_cast<std::int64_t>(count);
  }
  if (major == kText) return bytes(count);
  if (major == kMap) return members(count, depth);
  if (major == kArray) {
    json array = json::array();
    for (std::uint64_t i = 0; i < count; ++i) array.push_back(value(depth + 1));
    return array;
  }
  if (major == kTag) {
    json tagged = value(depth + 1);
    if (tagged.is_binary()) tagged.get_binary().set_subtype(count);
    return tagged;
  }
  const std::string content = bytes(count);
  return json::binary(std::vector<std::uint8_t>(content.begin(), content.end()));
}

json CborItems::simple(std::uint8_t info) {
  enum : std::uint8_t { kFalse = 20, kTrue, kNull, kUndefined, kHalf = 25, kFloat, kDouble };
  switch (info) {
    case kFalse:
      return false;
    case kTrue:
      return true;
    case kNull:
    case kUndefined:
      return nullptr;
    case kHalf:
      return finite_or_null(half_precision(big_endian(2)));
    case kFloat:
      return finite_or_null(std::bit_cast<float>(static_cast<std::uint32_t>(big_endian(4))));
    case kDouble:
      return finite_or_null(std::bit_cast<double>(big_endian(8)));
    default:
      refuse(fmt::format("the simple value {} is not known", info));
  }
}

json CborItems::members(std::uint64_t count, int depth) {
  json map = json::object();
  for (std::uint64_t i = 0; i < count; ++i) {
    const json name = value(depth + 1);
    if (!name.is_string()) refuse(fmt::format("the name of a member is {}, wanted text", name.type_name()));
    const auto [member, is_new] = map.emplace(name.get_ref<const std::string&>(), nullptr);
    if (!is_new)
      refuse(fmt::format("a map has the member '{}' twice", printable(name.get_ref<const std::string&>())));
    *member = value(depth + 1);
  }
  return map;
}

std::uint8_t CborItems::byte() {
  const auto one = stream_.get();
  if (one == std::istream::traits_type::eof()) refuse("it is cut off");
  ++read_;
  return static_cast<std::uint8_t>(one);
}

std::uint64_t CborItems::big_endian(int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | byte();
  return value;
}

std::uint64_t CborItems::argument(std::uint8_t info) {
  constexpr std::uint8_t kOneByte = 24, kMost = 27;
  if (info < kOneByte) return info;
  if (info > kMost) refuse("lengths that are not known at the start are not taken");
  return big_endian(1 << (info - kOneByte));
}

/// Reads in pieces, so that a length that is a lie takes no memory.
std::string CborItems::bytes(std::uint64_t count) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 16;
  std::string content;
  while (content.size() < count) {
    const std::size_t before = content.size();
    const auto piece = static_cast<std::size_t>(std::min(kPiece, count - before));
    content.resize(before + piece);
    stream_.read(content.data() + before, static_cast<std::streamsize>(piece));
    if (stream_.gcount() != static_cast<std::streamsize>(piece)) refuse("it is cut off");
  }
  read_ += count;
  return content;
}

void CborItems::refuse(const std::string& what) const {
  throw Error(ExitCode::BadData, fmt::format("'{}', byte {}: this is not CBOR as contorno writes it: {}",
                                             printable(name_), read_, what));
}

}  // namespace contorno
