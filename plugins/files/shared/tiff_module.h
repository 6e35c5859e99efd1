// The table of functions that the module tiff gives the library, for reading and writing TIFF files.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "pipeline/value/image.h"

namespace contorno {

struct LevelEncoding;  // plugins/files/levels/writer.h
class TiffFile;        // plugins/files/pictures/tiff.h

struct TiffModule {
  std::unique_ptr<TiffFile> (*open)(const std::string& path);                               ///< open_tiff
  std::string (*encode)(std::span<const ImageView> levels, const LevelEncoding& encoding);  ///< encode_tiff
};

/// Opens the module. Throws ModuleError, Error(OutOfMemory).
const TiffModule& tiff_module();

}  // namespace contorno
