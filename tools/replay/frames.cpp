#include "tools/replay/frames.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "pipeline/shared/printable.h"

namespace contorno {

namespace {

constexpr std::uint64_t kMostParts = 1'000'000;  // parts, and what a source's `every` may be

}  // namespace

Shard shard_of(std::string_view text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  if (index.ec == std::errc() && index.ptr != end && *index.ptr == '/') {
    const auto count = std::from_chars(index.ptr + 1, end, shard.count);
    if (count.ec == std::errc() && count.ptr == end && shard.index < shard.count && shard.count <= kMostParts)
      return shard;
  }
  throw Error(ExitCode::Usage, fmt::format("--shard is '{}', allowed PART/PARTS with up to {} parts and a "
                                           "part from 0 to PARTS - 1, as 0/8",
                                           printable(text), kMostParts));
}

std::uint64_t source_number(const SourceSpec& source, const char* name, std::uint64_t otherwise) {
  if (source.type->params.find(name) == nullptr) return otherwise;
  return static_cast<std::uint64_t>(std::get<std::int64_t>(source.params.get(name)));
}

FrameSelection select_frames(const SourceSpec& source, std::uint64_t start, std::uint64_t stop,
                             const Shard& shard) {
  const std::uint64_t begin = source_number(source, "start", 0), every = source_number(source, "every", 1);
  FrameSelection selection{
      .first = begin + (start + shard.index) * every, .step = every * shard.count, .stop = std::nullopt};
  if (selection.step > kMostParts)
    throw Error(ExitCode::Usage,
                fmt::format("--shard has {} parts, allowed are {} of a source with 'every: {}'", shard.count,
                            kMostParts / every, every));
  if (stop > 0) selection.stop = begin + stop * every;
  return selection;
}

}  // namespace contorno
