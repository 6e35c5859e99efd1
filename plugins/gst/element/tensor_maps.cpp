#include "plugins/gst/element/tensor_maps.h"

#if CONTORNO_HAVE_GST_TENSORS
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gst/analytics/analytics.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/error.h"
#endif

namespace contorno::gst {

#if CONTORNO_HAVE_GST_TENSORS
namespace {

[[noreturn]] void refuse(const GstTensor& tensor, std::string_view why) {
  throw Error(ExitCode::BadData, fmt::format("the tensor '{}' of {}: {}", g_quark_to_string(tensor.id),
                                             fmt::join(std::span(tensor.dims, tensor.num_dims), " x "), why));
}

ElementType type_of(const GstTensor& tensor) {
  switch (tensor.data_type) {
    case GST_TENSOR_DATA_TYPE_UINT8:
      return ElementType::U8;
    case GST_TENSOR_DATA_TYPE_UINT16:
      return ElementType::U16;
    case GST_TENSOR_DATA_TYPE_FLOAT16:
      return ElementType::F16;
    case GST_TENSOR_DATA_TYPE_FLOAT32:
      return ElementType::F32;
    default:
      refuse(tensor, "its type is none of float32, float16, uint8, uint16");
  }
}

/// Three sides, the one whose numbers lie side by side last. Sides of 1 before others do not count, as that
/// of a batch of one.
std::array<int, 3> sides_of(const GstTensor& tensor) {
  std::array<int, 3> sides{1, 1, 1};
  for (std::size_t i = 0; i < tensor.num_dims; ++i) {
    const bool row_major = tensor.dims_order == GST_TENSOR_DIM_ORDER_ROW_MAJOR;
    const std::size_t side = tensor.dims[row_major ? i : tensor.num_dims - 1 - i];
    if (side < 1 || side > kMaxSide) refuse(tensor, "each side may be from 1 to 65536");
    if (sides[0] != 1) refuse(tensor, "it has more than three sides");
    sides = {sides[1], sides[2], static_cast<int>(side)};
  }
  return sides;
}

ImageFormat format_of(const GstTensor& tensor, std::size_t classes) {
  const std::array<int, 3> sides = sides_of(tensor);
  const auto counts_maps = [&](int side) { return static_cast<std::size_t>(side) == classes; };
  if (counts_maps(sides[0]))
    return {.width = sides[2],
            .height = sides[1],
            .channels = sides[0],
            .type = type_of(tensor),
            .layout = Layout::Planar};
  if (counts_maps(sides[2]))
    return {.width = sides[1],
            .height = sides[0],
            .channels = sides[2],
            .type = type_of(tensor),
            .layout = Layout::Interleaved};
  refuse(tensor,
         fmt::format("neither its first nor its last side is the graph's number of classes, {}", classes));
}

}  // namespace

bool can_read_tensors() {
  return true;
}

std::optional<Maps> maps_in_tensor(GstBuffer* buffer, GQuark id, std::size_t classes) {
  gpointer state = nullptr;
  while (GstMeta* const meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_TENSOR_META_API_TYPE)) {
    auto* const tensors = static_cast<GstTensorMeta*>(static_cast<gpointer>(meta));
    const int index = gst_tensor_meta_get_index_from_id(tensors, id);
    if (index < 0) continue;
    const GstTensor& tensor = *gst_tensor_meta_get(tensors, static_cast<gsize>(index));
    const ImageFormat format = format_of(tensor, classes);
    if (tensor.data == nullptr) refuse(tensor, "it has no data");
    return Maps{gst_buffer_ref(tensor.data), format};
  }
  return std::nullopt;
}

#else

bool can_read_tensors() {
  return false;
}

std::optional<Maps> maps_in_tensor(GstBuffer*, GQuark, std::size_t) {
  return std::nullopt;
}

#endif

}  // namespace contorno::gst
