#include "pipeline/graph/direct.h"

#include <doctest/doctest.h>

#include <array>
#include <deque>
#include <vector>

#include "base/error.h"
#include "pipeline/graph/applied.h"
#include "stages/catalog.h"
#include "tests/allocation_counter.h"
#include "tests/stages/compare_images.h"
#include "tests/stages/harness.h"

using namespace contorno;

namespace {

const StageType& stage_called(const std::string& name) {
  for (const StageType* type : stage_catalog())
    if (type->name == name) return *type;
  throw InternalError("no stage " + name);
}

void fill(const ImageView& view, unsigned seed) {
  for (int plane = 0; plane < view.format.planes(); ++plane)
    for (int y = 0; y < view.format.height; ++y)
      for (std::size_t x = 0; x < view.format.samples_per_row(); ++x) {
        seed = seed * 1664525U + 1013904223U;
        const unsigned value = seed >> 24;
        if (view.format.type == ElementType::U8)
          view.row<std::uint8_t>(y, plane)[x] = static_cast<std::uint8_t>(value);
        if (view.format.type == ElementType::F32) view.row<float>(y, plane)[x] = static_cast<float>(value);
      }
}

/// Both ways of applying a stage to images of `format`; the direct one with rows of odd lengths.
void check_stage(const StageType& type, const ParamSet& params, const ImageFormat& format) {
  CAPTURE(type.name);
  CAPTURE(describe(format));
  AppliedStage applied(type, params, Backend::Cpu, 2);
  DirectStage direct(type, params, Backend::Cpu, 2);
  const std::vector<Format> formats(type.inputs.size(), format);
  applied.plan(formats);
  for (unsigned seed = 1; seed < 4; ++seed) {
    std::deque<test::TestImage> images;
    std::vector<Value> in, out;
    const auto image = [&](const ImageFormat& of) {
      return images.emplace_back(of, 3 * element_size(of.type), 5 * element_size(of.type)).view;
    };
    for (std::size_t port = 0; port < type.inputs.size(); ++port) {
      in.push_back(image(format));
      fill(images.back().view, seed + static_cast<unsigned>(port));
      copy_image(images.back().view, applied.image_input(port));
    }
    applied.run();
    direct.plan(formats, nullptr);
    for (const Format& made : direct.outputs()) out.push_back(image(std::get<ImageFormat>(made)));
    const std::uint64_t before = test::allocations();
    direct.enqueue(in, out, nullptr);
    if (seed > 1) CHECK(test::allocations() == before);
    for (std::size_t port = 0; port < out.size(); ++port)
      CHECK(test::same_image(std::get<ImageView>(out[port]), std::get<ImageView>(applied.output(port))));
    for (std::size_t port = 0; port < in.size(); ++port)
      CHECK(test::same_image(std::get<ImageView>(in[port]), applied.image_input(port)));
    for (const test::TestImage& one : images) CHECK(one.memory.intact());
  }
}

ImageFormat format_of(int width, int height, int channels, ElementType type, Layout layout) {
  return {.width = width, .height = height, .channels = channels, .type = type, .layout = layout};
}

}  // namespace

TEST_CASE("a stage on images where they lie makes what it makes in a graph") {
  for (const std::string name : {"morphology", "reconstruction", "hit_or_miss", "mipmap"}) {
    const StageType& type = stage_called(name);
    ParamSet params(type.params);
    if (name == "mipmap") params.set("stop", std::int64_t{4});
    check_stage(type, params, format_of(37, 23, 3, ElementType::U8, Layout::Interleaved));
    check_stage(type, params, format_of(64, 9, 2, ElementType::F32, Layout::Planar));
  }
  for (const std::string name : {"mean_shift_filter", "mean_shift_segment", "preprocess"})
    check_stage(stage_called(name), ParamSet(stage_called(name).params),
                format_of(33, 17, 3, ElementType::U8, Layout::Interleaved));
  const StageType& field = stage_called("diamond_square");
  ParamSet params(field.params);
  params.set("size", std::vector<double>{35, 21});
  check_stage(field, params, {});
}

