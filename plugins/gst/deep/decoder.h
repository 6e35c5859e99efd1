// What the module deep gives: libav's decoders, for the streams whose samples GStreamer has no name for.
// Pictures come as grey, RGB or YCbCr of 16 bits. Knows nothing of GStreamer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace contorno::gst {

/// How the samples of a picture lie: words of 16 bits of the machine's order.
enum class DeepSamples : std::uint8_t {
  Grey,    ///< one plane
  Rgba,    ///< one plane of four interleaved samples
  Yuv444,  ///< three planes of one size
};

/// A decoded picture. Its memory is the decoder's, until the next call.
struct DeepPicture {
  DeepSamples samples = DeepSamples::Grey;
  int width = 0, height = 0;
  std::array<const std::uint8_t*, 3> planes{};
  std::array<std::ptrdiff_t, 3> pitches{};  ///< bytes
  std::int64_t number = 0;                  ///< of the packet that it belongs to
  int matrix = 2, range = 0;  ///< ISO/IEC 23001-8, 2: not told; 0: not told, 1: 16 to 235, 2: 0 to 255
  bool damaged = false;
};

class DeepDecoder {
 public:
  virtual ~DeepDecoder() = default;
  /// Gives the decoder the next packet, or its end with an empty one; `key`: it refers to no other. False
  /// with a sentence in `why` when it cannot be decoded.
  virtual bool send(std::span<const std::uint8_t> packet, std::int64_t number, bool key,
                    std::string& why) = 0;
  /// The next picture that is done. Throws Error(BadData) for samples of a kind that cannot be converted.
  virtual std::optional<DeepPicture> receive() = 0;
  virtual void flush() = 0;
};

/// The table of the module.
struct DeepModule {
  /// `codec` is libav's name ("ffv1"), `header` what the container keeps for it. Throws Error(Unavailable)
  /// where libav has no such decoder, Error(BadData) when it does not start, Error(OutOfMemory).
  std::unique_ptr<DeepDecoder> (*make_decoder)(const std::string& codec, std::span<const std::uint8_t> header,
                                               int width, int height);
};

}  // namespace contorno::gst
