#include "tools/apply_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "config/describe.h"
#include "pipeline/graph/applied.h"
#include "plugins/every_picture.h"
#include "plugins/files/arrays/array_file.h"
#include "plugins/files/arrays/npy.h"
#include "plugins/files/shared/file_names.h"
#include "tools/say.h"

namespace contorno {
namespace {

namespace fs = std::filesystem;

LoadedImage image_with_memory(const ImageFormat& format) {
  LoadedImage image;
  image.memory.resize(packed_bytes(format));
  image.view = packed_view(image.memory.data(), format);
  return image;
}

LoadedImage load_array(const std::string& path, Layout layout) {
  ArrayReader reader;
  const NpyHeader& header = reader.open(split_array_path(path), Pages::Stack, Pipes::Wait);
  const auto shape = header.shape();
  const auto allowed = [](std::uint64_t side) { return side >= 1 && side <= kMaxSide; };
  if (shape.size() < 2 || shape.size() > 3 || !std::all_of(shape.begin(), shape.end(), allowed))
    throw Error(
        ExitCode::BadData,
        fmt::format("{}: the array is {}, wanted H x W or {} with sides of 1 to {}", path, describe(header),
                    layout == Layout::Planar ? "C x H x W" : "H x W x C", kMaxSide));
  const auto side = [&](std::size_t i) { return static_cast<int>(shape[i]); };
  ImageFormat format{.type = header.type, .layout = layout};
  if (shape.size() == 2)
    format.height = side(0), format.width = side(1), format.channels = 1, format.layout = Layout::Interleaved;
  else if (layout == Layout::Planar)
    format.channels = side(0), format.height = side(1), format.width = side(2);
  else
    format.height = side(0), format.width = side(1), format.channels = side(2);
  LoadedImage image = image_with_memory(format);
  reader.read_image(0, image.view);
  warn(surplus_warning(header, path));
  return image;
}

PictureChannels channels_of(const Picture& picture) {
  bool opaque = true, grey = true;
  for (std::size_t i = 0; i < picture.pixels.size(); i += 4) {
    const std::uint8_t* pixel = &picture.pixels[i];
    opaque = opaque && pixel[3] == 255;
    grey = grey && pixel[0] == pixel[1] && pixel[1] == pixel[2];
  }
  if (!opaque) return PictureChannels::Rgba;
  return grey ? PictureChannels::Grey : PictureChannels::Rgb;
}

LoadedImage load_picture(const std::string& path, PictureChannels channels) {
  Picture picture;
  std::string error;
  if (!fs::exists(path)) throw Error(ExitCode::MissingInput, fmt::format("'{}' does not exist", path));
  PictureDecoder decoder(other_pictures());
  if (!decoder.decode(path, kDefaultMaxPixels, picture, error)) throw Error(ExitCode::BadData, error);
  if (channels == PictureChannels::Auto) channels = channels_of(picture);
  const int count = channels == PictureChannels::Grey ? 1 : channels == PictureChannels::Rgb ? 3 : 4;
  LoadedImage image =
      image_with_memory({.width = picture.width, .height = picture.height, .channels = count});
  const std::uint8_t* from = picture.pixels.data();
  for (int y = 0; y < picture.height; ++y) {
    auto* to = image.view.row<std::uint8_t>(y);
    for (int x = 0; x < picture.width; ++x, from += 4, to += count) {
      // Grey of a coloured picture: BT.601 in integers; of a grey one the value itself.
      if (count == 1)
        *to = static_cast<std::uint8_t>((299 * from[0] + 587 * from[1] + 114 * from[2] + 500) / 1000);
      else
        std::copy_n(from, count, to);
    }
  }
  return image;
}

void save_npy(OutputFile file, const ImageView& image) {
  const ImageFormat& format = image.format;
  const std::size_t samples = static_cast<std::size_t>(format.width) *
                              static_cast<std::size_t>(format.height) *
                              static_cast<std::size_t>(format.channels);
  std::vector<std::byte> packed(samples * element_size(format.type));
  ImageView dense{.data = packed.data(), .format = format};
  dense.row_pitch = static_cast<std::ptrdiff_t>(format.row_bytes());
  dense.plane_pitch = dense.row_pitch * format.height;
  copy_image(image, dense);
  const auto h = static_cast<std::uint64_t>(format.height), w = static_cast<std::uint64_t>(format.width),
             c = static_cast<std::uint64_t>(format.channels);
  std::vector<std::uint64_t> shape{h, w};
  if (format.layout == Layout::Planar) shape.insert(shape.begin(), c);
  if (format.layout == Layout::Interleaved && c > 1) shape.push_back(c);
  write_npy(file, format.type, shape, packed.data());
}

const SinkType& picture_sink(const std::string& path, std::string_view name, const Catalog& catalog) {
  try {
    return config::sink_called(catalog, name);
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("'{}': {} (.npy and .tif are written all the same)", path, error.what()));
  }
}

}  // namespace

LoadedImage load_image(const std::string& path, Layout layout, PictureChannels channels) {
  const std::string extension = lower_extension(split_array_path(path).file);
  return extension == ".npy" || extension == ".npz" ? load_array(path, layout) : load_picture(path, channels);
}

void save_image(const std::string& path, const ImageView& image, const Catalog& catalog,
                OutputRegister& files, const std::string& owner) {
  const std::string extension = lower_extension(path);
  if (extension == ".npy") return save_npy(files.open(path, owner), image);
  const bool levels =
      extension == ".tif" || extension == ".tiff" || path.find("{level}") != std::string::npos;
  const SinkType& type = picture_sink(path, levels ? "mipmaps" : "images", catalog);
  const fs::path file = path;
  ParamSet params(type.params);
  params.set("path", file.filename().string());
  std::unique_ptr<Sink> sink;
  try {
    sink = type.make(params);
    SinkContext context;
    context.format = image.format;
    context.output_root = file.has_parent_path() ? file.parent_path().string() : ".";
    context.owner = owner;
    context.outputs = &files;
    sink->open(context);
  } catch (const Error& error) {
    if (error.code() != ExitCode::BadConfig) throw;
    throw Error(ExitCode::BadOption, fmt::format("{} (.npy and .tif take every image)", error.what()));
  }
  sink->write({}, image);
  sink->finish();
}

}  // namespace contorno
