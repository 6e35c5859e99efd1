// The source `dataset`: class maps from .npy files, with or without the frames that they were computed from.
//
//   FOLDER/maps/00000.npy ...     or FOLDER/*.npy, or one .npy file; in natural order of names
//   FOLDER/frames/00000.png ...   matched by the same name without extension, or the same leading number
//
// A file holds one frame's maps, C x H x W or H x W x C as declared, H x W for one class, or a sequence of
// them with one side more in front (then without frames). Each may have its own size: the format then
// changes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/source.h"

namespace contorno {

/// A decoded frame: U8, interleaved, red green blue alpha, rows without gaps.
struct FramePixels {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;
};

/// Decodes an image file; false with a sentence that names the file when it cannot. Keeps `out`'s memory
/// where possible. Called by the thread that opens the source and then by the one that reads it.
using FrameDecoder = std::function<bool(const std::string& path, FramePixels& out, std::string& error)>;

/// The declaration. Without a decoder, folders with frames are refused unless `frames: false` is set.
SourceType dataset_source(FrameDecoder decoder);

/// Digits compare by value: map2 comes before map10.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace contorno
