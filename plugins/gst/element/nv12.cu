#include "plugins/gst/element/nv12.h"

#include "plugins/gst/element/nv12_kernels.cuh"

namespace contorno::gst {
namespace {

/// Blocks of a row of so many items.
int blocks_of_row(int items) {
  return (items + nv12_cuda::kThreads - 1) / nv12_cuda::kThreads;
}

template <class... Parameters, class... Arguments>
void launch_rows(const char* name, void (*kernel)(Parameters...), int rows, int row_blocks, void* stream,
                 const Arguments&... arguments) {
  launch(name, kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious,
         static_cast<unsigned>(rows) * static_cast<unsigned>(row_blocks), nv12_cuda::kThreads, 0, stream,
         arguments..., row_blocks);
}

}  // namespace

void convert_from_nv12(const Nv12Planes& from, const Nv12Colours& colours, const ImageView& to,
                       void* stream) {
  launch_rows("nv12_to_rgba", nv12_cuda::nv12_to_rgba, from.height, blocks_of_row(from.width), stream, from,
              colours, to);
}

void draw_into_nv12(const ImageView& before, const ImageView& after, const Nv12Colours& colours,
                    const Nv12Planes& to, void* stream) {
  launch_rows("changes_to_nv12", nv12_cuda::changes_to_nv12, (to.height + 1) / 2,
              blocks_of_row((to.width + 1) / 2), stream, before, after, colours, to);
}

}  // namespace contorno::gst
