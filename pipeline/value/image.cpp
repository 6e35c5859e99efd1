#include "pipeline/value/image.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/memory.h"

namespace contorno {

std::string_view name_of(ElementType type) {
  switch (type) {
    case ElementType::U8:
      return "uint8";
    case ElementType::U16:
      return "uint16";
    case ElementType::F16:
      return "float16";
    case ElementType::F32:
      return "float32";
    case ElementType::F64:
      return "float64";
  }
  throw InternalError("unknown element type");
}

std::string_view name_of(Layout layout) {
  switch (layout) {
    case Layout::Interleaved:
      return "interleaved";
    case Layout::Planar:
      return "planar";
  }
  throw InternalError("unknown layout");
}

double Placement::frame_x(double x) const {
  return (x + 0.5) * scale_x - 0.5 + offset_x;
}

double Placement::frame_y(double y) const {
  return (y + 0.5) * scale_y - 0.5 + offset_y;
}

std::string describe(const ImageFormat& format) {
  return fmt::format("{}x{}x{} {} {}", format.width, format.height, format.channels, name_of(format.type),
                     name_of(format.layout));
}

namespace {
constexpr std::size_t kRowAlignment = 64;

std::size_t row_pitch(const ImageFormat& format) {
  return align_up(format.row_bytes(), kRowAlignment);
}
std::size_t plane_pitch(const ImageFormat& format) {
  return align_up(row_pitch(format) * static_cast<std::size_t>(format.height));
}
}  // namespace

ImageView packed_view(void* data, const ImageFormat& format) {
  return {.data = data,
          .format = format,
          .row_pitch = static_cast<std::ptrdiff_t>(row_pitch(format)),
          .plane_pitch = static_cast<std::ptrdiff_t>(plane_pitch(format))};
}

std::size_t packed_bytes(const ImageFormat& format) {
  return plane_pitch(format) * static_cast<std::size_t>(format.planes());
}

}  // namespace contorno
