// The kernel that downloads contours, run on the host by the emulator. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include "pipeline/value/copy_contours.cuh"

#include <doctest/doctest.h>

#include <algorithm>

#include "pipeline/value/copy_contours.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

constexpr std::byte kUnwritten{0xA5};

/// Contours of three classes, the second without any, in memory with room for `spare` more.
struct Case {
  explicit Case(std::uint64_t spare)
      : contours(9, 9, 3,
                 {{0, true, {{1, 1}, {4, 1}, {4, 4}, {1, 1}}},
                  {0, false, {{2, 2}, {3, 3}}},
                  {2, true, {{5, 5}, {7, 5}, {5, 5}}}}),
        format(contours.format) {
    format.point_capacity += spare, format.contour_capacity += spare;
    from_memory.resize(packed_bytes(format)), to_memory.assign(packed_bytes(format), kUnwritten);
    from = packed_view(from_memory.data(), format);
    copy_contours(contours.view, from);
  }
  void download(const ContoursView& to) const {
    emulated::run_grid(3, 64, 0, false, [&] { copy_contours_that_exist(from, to); });
  }

  TestContours contours;
  ContoursFormat format;
  std::vector<std::byte> from_memory, to_memory;
  ContoursView from;
};

}  // namespace

TEST_CASE("a download brings the contours that exist, and no byte beside them") {
  Case one(100);
  const ContoursView to = packed_view(one.to_memory.data(), one.format);
  one.download(to);
  CHECK(same_contours(to, one.contours.view));
  const auto* behind = reinterpret_cast<const std::byte*>(to.points + to.counts->points);
  CHECK(std::all_of(behind, reinterpret_cast<const std::byte*>(to.points + one.format.point_capacity),
                    [](std::byte byte) { return byte == kUnwritten; }));
  CHECK(std::all_of(to.closed + 3, to.closed + 103, [](std::uint8_t byte) { return byte == 0xA5; }));
}

TEST_CASE("of contours that stay on the device the numbers of every class come, and nothing else") {
  Case one(5);
  const ContoursView to = packed_counts(one.to_memory.data(), one.format);
  one.download(to);
  CHECK(to.counts->points == 9);
  CHECK(to.counts->contours == 3);
  const std::vector<std::uint32_t> begins(to.class_begin, to.class_begin + 4);
  CHECK(begins == std::vector<std::uint32_t>{0, 2, 2, 3});
  std::vector<std::uint32_t> points;
  for (std::size_t k = 0; k < 4; ++k) points.push_back(to.points_before(k));
  CHECK(points == std::vector<std::uint32_t>{0, 6, 6, 9});
  const std::size_t used = packed_counts_bytes(one.format);
  CHECK(std::all_of(one.to_memory.begin() + static_cast<std::ptrdiff_t>(used), one.to_memory.end(),
                    [](std::byte byte) { return byte == kUnwritten; }));
}

TEST_CASE("of contours that did not fit only the counts are downloaded") {
  for (const bool whole : {true, false}) {
    Case one(0);
    one.from.counts->points = one.format.point_capacity + 1;
    const ContoursView to = whole ? packed_view(one.to_memory.data(), one.format)
                                  : packed_counts(one.to_memory.data(), one.format);
    one.download(to);
    CHECK(to.counts->points == one.format.point_capacity + 1);
    CHECK_FALSE(to.fits());
    CHECK((whole ? to.offsets : to.class_offsets)[0] == 0xA5A5A5A5U);
  }
}
