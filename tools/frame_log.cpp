#include "tools/frame_log.h"

#include <fmt/format.h>

#include "tools/say.h"

namespace contorno {

void FrameLog::operator()(std::uint64_t frame, const std::string& sentence) {
  ++count_;
  const std::string who = camera_.empty() ? std::string() : camera_ + ": ";
  std::string said;
  if (count_ <= 5)
    said = fmt::format("{}frame {} {}: {}", who, frame, what_, sentence);
  else if (count_ == next_)
    said = fmt::format("{}{} frames {} so far, the last one {}: {}", who, count_, what_, frame, sentence);
  // The first few are worth a line each, however fast they come.
  if (!said.empty())
    tell({.severity = Severity::Warning,
          .camera = camera_,
          .name = "frame",
          .subject = std::to_string(count_),
          .fields = {{"frame", std::to_string(frame)},
                     {"what", std::string(what_)},
                     {"so_far", std::to_string(count_)},
                     {"reason", sentence}},
          .sentence = said});
  if (count_ == next_) next_ *= 10;
}

}  // namespace contorno
