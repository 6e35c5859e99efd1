#include "base/error.h"
#include "base/memory.h"
#include "stages/diamond_square/cuda.h"
#include "stages/diamond_square/strip.cuh"
#include "stages/diamond_square/tile.cuh"
// After the kernels: the passes are made of its types.
#include "stages/diamond_square/passes.h"

namespace contorno {
namespace diamond_square_cuda {
namespace {

template <class T>
void enqueue(const Pass& pass, void* stream) {
  const unsigned tiles = pass.tiles * pass.channels;
  if (pass.strips)
    launch("refine_strips", refine_strips<T>, LaunchKind::Plain, LaunchOrder::AfterPrevious,
           (tiles + kStripWarps - 1) / kStripWarps, 32 * kStripWarps, sizeof(StripShared), stream, pass);
  else
    launch("refine_tiles", refine_tiles<T>, LaunchKind::Plain, LaunchOrder::AfterPrevious, tiles, kThreads,
           sizeof(TileShared<T>), stream, pass);
}

}  // namespace
}  // namespace diamond_square_cuda

struct DiamondSquareOnDevice::Passes {
  diamond_square_cuda::PassPlan plan;
  Block workspace;
};

DiamondSquareOnDevice::DiamondSquareOnDevice(const DiamondSquareParams& params, const ImageFormat& format)
    : plan_(plan_diamond_square(params, format)), passes_(std::make_unique<Passes>()) {
  passes_->plan = diamond_square_cuda::plan_passes(plan_);
  if (passes_->plan.workspace_bytes > 0)
    passes_->workspace = Block(passes_->plan.workspace_bytes, MemoryKind::Device);
  place_passes(passes_->plan, passes_->workspace.data());
}

DiamondSquareOnDevice::~DiamondSquareOnDevice() = default;

void DiamondSquareOnDevice::generate(std::uint64_t seed, const ImageView& out, void* stream) const {
  using namespace diamond_square_cuda;
  const std::vector<Pass>& passes = passes_->plan.passes;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const Pass pass = with_seed(i + 1 == passes.size() ? with_image(passes[i], out) : passes[i], seed);
    if (plan_.format.type == ElementType::U8)
      enqueue<std::uint8_t>(pass, stream);
    else if (plan_.format.type == ElementType::U16)
      enqueue<std::uint16_t>(pass, stream);
    else
      enqueue<float>(pass, stream);
  }
}

}  // namespace contorno
