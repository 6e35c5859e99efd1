// Chains in a graph on the device, of images that come up in bands; skipped where no device answers.
#include <cstring>

#include "pipeline/graph/planned.h"
#include "stages/mipmap/stage.h"
#include "tests/device_skip.h"
#include "tests/stages/mipmap/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// Where the stage is in its graph: at the source and its output taken, behind another node, or before one,
/// so that nobody on the host takes its output.
enum class PlaceInGraph : std::uint8_t { Alone, Behind, Before };

/// The graph's output for an image of random bytes. Uploads are cut into bands that end with one of about
/// `last_band` bytes.
std::vector<std::byte> output_of(const ImageFormat& format, const Settings& settings, Backend backend,
                                 std::size_t last_band, PlaceInGraph place) {
  ParamSet params(mipmap_stage().params);
  for (const auto& [name, value] : settings) params.set(name, value);
  // Gives the image as it is.
  ParamSet copy(mipmap_stage().params);
  copy.set("level", std::int64_t{0});
  GraphSpec graph;
  const auto add = [&](const ParamSet& own) {
    const int before = static_cast<int>(graph.nodes.size()) - 1;
    graph.nodes.push_back({.name = "mipmap",
                           .type = &mipmap_stage(),
                           .params = own,
                           .inputs = {{before < 0 ? Origin::kSource : before, 0}}});
  };
  if (place == PlaceInGraph::Behind) add(copy);
  add(params);
  if (place == PlaceInGraph::Before) add(copy);
  const Origin last{static_cast<int>(graph.nodes.size()) - 1, 0};
  Capacities capacities(graph.nodes.size());
  PlannedGraph planned({.graph = &graph,
                        .backend = backend,
                        .probe_every = kNoFrame,
                        .threads = 2,
                        .capacities = &capacities,
                        .exports = {last},
                        .last_band = last_band});
  planned.plan({{format}, "upload"});
  const ImageView& image = std::get<ImageView>(planned.source_value(0));
  std::vector<std::byte> bytes;
  for (int frame = 0; frame < 2; ++frame) {
    Random random(static_cast<std::uint64_t>(frame));
    for (int plane = 0; plane < format.planes(); ++plane)
      for (int row = 0; row < format.height; ++row)
        for (std::size_t i = 0; i < format.row_bytes(); ++i)
          image.row<std::uint8_t>(row, plane)[i] = static_cast<std::uint8_t>(random.below(256));
    planned.launch(), planned.wait();
    const auto& out = std::get<ImageView>(planned.value(last));
    for (int plane = 0; plane < out.format.planes(); ++plane)
      for (int row = 0; row < out.format.height; ++row) {
        const auto* const begin = out.row<std::byte>(row, plane);
        bytes.insert(bytes.end(), begin, begin + out.format.row_bytes());
      }
  }
  return bytes;
}

/// As an atlas, and the third level alone.
void check_bands(const ImageFormat& format, Settings settings) {
  for (const std::int64_t level : {-1, 2}) {
    settings.emplace_back("level", level);
    for (const PlaceInGraph place : {PlaceInGraph::Alone, PlaceInGraph::Behind, PlaceInGraph::Before}) {
      const auto wanted = output_of(format, settings, Backend::Cpu, kLastBandBytes, place);
      for (const std::size_t last_band : {std::size_t{1000}, std::size_t{40'000}, kLastBandBytes}) {
        INFO(describe(format), " level ", level, ", last band ", last_band, ", place ",
             static_cast<int>(place));
        CHECK(output_of(format, settings, Backend::Cuda, last_band, place) == wanted);
      }
    }
    settings.pop_back();
  }
}

}  // namespace

TEST_CASE("a chain of an image that comes up in bands is the CPU's, bit for bit") {
  if (skipped_without_device("chains that are uploaded in bands")) return;
  const std::string clamp = "clamp";
  const std::pair<std::string, ParamValue> to_the_end{"stop", std::int64_t{1}};
  check_bands({.width = 512, .height = 1024, .channels = 4}, {});
  check_bands({.width = 1000, .height = 700, .channels = 3}, {to_the_end});
  check_bands({.width = 333, .height = 517, .channels = 4, .type = ElementType::U16},
              {{"filter", clamp}, {"width", std::int64_t{kMostMipmapWidth}}, to_the_end});
  check_bands({.width = 333, .height = 517, .channels = 4}, {{"filter", clamp}, to_the_end});
  check_bands({.width = 256, .height = 640, .channels = 5, .layout = Layout::Planar}, {to_the_end});
  check_bands({.width = 517, .height = 333, .channels = 4},
              {{"linear_light", true}, {"premultiplied", true}, to_the_end});
  check_bands({.width = 1024, .height = 66, .channels = 1}, {to_the_end});
  check_bands({.width = 8916, .height = 512, .channels = 4}, {to_the_end});
  check_bands({.width = 257, .height = 255, .channels = 4, .type = ElementType::U16},
              {{"filter", std::string("kaiser")}, {"high_precision", true}, to_the_end});
}
