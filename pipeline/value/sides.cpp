#include "pipeline/value/sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace contorno {

void check_sides(const ImageFormat& format, std::string_view what) {
  const auto allowed = [](int side) { return side >= 1 && side <= kMaxSide; };
  if (!allowed(format.width) || !allowed(format.height) || !allowed(format.channels))
    throw Error(ExitCode::BadConfig,
                fmt::format("{} would have {}x{} px and {} channels, allowed are sides of 1 to {} px and as "
                            "many channels",
                            what, format.width, format.height, format.channels, kMaxSide));
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  if (std::int64_t{std::max(format.width, format.height)} * format.channels > kMost)
    throw Error(ExitCode::BadConfig, fmt::format("{} would be {}, allowed are rows and columns of {} samples",
                                                 what, describe(format), kMost));
}

}  // namespace contorno
