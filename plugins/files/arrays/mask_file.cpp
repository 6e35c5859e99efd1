#include "plugins/files/arrays/mask_file.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "plugins/files/arrays/array_file.h"
#include "plugins/files/shared/file_names.h"
#include "stages/shared/sample_value.h"

namespace contorno {
namespace {

// Larger pictures are no masks, and are refused before memory is taken for them.
constexpr auto kMaxPixels = std::uint64_t{Mask::kMaxSide} * std::uint64_t{Mask::kMaxSide};

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ExitCode::BadData, sentence);
}

Mask from_array(const std::string& path) {
  ArrayReader reader;
  const NpyHeader header = reader.open(split_array_path(path), Pages::Stack, Pipes::Refuse, Numbers::Any);
  const auto shape = header.shape();
  constexpr auto kMost = std::uint64_t{Mask::kMaxSide};
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1 || shape[0] > kMost || shape[1] > kMost)
    refuse(fmt::format("{} holds {}, a mask has two sides of 1 to {}", path, describe(header), kMost));
  const NpyArray array = reader.read_whole();
  Mask mask{static_cast<int>(shape[1]), static_cast<int>(shape[0]), {}};
  const auto append = [&]<class T>() {
    for (const T value : array.as<T>()) mask.values.push_back(static_cast<double>(value));
  };
  switch (header.type) {
    case ElementType::U8:
      append.operator()<std::uint8_t>();
      return mask;
    case ElementType::U16:
      append.operator()<std::uint16_t>();
      return mask;
    case ElementType::F32:
      append.operator()<float>();
      return mask;
    case ElementType::F64:
      append.operator()<double>();
      return mask;
    case ElementType::F16:
      for (const Half value : array.as<Half>())
        mask.values.push_back(static_cast<double>(half_to_float(value)));
      return mask;
  }
  throw InternalError("unknown element type");
}

Mask from_image(const std::string& path, const FrameDecoder& decoder) {
  Picture frame;
  std::string error;
  if (!decoder) refuse(fmt::format("{} is no .npy or .npz file, and this program decodes no images", path));
  if (!decoder(path, kMaxPixels, frame, error)) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
      throw Error(ExitCode::MissingInput, fmt::format("there is no file {}", path));
    refuse(error);
  }
  Mask mask{frame.width, frame.height, {}};
  for (std::size_t at = 0; at + 3 < frame.pixels.size(); at += 4) {
    mask.values.push_back(
        std::round(0.299 * frame.pixels[at] + 0.587 * frame.pixels[at + 1] + 0.114 * frame.pixels[at + 2]));
    mask.colours.insert(mask.colours.end(), &frame.pixels[at], &frame.pixels[at] + 3);
  }
  return mask;
}

}  // namespace

SharedMask read_mask_file(const std::string& path, const FrameDecoder& decoder) {
  const std::string file = split_array_path(path).file, extension = lower_extension(file);
  const bool is_array = extension == ".npy" || extension == ".npz";
  auto mask = std::make_shared<Mask>(is_array ? from_array(path) : from_image(path, decoder));
  mask->text = path, mask->file = file;
  return mask;
}

}  // namespace contorno
