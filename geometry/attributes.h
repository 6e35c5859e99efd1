// What steps do with the attributes of contours: a contour of the output has those of the contour of the
// input that it comes from, as they were before; of several contours that become one, those of the first.
#pragma once

#include <cstdint>
#include <limits>

#include "base/host_device.h"
#include "pipeline/value/contours.h"

namespace contorno {

/// Copies those of contour `from` of `in` to contour `to` of `out`, whose contours have the same attributes.
CONTORNO_HD inline void copy_attributes(const ContoursView& in, std::uint32_t from, const ContoursView& out,
                                        std::uint32_t to) {
  for (unsigned j = 0; j < in.format.attributes.count(); ++j)
    out.columns[j * out.format.column_stride() + to] = in.columns[j * in.format.column_stride() + from];
}

/// Writes one attribute; every NaN is the same one, whose bits backends choose by themselves.
CONTORNO_HD inline void put(const ContoursView& out, Attribute attribute, std::uint32_t index, double value) {
  out.column(attribute)[index] = value == value ? value : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace contorno
