#include "pipeline/value/contours.h"

#include "base/memory.h"

namespace contorno {
namespace {

/// Where each array of a contours block starts; the last member is the size of all.
struct ContoursLayout {
  std::size_t counts, class_begin, offsets, closed, columns, points, bytes;
};

ContoursLayout layout_of(const ContoursFormat& format) {
  ContoursLayout layout{};
  std::size_t at = 0;
  const auto place = [&at](std::size_t bytes) {
    const std::size_t start = at;
    at = align_up(at + bytes);
    return start;
  };
  layout.counts = place(sizeof(ContourCounts));
  layout.class_begin = place((static_cast<std::size_t>(format.classes) + 1) * sizeof(std::uint32_t));
  layout.offsets = place((format.contour_capacity + 1) * sizeof(std::uint32_t));
  layout.closed = place(format.contour_capacity);
  layout.columns = place(format.attributes.count() * format.column_stride() * sizeof(double));
  layout.points = place(format.point_capacity * sizeof(Point));
  layout.bytes = at;
  return layout;
}

}  // namespace

std::size_t packed_bytes(const ContoursFormat& format) {
  return layout_of(format).bytes;
}

ContoursView packed_view(void* data, const ContoursFormat& format) {
  const ContoursLayout layout = layout_of(format);
  auto* base = static_cast<std::byte*>(data);
  return {.format = format,
          .counts = reinterpret_cast<ContourCounts*>(base + layout.counts),
          .points = reinterpret_cast<Point*>(base + layout.points),
          .offsets = reinterpret_cast<std::uint32_t*>(base + layout.offsets),
          .closed = reinterpret_cast<std::uint8_t*>(base + layout.closed),
          .class_begin = reinterpret_cast<std::uint32_t*>(base + layout.class_begin),
          .columns = reinterpret_cast<double*>(base + layout.columns)};
}

std::size_t packed_counts_bytes(const ContoursFormat& format) {
  return layout_of(format).offsets + (static_cast<std::size_t>(format.classes) + 1) * sizeof(std::uint32_t);
}

ContoursView packed_counts(void* data, const ContoursFormat& format) {
  const ContoursLayout layout = layout_of(format);
  auto* base = static_cast<std::byte*>(data);
  return {.format = format,
          .counts = reinterpret_cast<ContourCounts*>(base + layout.counts),
          .class_begin = reinterpret_cast<std::uint32_t*>(base + layout.class_begin),
          .class_offsets = reinterpret_cast<std::uint32_t*>(base + layout.offsets)};
}

}  // namespace contorno
