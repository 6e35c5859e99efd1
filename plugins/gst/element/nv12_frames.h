// Nv12Frames brings frames of NV12 in memory of the device to the graph, and what the graph has drawn back
// into them. The memory of a GStreamer element is of its own CUDA context, which kernels of another may not
// touch but copies may, so each frame is copied to memory of this object and converted there: 1.5 bytes a
// pixel on the device. One thread may read while another draws.
#pragma once

#include <gst/video/video.h>

#include "base/memory.h"
#include "cuda/stream.h"
#include "plugins/gst/element/nv12.h"

namespace contorno::gst {

class Nv12Frames {
 public:
  /// Throws Error(BadConfig) for colours without a conversion, and for frames of two fields.
  explicit Nv12Frames(const GstVideoInfo& info);

  /// Writes a mapped frame as RGBA to `to`, and waits for it. Throws Error(BadData) for one of two fields.
  void read(const GstVideoFrame& from, const ImageView& to, const Stream& stream);
  /// Writes the pixels of `after` that differ from `before` to a mapped frame, and waits for it.
  void draw(const ImageView& before, const ImageView& after, const GstVideoFrame& to, const Stream& stream);

 private:
  /// A frame in memory of this object: chroma behind luma, in rows of one pitch.
  class Copy {
   public:
    Copy(int width, int height);
    const Nv12Planes& planes() const { return planes_; }
    void copy_from(const GstVideoFrame& frame, const Stream& stream) const;
    void copy_to(const GstVideoFrame& frame, const Stream& stream) const;

   private:
    Block memory_;
    Nv12Planes planes_;
  };

  Nv12Colours colours_;
  Copy read_, drawn_;
};

}  // namespace contorno::gst
