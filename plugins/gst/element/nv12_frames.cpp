#include "plugins/gst/element/nv12_frames.h"

#include "base/error.h"
#include "cuda/stream.h"
#include "plugins/gst/element/nv12_colours.h"

namespace contorno::gst {
namespace {

/// Bytes of a row of either plane: of an odd width, chroma has one more.
std::size_t pitch_of(int width) {
  return align_up(static_cast<std::size_t>(width) + 1);
}

/// Calls copy for both planes: `copy(rows of the frame, rows of the copy, bytes of a row, rows)`.
template <class CopyRows>
void for_each_plane(const Nv12Planes& planes, const GstVideoFrame& frame, const CopyRows& copy) {
  const auto width = static_cast<std::size_t>(planes.width), height = static_cast<std::size_t>(planes.height);
  const auto rows_of = [&](guint plane) {
    return MemoryRows{frame.data[plane], static_cast<std::size_t>(frame.info.stride[plane])};
  };
  copy(rows_of(0), MemoryRows{planes.luma, static_cast<std::size_t>(planes.luma_pitch)}, width, height);
  copy(rows_of(1), MemoryRows{planes.chroma, static_cast<std::size_t>(planes.chroma_pitch)},
       (width + 1) / 2 * 2, (height + 1) / 2);
}

}  // namespace

Nv12Frames::Copy::Copy(int width, int height)
    : memory_(
          pitch_of(width) * (static_cast<std::size_t>(height) + (static_cast<std::size_t>(height) + 1) / 2),
          MemoryKind::Device) {
  const auto pitch = static_cast<std::ptrdiff_t>(pitch_of(width));
  auto* const data = reinterpret_cast<std::uint8_t*>(memory_.data());
  planes_ = {data, data + pitch * height, pitch, pitch, width, height};
}

void Nv12Frames::Copy::copy_from(const GstVideoFrame& frame, const Stream& stream) const {
  for_each_plane(planes_, frame,
                 [&](const MemoryRows& outer, const MemoryRows& own, std::size_t bytes, std::size_t rows) {
                   copy_rows_async(own, outer, bytes, rows, stream.get());
                 });
}

void Nv12Frames::Copy::copy_to(const GstVideoFrame& frame, const Stream& stream) const {
  for_each_plane(planes_, frame,
                 [&](const MemoryRows& outer, const MemoryRows& own, std::size_t bytes, std::size_t rows) {
                   copy_rows_async(outer, own, bytes, rows, stream.get());
                 });
}

Nv12Frames::Nv12Frames(const GstVideoInfo& info)
    : colours_(nv12_colours(info)), read_(info.width, info.height), drawn_(info.width, info.height) {}

void Nv12Frames::read(const GstVideoFrame& from, const ImageView& to, const Stream& stream) {
  if (GST_VIDEO_FRAME_IS_INTERLACED(&from))
    throw Error(ExitCode::BadData,
                "a frame of NV12 in memory of the device has two fields; let cudaconvert make RGBA");
  read_.copy_from(from, stream);
  convert_from_nv12(read_.planes(), colours_, to, stream.get());
  stream.synchronize();
}

void Nv12Frames::draw(const ImageView& before, const ImageView& after, const GstVideoFrame& to,
                      const Stream& stream) {
  drawn_.copy_from(to, stream);
  draw_into_nv12(before, after, colours_, drawn_.planes(), stream.get());
  drawn_.copy_to(to, stream);
  stream.synchronize();
}

}  // namespace contorno::gst
