#include "tools/frame_log.h"

#include <fmt/format.h>

#include "tools/say.h"

namespace contorno {

void FrameLog::operator()(std::uint64_t frame, const std::string& sentence) {
  ++count_;
  if (count_ <= 5)
    say(fmt::format("{}frame {} {}: {}", who_, frame, what_, sentence));
  else if (count_ == next_)
    say(fmt::format("{}{} frames {} so far, the last one {}: {}", who_, count_, what_, frame, sentence));
  if (count_ == next_) next_ *= 10;
}

}  // namespace contorno
