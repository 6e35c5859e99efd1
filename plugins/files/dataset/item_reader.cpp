#include "plugins/files/dataset/item_reader.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "pipeline/shared/module.h"

namespace contorno {
namespace {
constexpr int kMaxClasses = 256;

/// Whether the classes of a map with three sides come first. Classes are fewer than pixels.
bool are_classes_first(std::span<const std::uint64_t> shape, MapLayout layout) {
  if (layout != MapLayout::Auto) return layout != MapLayout::Hwc;
  return shape.size() < 3 || shape[0] < shape[2];
}
}  // namespace

bool ItemReader::open(const DatasetItem& item, std::string& error) {
  if (opened_) return true;
  frames_ = 1;
  if (!item.fault.empty()) {
    error = item.fault;
    return false;
  }
  if (!files_.has_maps) return opened_ = true;
  if (item.map.empty()) {
    error = fmt::format("frame '{}' has no map of the same name or number in '{}'", item.frame.string(),
                        files_.map_folder.string());
    return false;
  }
  try {
    const Pages pages = options_.layout == MapLayout::Chw ? Pages::Stack : Pages::Sequence;
    ArrayPath path = split_array_path(item.map.string());
    if (path.member.empty()) path.member = options_.member;
    const NpyHeader& header = reader_.open(path, pages);
    if (header.dimensions == 4) frames_ = header.sides[0];
  } catch (const ModuleError&) {  // of this machine, not of the file
    throw;
  } catch (const Error& caught) {
    error = caught.what();
    return false;
  }
  return opened_ = true;
}

bool ItemReader::prepare(const DatasetItem& item, std::string& error) {
  if (!open(item, error)) return false;
  try {
    formats_ = {.frame = {}, .maps = maps_format()};
  } catch (const Error& caught) {
    error = caught.what();
    return false;
  }
  if (files_.has_frames && !prepare_frame(item, error)) return false;
  return prepared_ = true;
}

std::optional<ImageFormat> ItemReader::maps_format() const {
  if (!files_.has_maps) return std::nullopt;
  const NpyHeader& header = reader_.header();
  const auto bad = [&](std::string_view what) {
    return Error(ExitCode::BadData, fmt::format("'{}' ({}) {}", reader_.name(), describe(header), what));
  };
  auto shape = header.shape();
  if (shape.size() < 2 || shape.size() > 4)
    throw bad("has no map's shape, allowed are 2 sides (one class), 3 (classes) and 4 (a sequence)");
  const bool is_told = reader_.bands_are_last();
  if (shape.size() > 2 && options_.layout == MapLayout::Undeclared && !is_told)
    throw bad("can be read in two ways; declare layout: chw or layout: hwc");
  if (shape.size() == 4) shape = shape.subspan(1);
  const bool planar = !is_told && are_classes_first(shape, options_.layout);
  const std::uint64_t channels = shape.size() == 2 ? 1 : shape[planar ? 0 : 2];
  const std::uint64_t height = shape[shape.size() == 3 && planar ? 1 : 0];
  const std::uint64_t width = shape[shape.size() == 3 && planar ? 2 : 1];
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide)
    throw bad(fmt::format("has sides of {} x {}, allowed are 1 to {} px", width, height, kMaxSide));
  if (channels < 1 || channels > kMaxClasses)
    throw bad(fmt::format("has {} classes when read as {}, allowed are 1 to {}; is the layout right?",
                          channels, planar ? "chw" : "hwc", kMaxClasses));
  if (header.dimensions == 4 && (header.sides[0] == 0 || header.fortran))
    throw bad("is a sequence that is empty or in Fortran order, allowed is C order");
  return ImageFormat{.width = static_cast<int>(width),
                     .height = static_cast<int>(height),
                     .channels = static_cast<int>(channels),
                     .type = header.type == ElementType::F64 ? ElementType::F32 : header.type,
                     .layout = planar ? Layout::Planar : Layout::Interleaved};
}

bool ItemReader::prepare_frame(const DatasetItem& item, std::string& error) {
  if (item.frame.empty()) {
    error = fmt::format("map '{}' has no frame of the same name or number in '{}'", item.map.string(),
                        files_.frame_folder.string());
    return false;
  }
  if (frames_ != 1) {
    error = fmt::format("'{}' is a sequence of {} maps, but frame '{}' is one; store a file a frame",
                        item.map.string(), frames_, item.frame.string());
    return false;
  }
  if (!decoder_(item.frame.string(), options_.max_pixels, pixels_, error)) return false;
  formats_.frame =
      ImageFormat{.width = pixels_.width, .height = pixels_.height, .channels = kPictureChannels};
  // The map covers the whole frame, whatever its resolution.
  if (formats_.maps)
    formats_.maps->placement = {.scale_x = static_cast<double>(pixels_.width) / formats_.maps->width,
                                .scale_y = static_cast<double>(pixels_.height) / formats_.maps->height};
  return true;
}

void ItemReader::read(std::uint64_t index, FrameInput& input) {
  if (formats_.maps) {
    reader_.read_image(index, input.maps);
    // Once a file, with its first item.
    if (index == 0 && reader_.header().surplus != 0)
      input.warning = surplus_warning(reader_.header(), reader_.name());
  }
  if (!formats_.frame) return;
  const std::size_t row_bytes = input.frame.format.row_bytes();
  for (int y = 0; y < input.frame.format.height; ++y)
    std::memcpy(input.frame.row<std::uint8_t>(y),
                pixels_.pixels.data() + static_cast<std::size_t>(y) * row_bytes, row_bytes);
}

}  // namespace contorno
