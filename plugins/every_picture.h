// The formats of pictures that this build decodes: those that PictureDecoder knows itself, and with GStreamer
// those that GStreamer knows.
#pragma once

#include "plugins/files/pictures/decoder.h"
#ifdef CONTORNO_HAVE_GSTREAMER
#include "plugins/media/media.h"
#endif

namespace contorno {

/// The decoder of other formats that PictureDecoder and frame_decoder take; empty without GStreamer.
inline PictureDecoder::Other other_pictures() {
#ifdef CONTORNO_HAVE_GSTREAMER
  return decode_with_gstreamer;
#else
  return {};
#endif
}

}  // namespace contorno
