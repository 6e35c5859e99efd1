#include "plugins/files/arrays/mask_file.h"

#include <doctest/doctest.h>

#include <array>

#include "base/error.h"
#include "plugins/files/arrays/npy.h"
#include "stages/morphology/structuring_element.h"
#include "tests/temporary_folder.h"

using namespace contorno;

TEST_CASE("mask files: arrays give their values, images their luma and their colours") {
  const TemporaryFolder folder;
  const std::array<float, 6> values{0, 1, -2.5F, 3, 0, 7};
  const std::array<std::uint64_t, 2> shape{2, 3};
  const std::string path = (folder.path() / "mask.npy").string();
  write_npy(path, ElementType::F32, shape, values.data());
  const SharedMask read = read_mask_file(path, {});
  const Mask& mask = *read;
  CHECK(mask.text == path);
  CHECK(mask.file == path);
  CHECK(mask.width == 3);
  CHECK(mask.height == 2);
  CHECK(mask.values == std::vector<double>{0, 1, -2.5, 3, 0, 7});
  CHECK(StructuringElement::from_mask(mask).offsets().size() == 3);

  const FrameDecoder decoder = [](const std::string& name, std::uint64_t, Picture& out, std::string& error) {
    error = "the picture is broken";
    out.width = 2, out.height = 1;
    out.pixels = {255, 255, 255, 255, 255, 0, 0, 0};
    return name == "good.png";
  };
  const SharedMask picture = read_mask_file("good.png", decoder);
  CHECK(picture->values == std::vector<double>{255, 76});
  CHECK(picture->colours == std::vector<std::uint8_t>{255, 255, 255, 255, 0, 0});
  CHECK(mask.colours.empty());
  const std::string bad = (folder.path() / "bad.png").string();
  write_npy(bad, ElementType::F32, shape, values.data());
  CHECK_THROWS_WITH_AS(read_mask_file(bad, decoder), "the picture is broken", Error);
  CHECK_THROWS_WITH_AS(read_mask_file("none.png", decoder), "there is no file none.png", Error);
  CHECK_THROWS_AS(read_mask_file("good.png", {}), Error);
}

TEST_CASE("mask files: an array of three dimensions is refused") {
  const TemporaryFolder folder;
  const std::array<std::uint8_t, 8> values{};
  const std::array<std::uint64_t, 3> shape{2, 2, 2};
  const std::string path = (folder.path() / "cube.npy").string();
  write_npy(path, ElementType::U8, shape, values.data());
  CHECK_THROWS_AS(read_mask_file(path, {}), Error);
}
