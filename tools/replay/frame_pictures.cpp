#include "tools/replay/frame_pictures.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/memory.h"
#include "config/load.h"
#include "plugins/files/levels/writer.h"
#include "tools/source_param.h"

namespace contorno {
namespace {

/// A side of a picture that a page shows is not longer.
constexpr int kLongestSide = 1280;

/// The means of squares of pixels, so that the longer side has at most kLongestSide.
std::string reduced_png(const ImageView& frame) {
  const int side = std::max(frame.format.width, frame.format.height);
  const int step = (side + kLongestSide - 1) / kLongestSide, channels = frame.format.channels;
  if (step <= 1) return encode_png(frame, {});
  ImageFormat format{
      .width = frame.format.width / step, .height = frame.format.height / step, .channels = channels};
  format.width = std::max(format.width, 1), format.height = std::max(format.height, 1);
  Block memory(packed_bytes(format), MemoryKind::Host);
  const ImageView image = packed_view(memory.data(), format);
  const int rows = std::min(step, frame.format.height), cols = std::min(step, frame.format.width);
  for (int y = 0; y < format.height; ++y)
    for (int x = 0; x < format.width * channels; ++x) {
      unsigned sum = 0;
      for (int row = 0; row < rows; ++row) {
        const std::uint8_t* from = frame.row<std::uint8_t>(y * step + row) +
                                   std::ptrdiff_t{x / channels} * step * channels + x % channels;
        for (int col = 0; col < cols; ++col) sum += from[std::ptrdiff_t{col} * channels];
      }
      const auto count = static_cast<unsigned>(rows * cols);
      image.row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>((sum + count / 2) / count);
    }
  return encode_png(image, {});
}

/// A source that is read on from some place.
class FrameReader {
 public:
  FrameReader(GraphSpec graph, std::uint64_t place) : place_(place) {
    if (place > 0) set_source_param(graph.source, "start", static_cast<std::int64_t>(place));
    if (graph.source.type->params.find("every") != nullptr) graph.source.params.set("every", std::int64_t{1});
    if (graph.source.type->params.find("live") != nullptr) graph.source.params.set("live", false);
    source_ = config::make_source(graph);
  }
  std::uint64_t place() const { return place_; }

  /// The next frame; nothing where there is none, where it is not usable, or where it is not `wanted`.
  std::optional<FramePicture> next(bool wanted) {
    ++place_;
    while (source_->format().frame) {
      const ImageFormat& frame = *source_->format().frame;
      const std::optional<ImageFormat>& maps = source_->format().maps;
      const std::size_t bytes = align_up(packed_bytes(frame)), all = bytes + (maps ? packed_bytes(*maps) : 0);
      if (memory_.size() < all) memory_ = Block(all, MemoryKind::Host);
      FrameInput input;
      input.frame = packed_view(memory_.data(), frame);
      if (maps) input.maps = packed_view(memory_.data() + bytes, *maps);
      const ReadResult result = source_->read(input);
      if (result == ReadResult::FormatChanged) continue;
      if (result != ReadResult::Frame || !wanted) return std::nullopt;
      return FramePicture{reduced_png(input.frame), frame.width, frame.height};
    }
    return std::nullopt;
  }

 private:
  std::uint64_t place_;
  std::unique_ptr<Source> source_;
  Block memory_;
};

}  // namespace

std::map<std::uint64_t, FramePicture> frame_pictures(const GraphSpec& graph,
                                                     std::span<const std::uint64_t> places) {
  std::map<std::uint64_t, FramePicture> pictures;
  std::optional<FrameReader> reader;
  // Every frame of a film before the one that is sought is decoded in any case.
  const bool begins_anywhere =
      graph.source.type->name != "video" && graph.source.type->params.find("start") != nullptr;
  try {
    for (const std::uint64_t place : places) {
      if (!reader || (reader->place() != place && begins_anywhere))
        reader.emplace(graph, begins_anywhere ? place : 0);
      while (reader->place() < place) reader->next(false);
      if (auto picture = reader->next(true)) pictures.emplace(place, std::move(*picture));
    }
  } catch (const Error&) {
    // The page says what differs without them, too; what is wrong with the source the run has told.
  }
  return pictures;
}

}  // namespace contorno
