#include "plugins/files/pictures/picture.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"

namespace contorno {

void check_picture_size(std::uint64_t width, std::uint64_t height, std::uint64_t max_pixels) {
  constexpr auto kSide = static_cast<std::uint64_t>(kMaxPictureSide);
  if (width >= 1 && height >= 1 && width <= kSide && height <= kSide && width * height <= max_pixels) return;
  throw Error(ExitCode::BadData,
              fmt::format("it is {}x{}, allowed are sides of 1 to {} px and {} pixels in all", width, height,
                          kMaxPictureSide, max_pixels));
}

void turn_upright(Picture& picture, ExifOrientation orientation, std::vector<std::uint8_t>& scratch) {
  if (orientation == ExifOrientation::Upright) return;
  using enum ExifOrientation;
  const bool transposed = orientation >= Transpose;
  const int width = transposed ? picture.height : picture.width;
  const int height = transposed ? picture.width : picture.height;
  // Where upright column x and row y lie in the stored picture, each counted from the other end or not.
  const bool from_right = orientation == MirrorHorizontally || orientation == Turn180 ||
                          orientation == AntiTranspose || orientation == TurnAnticlockwise;
  const bool from_bottom = orientation == Turn180 || orientation == MirrorVertically ||
                           orientation == AntiTranspose || orientation == TurnClockwise;
  scratch.resize(picture.pixels.size());
  std::uint8_t* to = scratch.data();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x, to += kPictureChannels) {
      const int column = transposed ? y : x, row = transposed ? x : y;
      const auto from_x = static_cast<std::size_t>(from_right ? picture.width - 1 - column : column);
      const auto from_y = static_cast<std::size_t>(from_bottom ? picture.height - 1 - row : row);
      const std::size_t at = from_y * static_cast<std::size_t>(picture.width) + from_x;
      std::memcpy(to, picture.pixels.data() + at * kPictureChannels, kPictureChannels);
    }
  picture.pixels.swap(scratch);
  picture.width = width, picture.height = height;
}

}  // namespace contorno
