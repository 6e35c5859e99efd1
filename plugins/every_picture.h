// The formats of pictures that this build decodes: those of PictureDecoder, and with GStreamer all of its
// own.
#pragma once

#include "plugins/files/pictures/decoder.h"
#ifdef CONTORNO_HAVE_GSTREAMER
#include "plugins/media/media.h"
#endif

namespace contorno {

/// What PictureDecoder and frame_decoder take.
inline PictureDecoder::Other other_pictures() {
#ifdef CONTORNO_HAVE_GSTREAMER
  return decode_with_gstreamer;
#else
  return {};
#endif
}

}  // namespace contorno
