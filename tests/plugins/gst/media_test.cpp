#include "plugins/files/pictures/decoder.h"
#include "tests/plugins/gst/helpers.h"

using namespace contorno;
using namespace contorno::test;

TEST_CASE("the test picture has the size, count, times and colours that were asked for, twice the same") {
  const auto one = open_source(test_source(), test_picture(320, 240, 5, "smpte"));
  const auto two = open_source(test_source(), test_picture(320, 240, 5, "smpte"));
  CHECK(one->format().frame == ImageFormat{.width = 320, .height = 240, .channels = 4});
  CHECK(one->format().rate_numerator == 30);
  CHECK(one->format().frame_count == 5);
  CHECK_FALSE(one->format().live);
  const auto frames = read_all(*one);
  const auto again = read_all(*two);
  REQUIRE(frames.size() == 5);
  REQUIRE(again.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(frames[i].pixels == again[i].pixels);
    CHECK(std::abs(frames[i].info.pts_ns - static_cast<std::int64_t>(i) * 1'000'000'000 / 30) <= 1);
  }
  // The second bar of the SMPTE picture is yellow at 75 %, the last blue.
  CHECK(frames[0].at(60, 20, 0) > 150);
  CHECK(frames[0].at(60, 20, 1) > 150);
  CHECK(frames[0].at(60, 20, 2) < 40);
  CHECK(frames[0].at(300, 20, 2) > 150);
  CHECK(frames[0].at(300, 20, 0) < 40);
  CHECK(frames[0].at(300, 20, 3) == 255);
}

TEST_CASE("an unknown test pattern is refused with the list of the known ones") {
  std::string sentence;
  CHECK(code_of([] { open_source(test_source(), test_picture(16, 16, 1, "x ! filesink location=/tmp/x")); },
                &sentence) == ExitCode::BadConfig);
  CHECK(sentence.find("smpte") != std::string::npos);
}

TEST_CASE("a lossless video comes back with every bit, count and time") {
  for (const char* name : {"clip.avi", "clip.mov"}) {
    CAPTURE(name);
    const Folder folder;
    const auto source = open_source(test_source(), test_picture(131, 67, 20));
    auto frames = read_all(*source);
    const auto sink = make_sink(video_sink(), {{"path", std::string(name)}, {"codec", std::string("png")}});
    write_all(*sink, frames, source->format(), folder.path());
    CHECK(sink->summary().find("20 frames, png") != std::string::npos);
    CHECK(folder.files() == 1);
    const auto back_source = open_source(video_source(), at(folder / name));
    CHECK(back_source->format().frame_count == 20);
    const auto back = read_all(*back_source);
    REQUIRE(back.size() == 20);
    for (std::size_t i = 0; i < 20; ++i) {
      CHECK(back[i].pixels == frames[i].pixels);
      CHECK(std::abs(back[i].info.pts_ns - frames[i].info.pts_ns) < 1'000'000);
    }
  }
}

TEST_CASE("a video whose camera was held on its side comes upright") {
  constexpr int kWidth = 48, kHeight = 20;
  const Folder folder;
  const auto source = open_source(test_source(), test_picture(kWidth, kHeight, 5));
  auto frames = read_all(*source);
  const auto sink = make_sink(video_sink(), {{"path", std::string("a.mov")}, {"codec", std::string("png")}});
  write_all(*sink, frames, source->format(), folder.path());
  // The track header's matrix: a quarter turn clockwise (ISO 14496-12, 8.3.2), where it was no turn.
  std::string bytes = content(folder / "a.mov");
  const std::string upright("\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0", 24);
  const std::string turned("\0\0\0\0\0\1\0\0\0\0\0\0\xFF\xFF\0\0\0\0\0\0\0\0\0\0", 24);
  const auto matrix =
      bytes.find(upright, bytes.rfind("tkhd"));  // of the index at the end, which is the valid one
  REQUIRE(matrix != std::string::npos);
  bytes.replace(matrix, upright.size(), turned);
  spill(folder / "b.mov", bytes);
  const auto back = read_all(*open_source(video_source(), at(folder / "b.mov")));
  REQUIRE(back.size() == 5);
  REQUIRE(back[0].format.width == kHeight);
  REQUIRE(back[0].format.height == kWidth);
  int wrong = 0;
  for (std::size_t i = 0; i < back.size(); ++i)
    for (int y = 0; y < kWidth; ++y)
      for (int x = 0; x < kHeight; ++x)
        for (int c = 0; c < 3; ++c) wrong += back[i].at(x, y, c) != frames[i].at(y, kHeight - 1 - x, c);
  CHECK(wrong == 0);
}

TEST_CASE("every lossy codec that is installed keeps size, count, order and picture") {
  struct Case {
    const char* path;
    const char* codec;
  };
  const MediaReport report = media_report();
  const auto present = [&](const std::string& name) {
    return std::any_of(report.elements.begin(), report.elements.end(),
                       [&](const MediaElement& e) { return e.name == name && e.present; });
  };
  std::vector<Case> cases{{"a.mkv", "auto"}, {"a.webm", "auto"}, {"a.mkv", "mjpeg"}, {"a.avi", "mjpeg"}};
  if (present("theoraenc") && present("oggmux")) cases.push_back({"a.ogv", "theora"});
  if (present("openh264enc") && present("mp4mux")) cases.push_back({"a.mp4", "h264"});
  for (const Case& c : cases) {
    CAPTURE(c.path);
    CAPTURE(c.codec);
    const Folder folder;
    const int odd = std::string_view(c.codec) == "h264" ? 0 : 1;  // it has even sides only
    const auto source = open_source(test_source(), test_picture(160 + odd, 90 + odd, 30));
    auto frames = read_all(*source);
    const auto sink =
        make_sink(video_sink(), {{"path", std::string(c.path)}, {"codec", std::string(c.codec)}});
    write_all(*sink, frames, source->format(), folder.path());
    const auto back_source = open_source(video_source(), at(folder / c.path));
    const auto back = read_all(*back_source);
    REQUIRE(back.size() == frames.size());
    CHECK(back_source->format().frame == frames[0].format);
    for (std::size_t i = 0; i < back.size(); ++i) {
      CHECK(mean_difference(back[i], frames[i]) < 4);
      // The ball moves: the frame must be nearer to its own original than to one from another time.
      const std::size_t other = (i + 10) % frames.size();
      CHECK(mean_difference(back[i], frames[i]) < mean_difference(back[i], frames[other]));
    }
  }
}

TEST_CASE("timestamps that stand still, go back or jump a day never break a video") {
  const Folder folder;
  const auto source = open_source(test_source(), test_picture(64, 48, 8));
  auto frames = read_all(*source);
  frames[2].info.pts_ns = frames[1].info.pts_ns;
  frames[4].info.pts_ns = -5;
  frames[5].info.pts_ns = std::int64_t{86'400} * 1'000'000'000;
  frames[6].info.pts_ns = std::numeric_limits<std::int64_t>::min();
  frames[7].info.pts_ns = std::numeric_limits<std::int64_t>::max();
  const auto sink = make_sink(video_sink(), {{"path", std::string("a.mkv")}});
  write_all(*sink, frames, source->format(), folder.path());
  CHECK(sink->summary().find("timestamps corrected") != std::string::npos);
  const auto back = read_all(*open_source(video_source(), at(folder / "a.mkv")));
  REQUIRE(back.size() == 8);
  for (std::size_t i = 1; i < 8; ++i) CHECK(back[i].info.pts_ns > back[i - 1].info.pts_ns);
  CHECK(back[7].info.pts_ns < 1'000'000'000);
}

TEST_CASE("grey and RGB pictures can be written too") {
  for (const int channels : {1, 3}) {
    const Folder folder;
    const ImageFormat format{.width = 33, .height = 17, .channels = channels};
    std::vector<std::uint8_t> memory(packed_bytes(format));
    ImageView view = packed_view(memory.data(), format);
    for (int y = 0; y < 17; ++y)
      for (int i = 0; i < 33 * channels; ++i)
        view.row<std::uint8_t>(y)[i] = static_cast<std::uint8_t>(y * 15 + i);
    const auto sink = make_sink(images_sink(), {{"path", std::string("a.png")}});
    sink->open(context_for(format, {}, folder.path()));
    sink->write({}, view);
    sink->finish();
    const FrameDecoder decode = frame_decoder(decode_with_gstreamer);
    Picture image;
    std::string error;
    REQUIRE(decode(folder / "a.png", kDefaultMaxPixels, image, error));
    for (int y = 0; y < 17; ++y)
      for (int x = 0; x < 33; ++x)
        for (int c = 0; c < 3; ++c)
          REQUIRE(image.pixels[static_cast<std::size_t>((y * 33 + x) * 4 + c)] ==
                  view.row<std::uint8_t>(y)[x * channels + (channels == 3 ? c : 0)]);
  }
}

TEST_CASE("a video sink refuses pictures and files that it cannot write") {
  const Folder folder;
  CHECK(code_of([] { make_sink(video_sink(), {{"path", std::string("a.txt")}}); }) == ExitCode::BadConfig);
  CHECK(code_of([] {
          make_sink(video_sink(), {{"path", std::string("a.webm")}, {"codec", std::string("mjpeg")}});
        }) == ExitCode::BadConfig);
  const auto sink = make_sink(video_sink(), {{"path", std::string("a.mkv")}});
  const ImageFormat floats{.width = 8, .height = 8, .channels = 1, .type = ElementType::F32};
  CHECK(code_of([&] { sink->open(context_for(floats, {}, folder.path())); }) == ExitCode::BadConfig);
  sink->finish();
  CHECK(folder.files() == 0);
}

TEST_CASE("nothing is written outside of the output folder or through a link") {
  const Folder folder;
  fs::create_directory(folder.path() / "out");
  spill(folder / "victim.mkv", "precious");
  spill(folder / "victim.png", "precious");
  fs::create_symlink(folder.path() / "victim.mkv", folder.path() / "out" / "link.mkv");
  fs::create_symlink(folder.path() / "victim.png", folder.path() / "out" / "link.png");
  fs::create_directory_symlink(folder.path(), folder.path() / "out" / "up");
  const ImageFormat format{.width = 16, .height = 16, .channels = 4};
  const auto refused = [&](const SinkType& type, const std::string& path) {
    CAPTURE(path);
    const auto sink = make_sink(type, {{"path", path}});
    const ExitCode code = code_of([&] { sink->open(context_for(format, {}, folder.path() / "out")); });
    CHECK((code == ExitCode::BadConfig || code == ExitCode::CannotCreate));
  };
  for (const char* path : {"../victim.mkv", "/tmp/contorno-escape.mkv", "link.mkv", "up/victim.mkv"})
    refused(video_sink(), path);
  for (const char* path : {"../victim.png", "/tmp/contorno-escape.png", "link.png", "up/{name}.png"})
    refused(images_sink(), path);
  CHECK(content(folder / "victim.mkv") == "precious");
  CHECK(content(folder / "victim.png") == "precious");
}

TEST_CASE("a name from outside cannot leave the output folder") {
  const Folder folder;
  const auto sink = make_sink(images_sink(), {{"path", std::string("in/%n%s-{name}.png")}});
  Frame frame = made_picture(16, 16, 1);
  sink->open(context_for(frame.format, {}, folder.path()));
  frame.info.name = "../../evil\n.jpg";
  sink->write(frame.info, view_of(frame));
  sink->finish();
  CHECK(fs::exists(folder.path() / "in" / "%n%s-evil_.png"));
}

TEST_CASE("a sink that cannot write says so, and no half file has the final name") {
  std::signal(SIGXFSZ, SIG_IGN);
  const Folder folder;
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit tiny{.rlim_cur = 20'000, .rlim_max = old.rlim_max};
  const auto source = open_source(test_source(), test_picture(320, 240, 60, "snow"));
  auto frames = read_all(*source);
  const auto video =
      make_sink(video_sink(), {{"path", std::string("a.mkv")}, {"codec", std::string("mjpeg")}});
  const auto image = make_sink(images_sink(), {{"path", std::string("a.png")}});
  std::string video_sentence, image_sentence;
  setrlimit(RLIMIT_FSIZE, &tiny);
  const ExitCode video_code =
      code_of([&] { write_all(*video, frames, source->format(), folder.path()); }, &video_sentence);
  const ExitCode image_code =
      code_of([&] { write_all(*image, frames, source->format(), folder.path()); }, &image_sentence);
  setrlimit(RLIMIT_FSIZE, &old);
  video->finish();
  image->finish();
  CHECK(video_code == ExitCode::Io);
  CHECK(video_sentence.find("a.mkv") != std::string::npos);
  CHECK(image_code == ExitCode::Io);
  CHECK(image_sentence.find("a.png") != std::string::npos);
  CHECK_FALSE(fs::exists(folder.path() / "a.mkv"));
  CHECK_FALSE(fs::exists(folder.path() / "a.png"));
}

TEST_CASE("a new picture size begins a new video file") {
  const Folder folder;
  std::vector<Frame> small{made_picture(64, 48, 1), made_picture(64, 48, 2)};
  std::vector<Frame> large{made_picture(80, 64, 3)};
  const auto sink =
      make_sink(video_sink(), {{"path", std::string("sub/a.avi")}, {"codec", std::string("png")}});
  sink->open(context_for(small[0].format, {}, folder.path()));
  for (Frame& frame : small) sink->write(frame.info, view_of(frame));
  write_all(*sink, large, {}, folder.path());
  CHECK(read_all(*open_source(video_source(), at(folder / "sub/a.avi"))).size() == 2);
  const auto second = open_source(video_source(), at(folder / "sub/a-2.avi"));
  CHECK(second->format().frame->width == 80);
}

TEST_CASE("a picture size of which no picture comes leaves no file, and its number to the next") {
  for (const char* extension : {".avi", ".mkv", ".mp4"}) {
    CAPTURE(extension);
    const Folder folder;
    const std::string name = std::string("a") + extension;
    std::vector<Frame> large{made_picture(80, 64, 3)};
    const auto sink = make_sink(video_sink(), {{"path", name}});
    sink->open(context_for({.width = 64, .height = 48, .channels = 4}, {}, folder.path()));
    write_all(*sink, large, {}, folder.path());
    CHECK(folder.files() == 1);
    CHECK(open_source(video_source(), at(folder / name))->format().frame->width == 80);
  }
}

TEST_CASE("a video of no pictures is absent") {
  const Folder folder;
  const auto sink = make_sink(video_sink(), {{"path", std::string("a.mp4")}});
  sink->open(context_for({.width = 64, .height = 48, .channels = 4}, {}, folder.path()));
  sink->finish();
  CHECK(folder.files() == 0);
  CHECK(sink->summary().empty());
}

TEST_CASE("missing inputs are named, with the folder that was looked in") {
  std::string sentence;
  const auto check = [&](const SourceType& type, const std::string& location) {
    CAPTURE(location);
    CHECK(code_of([&] { open_source(type, at(location)); }, &sentence) == ExitCode::MissingInput);
    CHECK(sentence.find(fs::current_path().string()) != std::string::npos);
  };
  check(video_source(), "no/such.mp4");
  check(video_source(), "file:///no/such.mp4");
  check(video_source(), "/dev/zero");
  check(video_source(), "x filesrc location=/etc/passwd ! filesink location=/tmp/contorno-injected");
  check(images_source(), "no/such/folder");
  check(images_source(), "no/such/*.png");
  CHECK_FALSE(fs::exists("/tmp/contorno-injected"));
  CHECK(code_of([] {
          open_source(camera_source(), {{"device", std::string("/dev/video99")}});
        }) == ExitCode::MissingInput);
}

TEST_CASE("files that are no videos and videos that are cut off do not hang") {
  const Folder folder;
  spill(folder / "text.mp4", std::string(5000, 'x'));
  std::string sentence;
  CHECK(code_of([&] { open_source(video_source(), at(folder / "text.mp4")); }, &sentence) != ExitCode::Ok);
  CHECK(sentence.find("text.mp4") != std::string::npos);
  spill(folder / "empty.mp4", "");
  CHECK(code_of([&] { open_source(video_source(), at(folder / "empty.mp4")); }) != ExitCode::Ok);
  const auto source = open_source(test_source(), test_picture(160, 120, 40));
  auto frames = read_all(*source);
  const auto sink = make_sink(video_sink(), {{"path", std::string("a.mkv")}});
  write_all(*sink, frames, source->format(), folder.path());
  const std::string whole = content(folder / "a.mkv");
  spill(folder / "cut.mkv", whole.substr(0, whole.size() / 2));
  const auto cut = read_all(*open_source(video_source(), at(folder / "cut.mkv")));
  CHECK(cut.size() > 5);
  CHECK(cut.size() < 40);
  CHECK(cut.back().result == ReadResult::Frame);
}

TEST_CASE("start, limit and loop choose frames, and times go on in a loop") {
  const Folder folder;
  const auto source = open_source(test_source(), test_picture(64, 48, 10));
  auto frames = read_all(*source);
  const auto sink = make_sink(video_sink(), {{"path", std::string("a.avi")}, {"codec", std::string("png")}});
  write_all(*sink, frames, source->format(), folder.path());
  const auto part =
      open_source(video_source(),
                  {{"location", folder / "a.avi"}, {"start", std::int64_t{3}}, {"limit", std::int64_t{4}}});
  CHECK(part->format().frame_count == 4);
  const auto some = read_all(*part);
  REQUIRE(some.size() == 4);
  CHECK(some[0].pixels == frames[3].pixels);
  const auto looped = read_all(*open_source(
      video_source(), {{"location", folder / "a.avi"}, {"loop", true}, {"limit", std::int64_t{25}}}));
  REQUIRE(looped.size() == 25);
  CHECK(looped[13].pixels == frames[3].pixels);
  for (std::size_t i = 1; i < looped.size(); ++i) CHECK(looped[i].info.pts_ns > looped[i - 1].info.pts_ns);
}

TEST_CASE("every takes each n-th frame, with its own time and the rate that is left") {
  const Folder folder;
  const auto source = open_source(test_source(), test_picture(64, 48, 10));
  auto frames = read_all(*source);
  const auto sink = make_sink(video_sink(), {{"path", std::string("a.avi")}, {"codec", std::string("png")}});
  write_all(*sink, frames, source->format(), folder.path());
  const auto some =
      open_source(video_source(),
                  {{"location", folder / "a.avi"}, {"start", std::int64_t{2}}, {"every", std::int64_t{3}}});
  CHECK(some->format().frame_count == 3);
  CHECK(some->format().rate_numerator == 10);
  CHECK(some->format().rate_denominator == 1);
  const auto taken = read_all(*some);
  REQUIRE(taken.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(taken[i].pixels == frames[2 + 3 * i].pixels);
    CHECK(std::abs(taken[i].info.pts_ns - frames[2 + 3 * i].info.pts_ns) < 1'000'000);
  }
  CHECK(some->faults().empty());
  for (int i = 0; i < 7; ++i) write_picture(folder, std::to_string(i) + ".png", made_picture(8, 8, i));
  const auto pictures = open_source(images_source(), {{"location", folder / "*.png"},
                                                      {"rate", 10.0},
                                                      {"start", std::int64_t{1}},
                                                      {"every", std::int64_t{4}}});
  CHECK(pictures->format().frame_count == 2);
  const auto chosen = read_all(*pictures);
  REQUIRE(chosen.size() == 2);
  CHECK(chosen[0].info.name == "1.png");
  CHECK(chosen[1].info.name == "5.png");
  CHECK(chosen[1].info.pts_ns == 400'000'000);
}

TEST_CASE("a recording that is played live keeps its rate, and can be cancelled while it waits") {
  const Folder folder;
  const auto source = open_source(test_source(), test_picture(64, 48, 4));
  auto frames = read_all(*source);
  const auto sink = make_sink(video_sink(), {{"path", std::string("a.avi")}, {"codec", std::string("png")}});
  write_all(*sink, frames, source->format(), folder.path());
  write_picture(folder, "a.png", made_picture(8, 8, 1));
  const auto video = open_source(video_source(), {{"location", folder / "a.avi"}, {"live", true}});
  CHECK(video->format().live);
  const auto begin = std::chrono::steady_clock::now();
  CHECK(read_all(*video).size() == 4);
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(99));  // three intervals
  const auto slow = open_source(
      images_source(), {{"location", folder / "a.png"}, {"live", true}, {"loop", true}, {"rate", 0.001}});
  CHECK(slow->format().live);
  CHECK(read_one(*slow).result == ReadResult::Frame);
  std::thread canceller([&] { slow->cancel(); });
  CHECK(read_one(*slow).result == ReadResult::End);
  canceller.join();
}

TEST_CASE("cancel ends a read that waits, and every later one") {
  // One frame in a hundred seconds: the second read waits.
  auto values = test_picture(16, 16, 0);
  values.emplace_back("rate", 0.01);
  values.emplace_back("live", true);
  const auto source = open_source(test_source(), values);
  CHECK(source->format().live);
  CHECK(read_one(*source).result == ReadResult::Frame);
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    source->cancel();
  });
  const auto begin = std::chrono::steady_clock::now();
  CHECK(read_one(*source).result == ReadResult::End);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(50));
  CHECK(read_one(*source).result == ReadResult::End);
  canceller.join();
}

TEST_CASE("the preview without a display says what is missing") {
  if (std::getenv("DISPLAY") || std::getenv("WAYLAND_DISPLAY")) return;
  CHECK(code_of([] { make_sink(preview_sink(), {}); }) == ExitCode::Unavailable);
}

TEST_CASE("the media report names elements, packages and what is missing") {
  const MediaReport report = media_report();
  CHECK(report.version.starts_with("1."));
  CHECK(report.elements.size() > 20);
  for (const MediaElement& element : report.elements) {
    CAPTURE(element.name);
    CHECK_FALSE(element.package.empty());
    CHECK_FALSE(element.purpose.empty());
  }
  CHECK(report.complete());
}
