#include "tools/commands/frame_choice.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "tools/commands/number_options.h"

namespace contorno {

void FrameChoice::set(SourceSpec& source) const {
  if (every) set_source_param(source, "every", *every);
  if (start) set_source_param(source, "start", *start);
  if (live) set_source_param(source, "live", true);
}

std::int64_t FrameChoice::expected(std::int64_t frame_count) const {
  const auto most = static_cast<std::int64_t>(frames);
  if (most == 0 || frame_count < 0) return most > 0 ? most : frame_count;
  return std::min(most, frame_count);
}

void add_frame_choice(CLI::App& command, FrameChoice& choice) {
  add_whole_number(command, "--frames", 0, kUnbounded, "Stop after so many frames; 0 = at the end",
                   [&choice](std::int64_t number) { choice.frames = static_cast<std::uint64_t>(number); });
  add_whole_number(command, "--start", 0, kUnbounded, "Leave out so many frames at the beginning",
                   [&choice](std::int64_t number) { choice.start = number; });
  add_whole_number(command, "--every", 1, kUnbounded, "Take every N-th frame",
                   [&choice](std::int64_t number) { choice.every = number; });
  command.add_flag(
      "--live", choice.live,
      "Frames come at the rate they were recorded at, as from a camera: who is not ready misses them");
}

}  // namespace contorno
