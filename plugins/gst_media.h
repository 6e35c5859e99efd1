// Media in and out, through GStreamer: the sources video, images, camera and test, the sinks video, images
// and preview, and what of GStreamer this machine has. No GStreamer type appears here. Sources and sinks
// follow the thread rules of pipeline/source.h and pipeline/sink.h; every value given by a user is set as a
// property of an element and never becomes part of a launch line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/sink.h"
#include "pipeline/source.h"

namespace contorno {

const SourceType& video_source();   ///< a video file or a URI (file, http, rtsp)
const SourceType& images_source();  ///< one image file, a folder of them, or a glob
const SourceType& camera_source();  ///< a Video4Linux camera
const SourceType& test_source();    ///< a synthetic, repeatable picture

const SinkType& video_sink();    ///< one video file
const SinkType& images_sink();   ///< one PNG or JPEG file a frame
const SinkType& preview_sink();  ///< a live window

/// An image file in memory: U8, interleaved, red green blue alpha, rows without gaps.
struct DecodedImage {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;
};

/// Decodes image files one after the other with elements that stay open. Used by one thread at a time.
class ImageDecoder {
 public:
  /// Refuses images of more than `max_pixels`, by their header, before memory is taken for them.
  explicit ImageDecoder(std::uint64_t max_pixels = kDefaultMaxPixels);
  ~ImageDecoder();
  ImageDecoder(const ImageDecoder&) = delete;
  ImageDecoder& operator=(const ImageDecoder&) = delete;

  /// False with a sentence in `error` (which names the file) when `path` is not a whole, readable image.
  bool decode(const std::string& path, DecodedImage& out, std::string& error);

  static constexpr std::uint64_t kDefaultMaxPixels = 128'000'000;

  class Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// ImageDecoder::decode with a decoder that belongs to the calling thread.
bool decode_image(const std::string& path, DecodedImage& out, std::string& error);

/// One element that contorno can use.
struct MediaElement {
  std::string name;     ///< "vp8enc"
  std::string package;  ///< the Debian package that brings it
  std::string purpose;  ///< "writes VP8 video"
  bool present = false;
  bool optional = false;  ///< only some formats or devices need it
};

/// What `contorno doctor` says about media.
struct MediaReport {
  std::string version;  ///< "1.22.0"
  std::vector<MediaElement> elements;

  bool complete() const;                              ///< nothing is missing that is not optional
  std::vector<std::string> missing_packages() const;  ///< of all elements, each once, sorted
};
MediaReport media_report();

}  // namespace contorno
