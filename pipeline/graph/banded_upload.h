// The upload of an image from page-locked memory to the device in bands, so that work on the first bands can
// begin while others are still being copied. After the last byte only the work on the last band is left, so
// that band is small. Earlier bands are larger, since every copy costs two microseconds, and work on a band
// only has to end before the next band arrives.
//
// Copies run one after the other on a stream of their own, and events order them against the caller's stream,
// so that all of it may be captured in a CUDA graph. There is one object for each frame in flight; it is used
// by one thread at a time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cuda/stream.h"
#include "pipeline/value/image.h"

namespace contorno {

/// Rows [begin, end) of planes [plane, plane + planes). (An interleaved image is one plane.)
struct ImageBand {
  int plane = 0, planes = 0, begin = 0, end = 0;
  bool operator==(const ImageBand&) const = default;
};

/// Bytes of the last band; PCIe 5.0 takes 19 us for them. (On an H200, half and double of it were slower.)
inline constexpr std::size_t kLastBandBytes = std::size_t{1} << 20;

/// Cuts an image: in the order of upload, a last band of about `last_bytes`, each one before it a few times
/// larger than the next. A band is some rows of one plane or some whole planes. Images of at most four times
/// `last_bytes` are one band: for them the copies' own cost is about what overlapping would save.
std::vector<ImageBand> upload_bands(const ImageFormat& format, std::size_t last_bytes = kLastBandBytes);
/// The whole image as one band.
std::vector<ImageBand> one_band(const ImageFormat& format);

class BandedUpload {
 public:
  /// `bands` in the order of upload, at least one.
  explicit BandedUpload(std::vector<ImageBand> bands);

  /// Enqueues the copies, which wait for the work on `stream` so far. `host` is page-locked; both images have
  /// the same format and pitches. `done` (may be null) is recorded when the last copy ends.
  void begin(const ImageView& host, const ImageView& device, void* stream, const Event* done = nullptr);
  /// Work that is enqueued on `stream` from now on waits until band `k`, and all bands before it, have
  /// arrived.
  void wait_for(std::size_t k, void* stream);
  void wait_for_all(void* stream) { wait_for(bands_.size() - 1, stream); }
  std::span<const ImageBand> bands() const { return bands_; }

 private:
  std::vector<ImageBand> bands_;
  std::size_t waited_ = 0;  ///< bands that the caller's stream waits for already
  // More than one band:
  Stream copies_;
  Event begin_;
  std::vector<Event> arrived_;
};

}  // namespace contorno
