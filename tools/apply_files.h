// Reads and writes the images of `contorno apply` in files: pictures, and arrays as .npy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/graph/graph.h"
#include "plugins/files/shared/output_register.h"

namespace contorno {

/// How the channels of a picture are taken. Auto: RGBA where it has transparency, else RGB where it has
/// colour, else grey.
enum class PictureChannels : std::uint8_t { Auto, Grey, Rgb, Rgba };

/// An image with its memory.
struct LoadedImage {
  ImageView view;
  std::vector<std::byte> memory;
};

/// Reads a picture (u8), or an array from .npy or .npz: H x W, or H x W x C, or C x H x W when `layout` is
/// Planar. Throws Error(MissingInput, BadData, Io), and ModuleError where a picture needs a module.
LoadedImage load_image(const std::string& path, Layout layout, PictureChannels channels);

/// Writes .npy (any type; the layout that the image has), or a picture where the name ends in .png, .jpg or
/// .jpeg (u8 interleaved of 1, 3 or 4 channels), or all mipmap levels that the image holds where it ends in
/// .tif or has {level}. `owner` is what messages call the argument: "OUT". Throws Error(BadOption,
/// CannotCreate, Io).
void save_image(const std::string& path, const ImageView& image, const Catalog& catalog,
                OutputRegister& files, const std::string& owner);

}  // namespace contorno
