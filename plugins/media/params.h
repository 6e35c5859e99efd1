// The parameters of the sources and sinks of media, which the library declares and the module gst works with.
// What each means, its unit and its range are in the declarations (sources.cpp and sinks.cpp beside this
// file).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "plugins/shared/playback.h"

namespace contorno {

inline constexpr int kMaxVideoSide = 16384;   ///< pixels
inline constexpr int kReconnectForEver = -1;  ///< number of attempts that stands for no end

struct VideoSourceParams : Playback {
  std::string location, credentials, caps;
  std::int64_t limit = 0;
  bool loop = false;
  int timeout = 10'000;
  int latency = 200;
  int reconnect_attempts = 10;
};

/// How a camera sends its pictures; Auto: in any way that contorno reads.
enum class PixelFormat : std::uint8_t { Auto, Yuy2, Uyvy, Nv12, I420, Grey, Grey16, Rgb, Bgr, Mjpeg };

struct PixelFormatName {
  PixelFormat format;
  const char* name;    ///< as users write it
  const char* media;   ///< the name of its caps
  const char* sample;  ///< the field `format` of these; null: they have none
};
/// All but Auto.
inline constexpr std::array kPixelFormatNames{
    PixelFormatName{PixelFormat::Yuy2, "yuy2", "video/x-raw", "YUY2"},
    PixelFormatName{PixelFormat::Uyvy, "uyvy", "video/x-raw", "UYVY"},
    PixelFormatName{PixelFormat::Nv12, "nv12", "video/x-raw", "NV12"},
    PixelFormatName{PixelFormat::I420, "i420", "video/x-raw", "I420"},
    PixelFormatName{PixelFormat::Grey, "grey", "video/x-raw", "GRAY8"},
    PixelFormatName{PixelFormat::Grey16, "grey16", "video/x-raw", "GRAY16_LE"},
    PixelFormatName{PixelFormat::Rgb, "rgb", "video/x-raw", "RGB"},
    PixelFormatName{PixelFormat::Bgr, "bgr", "video/x-raw", "BGR"},
    PixelFormatName{PixelFormat::Mjpeg, "mjpeg", "image/jpeg", nullptr}};

struct CameraParams {
  std::string device = "/dev/video0";
  int width = 0, height = 0;
  double framerate = 0;
  PixelFormat pixel_format = PixelFormat::Auto;
  double exposure = 0;
  int gain = -1;
  std::string controls;
  int timeout = 10'000;
  int reconnect_attempts = 10;
};

/// What is named: one element of GStreamer, or a bin of several by a launch line.
struct GstSourceParams : Playback {
  std::string element, properties, launch, caps;
  std::int64_t limit = 0;
  int timeout = 10'000;
  int reconnect_attempts = 0;
};

struct TestParams {
  std::string pattern = "smpte";
  int width = 320, height = 240;
  double rate = 30;
  std::int64_t frames = 300;
  bool live = false;
};

enum class Codec : std::uint8_t { Auto, Vp8, Mjpeg, Png, Theora, H264 };

struct CodecName {
  Codec codec;
  const char* name;  ///< as users write it
};
/// All but Auto, in the order in which they are offered.
inline constexpr std::array kCodecNames{CodecName{Codec::Vp8, "vp8"}, CodecName{Codec::Mjpeg, "mjpeg"},
                                        CodecName{Codec::Png, "png"}, CodecName{Codec::Theora, "theora"},
                                        CodecName{Codec::H264, "h264"}};

/// Who encodes; Auto: the encoder that is the codec's everywhere, whose bytes are the same on every machine.
enum class Encoder : std::uint8_t { Auto, X264, Nvidia, Va };

struct EncoderName {
  Encoder encoder;
  const char* name;  ///< as users write it
  Codec codec;       ///< what it writes
};
/// All but Auto.
inline constexpr std::array kEncoderNames{EncoderName{Encoder::X264, "x264", Codec::H264},
                                          EncoderName{Encoder::Nvidia, "nvidia", Codec::H264},
                                          EncoderName{Encoder::Va, "va", Codec::H264}};

struct VideoSinkParams {
  std::string path;
  Codec codec = Codec::Auto;
  Encoder encoder = Encoder::Auto;
  int quality = 75;
};

struct ImagesSinkParams {
  std::string path;
  std::int64_t every = 1, first = 0, limit = 0;
  int compression = 3;
  int quality = 92;
  bool objects = false;
  int around = 8;
};

struct PreviewParams {
  std::string title;
};

}  // namespace contorno
