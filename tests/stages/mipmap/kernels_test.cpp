// The kernels of mipmap, run on the host by an emulator of blocks, against the CPU's chain: no device and no
// CUDA compiler needed.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <array>

#include "stages/mipmap/kernels.cuh"
#include "stages/mipmap/rows.h"
#include "tests/stages/mipmap/reference.h"

using namespace contorno;
using namespace contorno::mipmap_cuda;
using namespace contorno::test;

namespace {

/// An image whose samples are any bits, with odd or even pitches, and room for its levels.
struct Chain {
  Chain(const ImageFormat& format, const MipmapOptions& options, std::size_t extra)
      : chain(format, options), image(format, extra, extra) {
    Random random(7);
    for (std::size_t i = 0; i < image.memory.size(); ++i)
      image.memory.data()[i] = static_cast<std::byte>(random.below(256));
    if (format.type == ElementType::F32)  // without NaN: their bits may differ before they are stored
      for (int y = 0; y < format.height; ++y)
        for (int plane = 0; plane < format.planes(); ++plane)
          for (std::size_t x = 0; x < format.samples_per_row(); ++x)
            image.view.row<float>(y, plane)[x] = static_cast<float>(random.unit() - 0.5);
    for (int level = 1; level < chain.levels(); ++level) {
      expected.push_back(std::make_unique<TestImage>(chain.format(level), extra, extra));
      made.push_back(std::make_unique<TestImage>(chain.format(level), extra, extra));
      views.push_back(expected.back()->view);
    }
    const Block scratch(chain.scratch_bytes(1) + 1, MemoryKind::Host);
    chain.build(image.view, views, scratch.data(), 1, Simd::Portable);
  }
  const ImageView& view(int level) const {
    return level == 0 ? image.view : made[static_cast<std::size_t>(level) - 1]->view;
  }
  /// Guards included: nothing may be written between and behind rows.
  bool equal() const {
    bool same = true;
    for (std::size_t level = 0; level < made.size(); ++level)
      same = same && made[level]->memory.intact() &&
             std::memcmp(made[level]->memory.data(), expected[level]->memory.data(),
                         made[level]->memory.size()) == 0;
    return same;
  }

  MipmapChain chain;
  TestImage image;
  std::vector<std::unique_ptr<TestImage>> expected, made;
  std::vector<ImageView> views;
};

int emulate_tiles(const Chain& c) {
  int count = 0;
  while (count < kTileLevels && count + 1 < c.chain.levels() && c.chain.plan().halves(count + 1)) ++count;
  if (count == 0) return 0;
  std::vector<ImageView> views;
  for (int level = 0; level <= count; ++level) views.push_back(c.view(level));
  with_halving_rule(c.chain.plan(), c.chain.plan().light, [&]<class Rule>(const Rule& rule) {
    const TilesJob job = tiles_job<Rule>(views);
    const auto blocks = static_cast<unsigned>(job.tiles_x * job.tiles_y * c.image.view.format.planes());
    emulated::run_grid(blocks, mipmap_cuda::kThreads, sizeof(TilesShared<Rule>), false,
                       [&] { halve_tiles<Rule>(job, rule); });
  });
  return count;
}

void emulate_filters(const Chain& c, int from) {
  FilterJob job;
  job.planes = c.image.view.format.planes();
  for (int level = from; level < c.chain.levels(); ++level) {
    FilterStep& step = job.steps[job.count++];
    step.in = level_of(c.view(level - 1)), step.out = level_of(c.view(level));
    step.across = c.chain.plan().across[static_cast<std::size_t>(level) - 1].taps();
    step.down = c.chain.plan().down[static_cast<std::size_t>(level) - 1].taps();
  }
  with_stored_rule(c.chain.plan(), c.chain.plan().light, [&]<class Rule>(const Rule& rule) {
    emulated::run_grid(1, mipmap_cuda::kThreads, 0, false, [&] { filter_levels<Rule>(job, rule); });
  });
}

}  // namespace

TEST_CASE("one pass over tiles gives the CPU's levels for every type, channel and odd edge") {
  for (const ElementType type : {ElementType::U8, ElementType::U16, ElementType::F32})
    for (int channels = 1; channels <= 4; ++channels)
      for (const auto& [width, height] :
           {std::pair{128, 64}, std::pair{72, 132}, std::pair{64, 4}, std::pair{67, 70}})
        for (const std::size_t extra : {std::size_t{0}, std::size_t{4}}) {
          const Layout layout = channels == 3 && width == 72 ? Layout::Planar : Layout::Interleaved;
          const Chain c(
              {.width = width, .height = height, .channels = channels, .type = type, .layout = layout},
              {.filter = width == 67 ? MipmapFilter::Clamp : MipmapFilter::Box, .stop = 1}, extra);
          INFO(describe(c.image.view.format), " and ", extra);
          const int made = emulate_tiles(c);
          CHECK(made >= 2);
          emulate_filters(c, made + 1);
          CHECK(c.equal());
        }
}

TEST_CASE("one pass over tiles knows light and alpha") {
  for (const bool light : {false, true})
    for (const bool alpha : {false, true}) {
      const Chain c({.width = 96, .height = 64, .channels = 4},
                    {.stop = 1, .linear_light = light, .premultiplied = alpha}, 3);
      emulate_filters(c, emulate_tiles(c) + 1);
      CHECK(c.equal());
    }
}

TEST_CASE("one block makes any chain of filters") {
  for (const MipmapFilter filter : {MipmapFilter::Box, MipmapFilter::Clamp, MipmapFilter::Lanczos3})
    for (const bool light : {false, true}) {
      const Chain c({.width = 37, .height = 21, .channels = 2},
                    {.filter = filter, .stop = 1, .linear_light = light, .premultiplied = true}, 1);
      emulate_filters(c, 1);
      CHECK(c.equal());
    }
}
