// What the tests of media sources and sinks share: a folder, pictures, runs through a sink and a source.
#pragma once

#include "plugins/media/media.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/file_content.h"
#include "tests/temporary_folder.h"

namespace contorno::test {

namespace fs = std::filesystem;

/// A folder that goes with the test; folder / "name" is a path as text.
struct Folder : TemporaryFolder {
  std::string operator/(const std::string& name) const { return (path() / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path()), fs::directory_iterator()));
  }
};

using Values = std::vector<std::pair<std::string, ParamValue>>;

inline ParamSet params_of(const ParamDeclaration& declaration, const Values& values) {
  ParamSet params(declaration);
  for (const auto& [name, value] : values) params.set(name, value);
  return params;
}
inline std::unique_ptr<Source> open_source(const SourceType& type, const Values& values) {
  return type.make(params_of(type.params, values));
}
inline std::unique_ptr<Sink> make_sink(const SinkType& type, const Values& values) {
  return type.make(params_of(type.params, values));
}
inline Values at(const std::string& path) {
  return {{"location", path}};
}

/// What a source gave with one call.
struct Frame {
  ReadResult result = ReadResult::End;
  ImageFormat format;
  FrameInfo info;
  std::string error;
  std::vector<std::uint8_t> pixels;  // rows without gaps

  std::uint8_t at(int x, int y, int channel) const {
    return pixels[(static_cast<std::size_t>(y) * static_cast<std::size_t>(format.width) +
                   static_cast<std::size_t>(x)) *
                      4 +
                  static_cast<std::size_t>(channel)];
  }
};

/// Reads into memory with the pitches of a slot, checks that nothing behind the rows is touched.
inline Frame read_one(Source& source) {
  constexpr std::uint8_t kUntouched = 0xA5;
  Frame frame;
  frame.format = source.format().frame.value();
  std::vector<std::uint8_t> memory(packed_bytes(frame.format) + 64, kUntouched);
  FrameInput input;
  input.frame = packed_view(memory.data(), frame.format);
  frame.result = source.read(input);
  frame.info = input.info;
  frame.error = input.error;
  if (frame.result != ReadResult::Frame) return frame;
  for (int y = 0; y < frame.format.height; ++y) {
    const auto* row = input.frame.row<std::uint8_t>(y);
    frame.pixels.insert(frame.pixels.end(), row, row + frame.format.row_bytes());
    for (auto i = static_cast<std::ptrdiff_t>(frame.format.row_bytes()); i < input.frame.row_pitch; ++i)
      REQUIRE(row[i] == kUntouched);
  }
  return frame;
}

inline std::vector<Frame> read_all(Source& source) {
  std::vector<Frame> frames;
  for (;;) {
    frames.push_back(read_one(source));
    if (frames.back().result == ReadResult::End) {
      frames.pop_back();
      return frames;
    }
  }
}

inline ImageView view_of(Frame& frame) {
  return {.data = frame.pixels.data(),
          .format = frame.format,
          .row_pitch = static_cast<std::ptrdiff_t>(frame.format.row_bytes())};
}

inline SinkContext context_for(const ImageFormat& format, const StreamFormat& stream, const fs::path& root) {
  return {.format = format, .stream = stream, .classes = {}, .output_root = root.string()};
}

/// Puts `frames` through a sink, from open to finish.
inline void write_all(Sink& sink, std::vector<Frame>& frames, const StreamFormat& stream,
                      const fs::path& root) {
  sink.open(context_for(frames.front().format, stream, root));
  for (Frame& frame : frames) sink.write(frame.info, view_of(frame));
  sink.finish();
}

inline double mean_difference(const Frame& a, const Frame& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) sum += std::abs(a.pixels[i] - b.pixels[i]);
  return sum / static_cast<double>(a.pixels.size());
}

inline Values test_picture(int width, int height, int frames, const char* pattern = "ball") {
  return {{"pattern", std::string(pattern)},
          {"width", std::int64_t{width}},
          {"height", std::int64_t{height}},
          {"frames", std::int64_t{frames}}};
}

/// The same picture with other numbers, and colours of its own at the corners.
inline Frame made_picture(int width, int height, int seed) {
  Frame frame;
  frame.format = {.width = width, .height = height, .channels = 4};
  frame.pixels.resize(frame.format.row_bytes() * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 4; ++c)
        frame.pixels[(static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                      static_cast<std::size_t>(x)) *
                         4 +
                     static_cast<std::size_t>(c)] =
            static_cast<std::uint8_t>(x * 7 + y * 13 + c * 61 + seed * 29);
  return frame;
}

inline void write_picture(const Folder& folder, const std::string& name, Frame frame) {
  const auto sink = make_sink(images_sink(), {{"path", name}});
  std::vector<Frame> frames{std::move(frame)};
  write_all(*sink, frames, {}, folder.path());
}

inline void spill(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline ExitCode code_of(const std::function<void()>& action, std::string* sentence = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (sentence) *sentence = error.what();
    return error.code();
  }
  return ExitCode::Ok;
}

}  // namespace contorno::test
