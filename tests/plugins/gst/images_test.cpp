#include "plugins/files/pictures/decoder.h"
#include "tests/plugins/files/exif_segment.h"
#include "tests/plugins/gst/helpers.h"

using namespace contorno;
using namespace contorno::test;

TEST_CASE("PNG files come back with every bit, alpha too, in natural order") {
  const Folder folder;
  for (int i = 0; i < 12; ++i)
    write_picture(folder, "shot" + std::to_string(i) + ".png", made_picture(37, 23, i));
  spill(folder / "notes.txt", "not an image");
  spill(folder / ".hidden.png", "not an image");
  const auto source = open_source(images_source(), at(folder.path().string()));
  CHECK(source->format().frame_count == 12);
  const auto frames = read_all(*source);
  REQUIRE(frames.size() == 12);
  for (int i = 0; i < 12; ++i) {
    CHECK(frames[static_cast<std::size_t>(i)].info.name == "shot" + std::to_string(i) + ".png");
    CHECK(frames[static_cast<std::size_t>(i)].pixels == made_picture(37, 23, i).pixels);
    CHECK(frames[static_cast<std::size_t>(i)].info.pts_ns == i * 40'000'000);
  }
  CHECK(read_all(*open_source(images_source(), at(folder / "shot1*.png"))).size() == 3);
  CHECK(read_all(*open_source(images_source(), at(folder / "shot7.png"))).size() == 1);
}

TEST_CASE("the image sink writes every n-th frame, from the first wanted one, to its limit") {
  const Folder folder;
  const auto sink = make_sink(images_sink(), {{"path", std::string("o/{frame:04}.jpg")},
                                              {"every", std::int64_t{3}},
                                              {"first", std::int64_t{2}},
                                              {"limit", std::int64_t{2}}});
  std::vector<Frame> frames;
  for (int i = 0; i < 12; ++i) {
    frames.push_back(made_picture(16, 16, i));
    frames.back().info.number = static_cast<std::uint64_t>(i);
  }
  write_all(*sink, frames, {}, folder.path());
  CHECK(fs::exists(folder.path() / "o" / "0002.jpg"));
  CHECK(fs::exists(folder.path() / "o" / "0005.jpg"));
  CHECK(std::distance(fs::directory_iterator(folder.path() / "o"), fs::directory_iterator()) == 2);
}

TEST_CASE("bad image files fail with a sentence and the stream goes on") {
  const Folder folder;
  write_picture(folder, "b.png", made_picture(40, 30, 1));
  write_picture(folder, "e.jpg", made_picture(40, 30, 2));
  const std::string png = content(folder / "b.png"), jpeg = content(folder / "e.jpg");
  spill(folder / "a.png", png.substr(0, png.size() / 2));
  spill(folder / "c.jpg", jpeg.substr(0, jpeg.size() * 2 / 3));
  spill(folder / "d.png", "this is text, whatever its name says");
  spill(folder / "f.png", "");
  spill(folder / "g.png", jpeg);  // the extension lies, the content counts
  std::string garbled = png;
  for (std::size_t i = png.size() / 3; i < png.size() / 3 + 40; ++i)
    garbled[i] = static_cast<char>(~garbled[i]);
  spill(folder / "h.png", garbled);
  fs::create_symlink("/nonexistent", folder.path() / "i.png");
  write_picture(folder, "j.png", made_picture(40, 30, 3));
  const auto source = open_source(images_source(), at(folder.path().string()));
  const auto frames = read_all(*source);
  REQUIRE(frames.size() == 10);
  const std::vector<bool> good{false, true, false, false, true, false, true, false, false, true};
  for (std::size_t i = 0; i < good.size(); ++i) {
    CAPTURE(i);
    CHECK((frames[i].result == ReadResult::Frame) == good[i]);
    if (good[i]) continue;
    CHECK(frames[i].result == ReadResult::Bad);
    CHECK(frames[i].error.find(frames[i].info.name) != std::string::npos);
  }
  CHECK(frames[1].pixels == made_picture(40, 30, 1).pixels);
  CHECK(frames[6].pixels == frames[4].pixels);
  CHECK(frames[9].pixels == made_picture(40, 30, 3).pixels);
}

