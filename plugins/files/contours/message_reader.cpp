#include "plugins/files/contours/message_reader.h"

#include <fmt/format.h>

#include <sstream>

#include "base/error.h"
#include "pipeline/shared/printable.h"
#include "plugins/files/contours/cbor_items.h"
#include "plugins/files/contours/message.h"

namespace contorno {
namespace {

using nlohmann::json;

[[noreturn]] void refuse_message(const std::string& name, const std::string& what) {
  throw Error(ExitCode::BadData, fmt::format("'{}' is no message of contorno: {}", printable(name), what));
}

json parse_message(std::string_view body, const std::string& name) {
  json message;
  if (body.starts_with('{')) {
    message = json::parse(body, nullptr, false);
  } else {
    std::istringstream stream{std::string(body)};
    CborItems items(stream, name);
    if (!items.next(message)) refuse_message(name, "it is empty");
    if (stream.peek() != std::istringstream::traits_type::eof())
      refuse_message(name, "something follows behind it");
  }
  if (!message.is_object()) refuse_message(name, "it is no object");
  return message;
}

std::uint64_t number_of(const json& message, const char* member, const std::string& name) {
  const auto found = message.find(member);
  if (found == message.end() || !found->is_number_unsigned())
    refuse_message(name, fmt::format("'{}' is no whole number from 0", member));
  return found->get<std::uint64_t>();
}

std::string text_in(const json& message, const char* member, const std::string& name) {
  const auto found = message.find(member);
  if (found == message.end() || !found->is_string())
    refuse_message(name, fmt::format("'{}' is no text", member));
  return found->get<std::string>();
}

}  // namespace

MessageFacts read_message(std::string_view body, const std::string& name) {
  const json message = parse_message(body, name);
  if (const std::uint64_t version = number_of(message, "v", name); version != kMessageVersion)
    refuse_message(name, fmt::format("its version is {}, known is {}", version, kMessageVersion));
  MessageFacts facts{.run = number_of(message, "run", name),
                     .n = number_of(message, "n", name),
                     .camera = text_in(message, "camera", name),
                     .kind = text_in(message, "kind", name)};
  if (facts.kind == kFrameKind || facts.kind == kFailedKind) {
    facts.first = facts.last = number_of(message, "frame", name);
  } else if (facts.kind == kGapKind) {
    facts.first = number_of(message, "from", name), facts.last = number_of(message, "to", name);
    if (facts.first > facts.last) refuse_message(name, "its gap ends before it begins");
  } else if (facts.kind == kRunEndKind) {
    facts.frames = number_of(message, "frames", name);
    facts.crashed = message.value("crashed", false);
  }
  return facts;
}

}  // namespace contorno
