// What GStreamer says that it lacks, and which package of Debian has it. Stateless.
#pragma once

#include <gst/gst.h>

#include <string>

namespace contorno::gst {

/// The end of a sentence: what to do about a film that nothing here decodes.
inline constexpr const char* kFfmpegMayRead =
    "if ffmpeg reads the file, convert it: ffmpeg -i FILE -c:v ffv1 FILE.mkv";

/// "Advanced Streaming Format (ASF) demuxer, which comes with the package gstreamer1.0-plugins-ugly (apt-get
/// install gstreamer1.0-plugins-ugly)" of a message that something is not installed; of what no package has
/// that is not installed already, what else helps. Empty for every other message, and for sound.
std::string missing_part(GstMessage* message);

}  // namespace contorno::gst
