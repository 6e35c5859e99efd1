// What caps of class maps and of tensors say of their format, and what is wrong with others.
#include "plugins/gst/element/maps_caps.h"

#include <doctest/doctest.h>

#include <string>

#include "base/error.h"

namespace contorno::test {
namespace {

ImageFormat format_of(const std::string& text) {
  GstCaps* const caps = gst_caps_from_string(text.c_str());
  REQUIRE(caps != nullptr);
  struct Unref {
    GstCaps* caps;
    ~Unref() { gst_caps_unref(caps); }
  } const unref{caps};
  return gst::maps_format(caps);
}

ImageFormat tensor_of(const std::string& dimensions, const std::string& type = "float32") {
  return format_of("other/tensors,format=static,num_tensors=1,dimensions=(string)" + dimensions +
                   ",types=(string)" + type);
}

}  // namespace

TEST_CASE("dimensions of a tensor are width, height and classes, which may be left out as further ones may") {
  const auto planar = [](int width, int height, int classes) {
    return ImageFormat{.width = width,
                       .height = height,
                       .channels = classes,
                       .type = ElementType::F32,
                       .layout = Layout::Planar};
  };
  CHECK(tensor_of("511:95:8") == planar(511, 95, 8));
  CHECK(tensor_of("511:95:8:1") == planar(511, 95, 8));
  CHECK(tensor_of("511:95:8:1:1:1") == planar(511, 95, 8));
  CHECK(tensor_of("511:95") == planar(511, 95, 1));
  CHECK(tensor_of("1:1:1:1") == planar(1, 1, 1));
  CHECK(tensor_of("65536:1:2") == planar(65536, 1, 2));
  CHECK(tensor_of("40:30:3", "uint8").type == ElementType::U8);
  CHECK(tensor_of("40:30:3", "float16").type == ElementType::F16);
}

TEST_CASE("dimensions that no maps have are refused with what is allowed") {
  const auto refused = [](const std::string& dimensions, const char* why) {
    CHECK_THROWS_WITH_AS(tensor_of(dimensions), doctest::Contains(why), Error);
  };
  refused("511", "W:H:C, others must be 1");
  refused("511:95:8:2", "W:H:C, others must be 1");
  refused("511:95:8:1:2", "W:H:C, others must be 1");
  refused("0:95:8", "each from 1 to 65536");
  refused("511:65537:8", "each from 1 to 65536");
  refused("511:-1:8", "each from 1 to 65536");
  refused("511:95:99999999999", "each from 1 to 65536");
  refused("511:95:x", "each from 1 to 65536");
  refused("511x95", "with colons between them");
  CHECK_THROWS_WITH_AS(tensor_of("511:95:8", "int8"), doctest::Contains("the type is none of"), Error);
}

TEST_CASE("maps of the project's own caps have the layout and type that these name, planes without a word") {
  const std::string sides = "application/x-contorno-maps,width=511,height=95,classes=8";
  const ImageFormat planes = format_of(sides + ",type=uint16");
  CHECK(planes.width == 511);
  CHECK(planes.height == 95);
  CHECK(planes.channels == 8);
  CHECK(planes.type == ElementType::U16);
  CHECK(planes.layout == Layout::Planar);
  CHECK(format_of(sides + ",type=uint8,layout=hwc").layout == Layout::Interleaved);
  CHECK(gst::maps_bytes(planes) == std::size_t{511} * 95 * 8 * 2);
  CHECK_THROWS_WITH_AS(format_of("application/x-contorno-maps,width=511,height=95,type=uint8"),
                       doctest::Contains("width, height or classes is missing"), Error);
  CHECK_THROWS_WITH_AS(format_of("application/x-contorno-maps,width=511,height=0,classes=2,type=uint8"),
                       doctest::Contains("each from 1 to 65536"), Error);
  CHECK_THROWS_WITH_AS(format_of(sides + ",type=float64"), doctest::Contains("the type is none of"), Error);
}

}  // namespace contorno::test
