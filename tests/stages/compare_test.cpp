// What compares whole lists says what differs first: `CHECK(same_contours(a, b))` prints it.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/stages/compare_contours.h"
#include "tests/stages/compare_images.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// Two contours of one class, of 3 and 2 points, with an area.
struct Given {
  std::vector<std::byte> memory;
  ContoursView view;
  Given() {
    ContoursFormat format{.width = 9, .height = 9, .classes = 1, .point_capacity = 8, .contour_capacity = 4};
    format.attributes = Attributes{Attribute::Area};
    memory.resize(packed_bytes(format));
    view = packed_view(memory.data(), format);
    *view.counts = {.points = 5, .contours = 2};
    view.class_begin[1] = 2;
    view.offsets[1] = 3, view.offsets[2] = 5;
    view.closed[0] = 1;
    for (std::uint32_t i = 0; i < 5; ++i) view.points[i] = {static_cast<float>(i), 0.5F};
    view.column(Attribute::Area)[0] = 2.5;
  }
};

std::string said(const Comparison& one) {
  return doctest::toString(one).c_str();
}

}  // namespace

TEST_CASE("contours that differ are told apart by the first that differs, and what there is of it") {
  const Given wanted;
  CHECK(said(same_contours(wanted.view, Given().view)) == "the same");
  Given moved;
  moved.view.points[2].col = 4, moved.view.points[4].row = 9;
  CHECK(said(same_contours(wanted.view, moved.view)) ==
        "points (row, column)[2]: (2, 0.5) and (2, 4); 2 of 5 differ");
  CHECK_FALSE(same_contours(wanted.view, moved.view));
  Given other;
  other.view.column(Attribute::Area)[0] = 2.25;
  CHECK(said(same_contours(wanted.view, other.view)) == "area[0]: 2.5 and 2.25; 1 of 2 differ");
  Given open;
  open.view.closed[0] = 0;
  CHECK(said(same_contours(wanted.view, open.view)) == "closed[0]: 1 and 0; 1 of 2 differ");
  Given fewer;
  fewer.view.counts->contours = 1;
  CHECK(said(same_contours(wanted.view, fewer.view)) == "contours: 2 and 1");
  Given larger;
  larger.view.counts->points = 9;
  CHECK_FALSE(same_contours(wanted.view, larger.view));
}

TEST_CASE("images that differ are told apart by their first byte that differs") {
  const ImageFormat format{.width = 4, .height = 3, .channels = 2, .layout = Layout::Planar};
  std::vector<std::uint8_t> one(packed_bytes(format)), other = one;
  const ImageView a = packed_view(reinterpret_cast<std::byte*>(one.data()), format),
                  b = packed_view(reinterpret_cast<std::byte*>(other.data()), format);
  CHECK(said(same_image(a, b)) == "the same");
  b.row<std::uint8_t>(2, 0)[3] = 7, b.row<std::uint8_t>(1, 1)[0] = 8;
  CHECK(said(same_image(a, b)) == "plane 0, row 2, byte 3: 0 and 7; 2 of 6 rows differ");
  ImageView narrow = b;
  narrow.format.width = 3;
  CHECK(said(same_image(a, narrow)) == "they have other sizes, channels or types");
}
