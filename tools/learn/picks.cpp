#include "tools/learn/picks.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>

#include "base/error.h"

namespace contorno {
namespace {

/// All of `text` as a whole number from 0 on; -1 when it is none.
std::int64_t whole_number(std::string_view text) {
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

/// X,Y,W,H; false when it is anything else.
bool read_rectangle(std::string_view text, std::array<int, 4>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t comma = i + 1 < numbers.size() ? text.find(',') : text.size();
    if (comma == std::string_view::npos) return false;
    const std::int64_t value = whole_number(text.substr(0, comma));
    if (value < 0 || value > kMaxSide) return false;
    numbers[i] = static_cast<int>(value);
    text.remove_prefix(std::min(text.size(), comma + 1));
  }
  return numbers[2] > 0 && numbers[3] > 0;
}

}  // namespace

Pick parse_pick(const std::string& text) {
  Pick pick{.text = text};
  const std::size_t equals = text.rfind('=');
  std::array<int, 4> numbers{};
  if (equals != std::string::npos && read_rectangle(std::string_view(text).substr(equals + 1), numbers)) {
    pick.name = text.substr(0, equals);
    pick.x = numbers[0], pick.y = numbers[1], pick.width = numbers[2], pick.height = numbers[3];
    if (const std::size_t at = pick.name.rfind('@'); at != std::string::npos) {
      pick.frame = pick.name.substr(at + 1);
      pick.name.resize(at);
      if (pick.frame.empty()) pick.name.clear();
    }
  }
  if (pick.name.empty())
    throw Error(
        ExitCode::Usage,
        fmt::format("--pick {}: allowed is NAME=X,Y,W,H or NAME@FRAME=X,Y,W,H, where X,Y is the upper left "
                    "corner of a rectangle in px and FRAME a frame's number from 0 or a picture's file name",
                    text));
  return pick;
}

bool lies_on(const Pick& pick, const FrameInfo& info) {
  if (pick.frame.empty()) return info.number == 0;
  if (!info.name.empty() &&
      (pick.frame == info.name || pick.frame == std::filesystem::path(info.name).stem().string()))
    return true;
  return whole_number(pick.frame) == static_cast<std::int64_t>(info.number);
}

void check_lies_within(const Pick& pick, int width, int height) {
  if (pick.x + pick.width <= width && pick.y + pick.height <= height) return;
  throw Error(ExitCode::BadOption,
              fmt::format("--pick {}: the rectangle ends at {},{}, beyond the frame of {} x {} px", pick.text,
                          pick.x + pick.width, pick.y + pick.height, width, height));
}

}  // namespace contorno
