// Builds without CUDA have no memory of a device.
#include "base/error.h"
#include "plugins/gst/element/nv12.h"

namespace contorno::gst {

void convert_from_nv12(const Nv12Planes&, const Nv12Colours&, const ImageView&, void*) {
  throw InternalError("a frame on a device was used in a build without CUDA");
}

void draw_into_nv12(const ImageView&, const ImageView&, const Nv12Colours&, const Nv12Planes&, void*) {
  throw InternalError("a frame on a device was used in a build without CUDA");
}

}  // namespace contorno::gst