TEST_CASE("an image that is too large is refused by its header") {
  const Folder folder;
  write_picture(folder, "a.png", made_picture(40, 30, 1));
  std::string bytes = content(folder / "a.png");
  for (const std::size_t at_byte : {16, 20}) {  // width and height in IHDR, big-endian
    bytes[at_byte] = 0, bytes[at_byte + 1] = 0;
    bytes[at_byte + 2] = static_cast<char>(0xFF), bytes[at_byte + 3] = static_cast<char>(0xFF);
  }
  spill(folder / "b.png", bytes);
  const FrameDecoder decode = frame_decoder(decode_with_gstreamer);
  Picture image;
  std::string error;
  CHECK_FALSE(decode(folder / "b.png", kDefaultMaxPixels, image, error));
  CHECK(error.find("IHDR: CRC error") != std::string::npos);
  CHECK_FALSE(decode(folder / "a.png", 1199, image, error));
  CHECK(error.find("it is 40x30, allowed are sides of 1 to 16384 px and 1199 pixels in all") !=
        std::string::npos);
  CHECK(decode(folder / "a.png", kDefaultMaxPixels, image, error));
  CHECK(image.width == 40);
}

TEST_CASE("a JPEG that is stored turned or mirrored comes upright, in every orientation") {
  constexpr int kWidth = 40, kHeight = 24;
  const Folder folder;
  write_picture(folder, "0.jpg", made_picture(kWidth, kHeight, 5));
  const std::string plain = content(folder / "0.jpg");
  for (int value = 1; value <= 8; ++value)
    spill(folder / (std::to_string(value) + ".jpg"),
          plain.substr(0, 2) + exif_segment(value, value % 2 == 0) + plain.substr(2));
  const auto source = open_source(images_source(), at(folder.path().string()));
  std::vector<Frame> frames;
  for (Frame& frame : read_all(*source))
    if (frame.result == ReadResult::Frame) frames.push_back(std::move(frame));
  REQUIRE(frames.size() == 9);
  // For each orientation, where the upright picture's sample (x, y) is stored: Exif 2.32, 4.6.4,
  // "Orientation" names the sides where row 0 and column 0 are seen.
  constexpr int kRight = kWidth - 1, kBottom = kHeight - 1;
  using Place = std::pair<int, int>;
  const std::function<Place(int, int)> stored[] = {
      [](int x, int y) {
        return Place{x, y};
      },
      [](int x, int y) {
        return Place{kRight - x, y};
      },
      [](int x, int y) {
        return Place{kRight - x, kBottom - y};
      },
      [](int x, int y) {
        return Place{x, kBottom - y};
      },
      [](int x, int y) {
        return Place{y, x};
      },
      [](int x, int y) {
        return Place{y, kBottom - x};
      },
      [](int x, int y) {
        return Place{kRight - y, kBottom - x};
      },
      [](int x, int y) {
        return Place{kRight - y, x};
      },
  };
  for (int value = 1; value <= 8; ++value) {
    CAPTURE(value);
    const Frame& upright = frames[static_cast<std::size_t>(value)];
    const bool turned = value > 4;
    REQUIRE(upright.format.width == (turned ? kHeight : kWidth));
    REQUIRE(upright.format.height == (turned ? kWidth : kHeight));
    int wrong = 0;
    for (int y = 0; y < upright.format.height; ++y)
      for (int x = 0; x < upright.format.width; ++x)
        for (int c = 0; c < 4; ++c) {
          const auto [from_x, from_y] = stored[value - 1](x, y);
          wrong += upright.at(x, y, c) != frames[0].at(from_x, from_y, c);
        }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a folder of different sizes announces each change before the frame") {
  const Folder folder;
  write_picture(folder, "1.png", made_picture(40, 30, 1));
  write_picture(folder, "2.png", made_picture(50, 20, 2));
  write_picture(folder, "3.png", made_picture(50, 20, 3));
  write_picture(folder, "4.png", made_picture(7, 1, 4));
  const auto source = open_source(images_source(), at(folder.path().string()));
  const auto frames = read_all(*source);
  REQUIRE(frames.size() == 6);
  using enum ReadResult;
  const std::vector<ReadResult> expected{Frame, FormatChanged, Frame, Frame, FormatChanged, Frame};
  for (std::size_t i = 0; i < 6; ++i) CHECK(frames[i].result == expected[i]);
  CHECK(frames[2].pixels == made_picture(50, 20, 2).pixels);
  CHECK(frames[5].pixels == made_picture(7, 1, 4).pixels);
}

TEST_CASE("paths with spaces, percent signs, newlines and other alphabets work") {
  const Folder folder;
  const std::string name = "a b%20c\n\xC3\xA9\xE6\xBC\xA2 ! fakesink";
  write_picture(folder, "x.png", made_picture(16, 16, 1));
  fs::rename(folder / "x.png", folder / (name + ".png"));
  CHECK(read_all(*open_source(images_source(), at(folder / (name + ".png")))).size() == 1);
  std::vector<Frame> frames{made_picture(16, 16, 1)};
  const auto sink = make_sink(video_sink(), {{"path", name + ".avi"}, {"codec", std::string("png")}});
  write_all(*sink, frames, {}, folder.path());
  CHECK(read_all(*open_source(video_source(), at(folder / (name + ".avi")))).size() == 1);
}
