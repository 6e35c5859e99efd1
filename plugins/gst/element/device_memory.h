// Frames that lie in memory of the device, as GStreamer's CUDA elements hand them on: caps with the feature
// memory:CUDAMemory. The memory is reached through GStreamer's own functions, so nothing here needs its CUDA
// library to be built or loaded.
#pragma once

#include <gst/gst.h>

namespace contorno::gst {

inline constexpr const char* kDeviceFeature = "memory:CUDAMemory";
/// With this flag a buffer is mapped to its address on the device: GST_MAP_CUDA of gst/cuda/gstcudamemory.h.
inline constexpr int kMapOnDevice = GST_MAP_FLAG_LAST << 1;

/// Whether frames of these caps lie on the device.
bool are_on_device(const GstCaps* caps);
/// `caps` without those whose frames lie on the device; takes the reference.
GstCaps* without_device(GstCaps* caps);
/// Waits for the work by which another element fills the buffer, which GStreamer 1.24 and newer leave to who
/// reads it.
void wait_for_contents(GstBuffer* buffer);

}  // namespace contorno::gst
