#include "tools/array_image.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "plugins/files/arrays/array_file.h"
#include "tools/say.h"

namespace contorno {

ImageView image_of(NpyArray& array, const std::string& name) {
  const auto shape = array.header.shape();
  const std::size_t sides = shape.size();
  const bool flat = std::all_of(shape.begin(),
                                shape.end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(sides)),
                                [](std::uint64_t side) { return side == 1; });
  if (sides < 2 || !flat || shape[sides - 2] > kMaxSide || shape[sides - 1] > kMaxSide)
    throw Error(ExitCode::BadData, fmt::format("{}: the array is {}, wanted two dimensions of 2 to {}", name,
                                               describe(array.header), kMaxSide));
  const auto width = static_cast<int>(shape[sides - 1]), height = static_cast<int>(shape[sides - 2]);
  const ElementType type = array.header.type;
  return {array.data.data(),
          {width, height, 1, type, Layout::Interleaved, {}},
          static_cast<std::ptrdiff_t>(static_cast<std::size_t>(width) * element_size(type)),
          0};
}

NpyArray read_mask(const std::string& path) {
  std::string odd;
  NpyArray mask = read_array(path, odd);
  warn(odd);
  if (!mask.header.boolean)
    throw Error(ExitCode::BadData,
                fmt::format("{}: the mask is {}, wanted bool", path, describe(mask.header)));
  return mask;
}

}  // namespace contorno
