#include "plugins/opencv/edges.h"

#include "plugins/modules.h"

namespace contorno {

void find_edges(const ImageView& grey, const CannyParams& params, const ImageView& edges) {
  static_cast<const OpencvModule*>(open_module(kOpencvModule))->find_edges(grey, params, edges);
}

}  // namespace contorno
