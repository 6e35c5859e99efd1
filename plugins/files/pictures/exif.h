// How a picture says that it is to be shown: the orientation that cameras and phones write instead of turning
// the picture. JPEG has it in an application segment, PNG in the chunk eXIf, WebP in the chunk EXIF,
// TIFF in a tag of its own.
// Source: CIPA DC-008 (Exif 2.32), 4.5.4 and 4.6.4; TIFF 6.0, section 2.
#pragma once

#include <cstdint>
#include <string_view>

namespace contorno {

/// What has to be done with the stored picture to see it upright; Exif's own numbers.
enum class ExifOrientation : std::uint8_t {
  Upright = 1,
  MirrorHorizontally = 2,
  Turn180 = 3,
  MirrorVertically = 4,
  Transpose = 5,         ///< mirror along the diagonal from the upper left
  TurnClockwise = 6,     ///< by 90 degrees
  AntiTranspose = 7,     ///< mirror along the diagonal from the upper right
  TurnAnticlockwise = 8  ///< by 90 degrees
};

/// The orientation in the Exif segment of `jpeg`, a whole file. Upright where there is none, or none that
/// makes sense: what a camera writes besides its picture never makes the picture unreadable.
ExifOrientation exif_orientation(std::string_view jpeg);
/// The orientation in a block of Exif alone, which is laid out as a TIFF file.
ExifOrientation tiff_orientation(std::string_view exif);
/// The orientation in the chunk EXIF of `webp`, a whole file.
ExifOrientation webp_orientation(std::string_view webp);
/// Numbers that Exif does not know mean upright.
ExifOrientation orientation_of_number(std::uint32_t value);

}  // namespace contorno