TEST_CASE("an image is copied from either layout to either, in samples of every size") {
  const auto sample_of = [](const ImageView& view, int x, int y, int channel, std::size_t byte) {
    const std::size_t size = element_size(view.format.type);
    const bool planar = view.format.layout == Layout::Planar;
    const std::size_t at =
        planar ? static_cast<std::size_t>(x)
               : static_cast<std::size_t>(x) * static_cast<std::size_t>(view.format.channels) +
                     static_cast<std::size_t>(channel);
    return view.row<std::byte>(y, planar ? channel : 0)[at * size + byte];
  };
  for (const ElementType type : {ElementType::U8, ElementType::U16, ElementType::F32, ElementType::F64})
    for (const Layout from : {Layout::Interleaved, Layout::Planar})
      for (const Layout to : {Layout::Interleaved, Layout::Planar}) {
        const test::TestImage one(format_of(13, 5, 3, type, from), 3 * element_size(type), 0);
        const test::TestImage other(format_of(13, 5, 3, type, to), 0, 5 * element_size(type));
        std::uint8_t next = 1;
        for (int plane = 0; plane < one.view.format.planes(); ++plane)
          for (int y = 0; y < 5; ++y)
            for (std::size_t byte = 0; byte < one.view.format.row_bytes(); ++byte)
              one.view.row<std::uint8_t>(y, plane)[byte] = next = static_cast<std::uint8_t>(next * 77 + 5);
        copy_image(one.view, other.view);
        int different = 0;
        for (int y = 0; y < 5; ++y)
          for (int x = 0; x < 13; ++x)
            for (int channel = 0; channel < 3; ++channel)
              for (std::size_t byte = 0; byte < element_size(type); ++byte)
                different +=
                    sample_of(one.view, x, y, channel, byte) != sample_of(other.view, x, y, channel, byte);
        CAPTURE(describe(one.view.format));
        CAPTURE(describe(other.view.format));
        CHECK(different == 0);
        CHECK(one.memory.intact());
        CHECK(other.memory.intact());
      }
}

TEST_CASE("a stage on images is planned again when their formats change") {
  const StageType& type = stage_called("morphology");
  DirectStage direct(type, ParamSet(type.params), Backend::Cpu, 1);
  for (const int width : {20, 31, 20}) {
    const std::array<Format, 1> formats{format_of(width, 8, 1, ElementType::U8, Layout::Interleaved)};
    direct.plan(formats, nullptr);
    REQUIRE(direct.outputs().size() == 1);
    CHECK(std::get<ImageFormat>(direct.outputs()[0]).width == width);
  }
  const std::array<Format, 1> wrong{format_of(8, 8, 1, ElementType::F64, Layout::Interleaved)};
  CHECK_THROWS_AS(direct.plan(wrong, nullptr), Error);
}

TEST_CASE("room that contours needed stays while formats do, and no longer") {
  const StageType& type = stage_called("resample");
  ParamSet params(type.params);
  params.set("spacing", 0.125);
  DirectStage direct(type, params, Backend::Cpu, 1);
  const test::TestContours line(64, 64, 1, {{0, false, {{0, 0}, {50, 0}}}}), other(32, 32, 1, {});
  const auto planned_for = [&](const test::TestContours& contours) {
    const Format format = contours.format;
    direct.plan(std::span(&format, 1), nullptr);
    return std::get<ContoursFormat>(direct.outputs()[0]);
  };
  Block block;  // of what was made
  const auto run = [&](const ContoursFormat& format) {
    block = Block(packed_bytes(format), MemoryKind::Host);
    const Value from = line.view, to = packed_view(block.data(), format);
    direct.enqueue(std::span(&from, 1), std::span(&to, 1), nullptr);
    return direct.overflowed();
  };
  const ContoursFormat first = planned_for(line);
  REQUIRE(first.point_capacity < 401);
  CHECK(run(first));
  const ContoursFormat larger = planned_for(line);
  CHECK(larger.point_capacity >= 401);
  CHECK_FALSE(run(larger));
  CHECK(direct.counts(0).points == 401);
  CHECK(planned_for(line) == larger);
  planned_for(other);
  CHECK(planned_for(line) == first);
}

TEST_CASE("what cannot be applied to images is refused, and so is a part of a stage") {
  CHECK_THROWS_WITH_AS(check_on_images(stage_called("contours")),
                       doctest::Contains("makes contours, allowed images;"), Error);
  CHECK_THROWS_WITH_AS(contorno::stage_called(stage_catalog(), "stage", "marching_squares"),
                       doctest::Contains("is a part of the stage 'contours'"), Error);
  CHECK_THROWS_WITH_AS(check_on_images(stage_called("overlay")),
                       doctest::Contains("takes contours, allowed images;"), Error);
  const StageType& type = stage_called("morphology");
  DirectStage direct(type, ParamSet(type.params), Backend::Cpu, 1);
  CHECK_THROWS_AS(direct.plan({}, nullptr), Error);
}
