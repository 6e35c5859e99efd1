#include "plugins/gst/element/device_memory.h"

#include <dlfcn.h>

namespace contorno::gst {
namespace {

using Synchronise = void (*)(GstMemory*);

/// gst_cuda_memory_sync, if the process has a CUDA library of GStreamer that knows it: who made the memory
/// has loaded it.
Synchronise find_synchronise() {
  void* const library = dlopen("libgstcuda-1.0.so.0", RTLD_LAZY | RTLD_NOLOAD);
  return library != nullptr ? reinterpret_cast<Synchronise>(dlsym(library, "gst_cuda_memory_sync")) : nullptr;
}

}  // namespace

bool are_on_device(const GstCaps* caps) {
  const GstCapsFeatures* const features = gst_caps_get_features(caps, 0);
  return features != nullptr && gst_caps_features_contains(features, kDeviceFeature) != 0;
}

GstCaps* without_device(GstCaps* caps) {
  caps = gst_caps_make_writable(caps);
  gst_caps_filter_and_map_in_place(
      caps,
      [](GstCapsFeatures* features, GstStructure*, gpointer) -> gboolean {
        return static_cast<gboolean>(gst_caps_features_contains(features, kDeviceFeature) == 0);
      },
      nullptr);
  return caps;
}

void wait_for_contents(GstBuffer* buffer) {
  static const Synchronise synchronise = find_synchronise();
  if (synchronise == nullptr) return;
  for (guint index = 0; index < gst_buffer_n_memory(buffer); ++index)
    synchronise(gst_buffer_peek_memory(buffer, index));
}

}  // namespace contorno::gst
