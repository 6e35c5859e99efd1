// The functions of this folder, which becomes the module tiff: those of plugins/files/shared/tiff_module.h.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "plugins/files/levels/writer.h"
#include "plugins/files/pictures/tiff.h"

namespace contorno::tiff {

std::unique_ptr<TiffFile> open_file(const std::string& path);
std::string encode(std::span<const ImageView> levels, const LevelEncoding& encoding);

}  // namespace contorno::tiff
