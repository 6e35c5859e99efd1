// Frames of NV12 in memory of the device (a plane of brightness, and one of half its size with pairs of
// chroma): made RGBA for the graph, and what the graph has drawn put back. The arithmetic is that of
// GStreamer's GstVideoConverter with its default options, so a frame on the device gives the bits of the same
// frame in memory of the host. Knows nothing of GStreamer. Asynchronous, in the order of `stream`
// (cudaStream_t); memory belongs to the caller. Throws Error(Internal) when the device failed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "pipeline/value/image.h"

namespace contorno::gst {

/// The planes of a frame. A pair of chroma (Cb, Cr) belongs to 2 x 2 px; pitches are in bytes.
struct Nv12Planes {
  std::uint8_t* luma = nullptr;
  std::uint8_t* chroma = nullptr;
  std::ptrdiff_t luma_pitch = 0, chroma_pitch = 0;
  int width = 0, height = 0;  ///< px
};

/// How colours are converted. Factors and offsets are in 256ths.
struct Nv12Colours {
  /// Whether a pair of chroma lies on the first pixel of its two, else between both; across and down.
  bool cosited_x = false, cosited_y = false;
  /// Factors of Y; of Cr for red; of Cb for blue; of Cb and of Cr for green.
  std::array<std::int16_t, 5> to_rgb{};
  /// For Y, Cb and Cr: the factors of red, green and blue, and the offset.
  std::array<std::array<int, 4>, 3> to_yuv{};
  /// Whether some colour has no place within 8 bits; then the converter takes another way, with other bits.
  bool clips = false;
};

/// Writes the frame as RGBA to `to`.
void convert_from_nv12(const Nv12Planes& from, const Nv12Colours& colours, const ImageView& to, void* stream);
/// Writes to `to` the pixels of `after` that differ from `before`, both RGBA; a pair of chroma is written
/// when one of its pixels differs.
void draw_into_nv12(const ImageView& before, const ImageView& after, const Nv12Colours& colours,
                    const Nv12Planes& to, void* stream);

}  // namespace contorno::gst
