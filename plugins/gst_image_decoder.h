// The inside of ImageDecoder, shared with the source 'images', which copies the decoded picture straight into
// a slot.
#pragma once

#include <memory>
#include <string>

#include "plugins/gst_chain.h"
#include "plugins/gst_media.h"

namespace contorno {

class ImageDecoder::Impl {
 public:
  explicit Impl(std::uint64_t max_pixels) : max_pixels_(max_pixels) { gst::ensure_init(); }

  /// As ImageDecoder::decode; the picture is then in sample().
  bool decode(const std::string& path, std::string& error);
  GstSample* sample() const { return sample_.get(); }
  /// Gives the picture's memory back for the next one.
  void release() { sample_.reset(); }

 private:
  bool read_file(const std::string& path, std::string& error);
  bool size_is_allowed(const std::string& path, const GstStructure* caps, std::string& error);
  bool truncated(const std::string& path, std::string& error);
  /// JPEG and PNG: through a chain that is made when it is first needed, again after an error.
  struct Still {
    std::unique_ptr<gst::Chain> chain;
    GstElement* flip = nullptr;  // owned by the chain
  };
  bool decode_still(Still& still, const char* element, const char* type, const std::string& path,
                    std::string& error);
  bool decode_other(const std::string& path, std::string& error);

  std::uint64_t max_pixels_;
  std::string bytes_;  // the file, kept for its capacity
  Still jpeg_, png_;
  gst::Owned<GstSample> sample_;
};

}  // namespace contorno
