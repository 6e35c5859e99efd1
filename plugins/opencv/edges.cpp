#include "plugins/opencv/edges.h"

#include "pipeline/shared/module.h"

namespace contorno {

void find_edges(const ImageView& grey, const CannyParams& params, const ImageView& edges) {
  static constexpr ModuleSpec kSpec{.name = "opencv",
                                    .does = "finds edges by Canny's detector",
                                    .packages = "libopencv-imgproc406",
                                    .purpose = "to find edges",
                                    .addresses = std::size_t{64} << 20};
  static_cast<const OpencvModule*>(open_module(kSpec))->find_edges(grey, params, edges);
}

}  // namespace contorno
