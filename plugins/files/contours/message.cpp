#include "plugins/files/contours/message.h"

#include <nlohmann/json.hpp>

#include "plugins/files/contours/utf8.h"

namespace contorno {
namespace {

using nlohmann::ordered_json;

std::string valid_utf8(std::string_view text) {
  std::string valid;
  for_each_utf8(text, [&](std::string_view one) { valid += one; });
  return valid;
}

ordered_json message_head(std::string_view kind, const MessageKey& key) {
  return {{"v", kMessageVersion}, {"kind", kind}, {"run", key.run}, {"camera", key.camera}, {"n", key.n}};
}

std::string encoded(MessageForm form, const ordered_json& message) {
  std::string bytes;
  switch (form) {
    case MessageForm::Json:
      return message.dump();
    case MessageForm::Cbor:
      ordered_json::to_cbor(message, bytes);
      return bytes;
  }
  return bytes;
}

}  // namespace

std::string failed_message(MessageForm form, const MessageKey& key, std::uint64_t frame,
                           std::string_view error) {
  ordered_json message = message_head(kFailedKind, key);
  message["frame"] = frame;
  message["error"] = valid_utf8(error);
  return encoded(form, message);
}

std::string gap_message(MessageForm form, const MessageKey& key, const MessageGap& gap) {
  ordered_json message = message_head(kGapKind, key);
  message["from"] = gap.from;
  message["to"] = gap.to;
  message["reason"] = gap.reason;
  return encoded(form, message);
}

std::string run_start_message(MessageForm form, const MessageKey& key, const MessageRunStart& start) {
  ordered_json message = message_head(kRunStartKind, key);
  message["utc_ns"] = start.utc_ns;
  message["graph"] = start.graph;
  message["version"] = start.version;
  message["source"] = valid_utf8(start.source);
  if (!start.fallback.empty()) message["fallback"] = valid_utf8(start.fallback);
  return encoded(form, message);
}

std::string run_end_message(MessageForm form, const MessageKey& key, const MessageRunEnd& end) {
  ordered_json message = message_head(kRunEndKind, key);
  message["utc_ns"] = end.utc_ns;
  message["crashed"] = end.crashed;
  message["frames"] = end.frames;
  message["last_n"] = end.last_n;
  message["last_frame"] = end.frames > 0 ? ordered_json(end.frames - 1) : ordered_json(nullptr);
  return encoded(form, message);
}

std::string camera_message(MessageForm form, const MessageKey& key, const MessageCamera& camera) {
  ordered_json message = message_head(kCameraKind, key);
  message["utc_ns"] = camera.utc_ns;
  message["state"] = camera.state;
  message["quality"] = {{"level", camera.level}};
  return encoded(form, message);
}

}  // namespace contorno
