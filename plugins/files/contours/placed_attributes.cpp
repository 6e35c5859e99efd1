#include "plugins/files/contours/placed_attributes.h"

#include <limits>

#include "geometry/measures.h"

namespace contorno {
namespace {

double& value_of(AttributeValues& values, Attribute attribute) {
  return values[static_cast<std::size_t>(attribute)];
}

void scale(AttributeValues& values, const Placement& placement) {
  using enum Attribute;
  for (const Attribute length : {Perimeter, MajorAxis, MinorAxis})
    value_of(values, length) *= placement.scale_x;
  value_of(values, Area) *= placement.scale_x * placement.scale_y;
  for (const Attribute row : {MinRow, MaxRow, CentroidRow})
    value_of(values, row) = placement.frame_y(value_of(values, row));
  for (const Attribute col : {MinCol, MaxCol, CentroidCol})
    value_of(values, col) = placement.frame_x(value_of(values, col));
}

/// The attributes of the set that `measure` gives, of the `placed` points.
void measure_anew(AttributeValues& values, Attributes of, std::span<const Point> placed, bool closed) {
  constexpr std::size_t kStride = 2;  // stride of the columns of a view with one contour
  std::array<double, kStride * measuring::kMeasuredAttributes.count()> columns{};
  const ContoursView measured{.format = {.contour_capacity = 1, .attributes = measuring::kMeasuredAttributes},
                              .columns = columns.data()};
  measuring::write_outline(OneThread{}, measured, 0, placed.data(), static_cast<std::uint32_t>(placed.size()),
                           closed, 0);
  measuring::kMeasuredAttributes.for_each([&](Attribute attribute) {
    if (attribute != Attribute::Convexity && of.has(attribute))
      value_of(values, attribute) = measured.column(attribute)[0];
  });
}

}  // namespace

AttributeValues placed_attributes(const ContoursView& view, std::uint32_t index, const Placement& placement,
                                  std::span<const Point> placed) {
  AttributeValues values;
  values.fill(std::numeric_limits<double>::quiet_NaN());
  const Attributes attributes = view.format.attributes;
  attributes.for_each(
      [&](Attribute attribute) { value_of(values, attribute) = view.column(attribute)[index]; });
  if (placement == Placement{}) return values;
  if (placement.scale_x == placement.scale_y)
    scale(values, placement);
  else
    measure_anew(values, attributes, placed, view.closed[index] != 0);
  return values;
}

}  // namespace contorno
