#include "pipeline/graph/banded_upload.h"

#include <algorithm>
#include <utility>

namespace contorno {
namespace {

// How many times as large each band is as the one behind it. Tracing a band of floats takes a twelfth of its
// upload or less, if it is not noise; a copy more costs 2 us.
constexpr std::size_t kGrowth = 8;

void copy_band(const ImageBand& band, const ImageView& host, const ImageView& device, void* stream) {
  const bool whole = band.begin == 0 && band.end == host.format.height;
  const auto rows = static_cast<std::size_t>(band.end - band.begin);
  const std::size_t bytes = static_cast<std::size_t>(host.row_pitch) * (rows - 1) + host.format.row_bytes();
  // Whole planes go with what lies between them, in one copy.
  const std::size_t between =
      whole ? static_cast<std::size_t>(host.plane_pitch) * static_cast<std::size_t>(band.planes - 1) : 0;
  for (int plane = band.plane; plane < band.plane + (whole ? 1 : band.planes); ++plane)
    copy_async(device.row<std::byte>(band.begin, plane), host.row<std::byte>(band.begin, plane),
               between + bytes, stream);
}

}  // namespace

std::vector<ImageBand> upload_bands(const ImageFormat& format, std::size_t last_bytes) {
  const int height = format.height;
  const std::size_t row_bytes = format.row_bytes();
  const std::size_t plane_bytes = row_bytes * static_cast<std::size_t>(height);
  if (plane_bytes * static_cast<std::size_t>(format.planes()) <= 4 * last_bytes) return one_band(format);
  std::vector<ImageBand> bands;
  std::size_t wanted = last_bytes;
  for (int plane_end = format.planes(), row_end = height; plane_end > 0; wanted *= kGrowth) {
    ImageBand band{plane_end - 1, 1, 0, row_end};
    if (row_end < height || plane_bytes > 2 * wanted) {
      const int rows = static_cast<int>(
          std::min(std::max<std::size_t>(1, wanted / row_bytes), static_cast<std::size_t>(row_end)));
      // What would be left is too little for a band of its own.
      band.begin = row_end - rows < rows / 2 ? 0 : row_end - rows;
    } else {
      band.planes = static_cast<int>(
          std::min(std::max<std::size_t>(1, wanted / plane_bytes), static_cast<std::size_t>(plane_end)));
      band.plane = plane_end - band.planes;
    }
    bands.push_back(band);
    row_end = band.begin == 0 ? height : band.begin;
    if (band.begin == 0) plane_end = band.plane;
  }
  std::reverse(bands.begin(), bands.end());
  return bands;
}

std::vector<ImageBand> one_band(const ImageFormat& format) {
  return {{0, format.planes(), 0, format.height}};
}

BandedUpload::BandedUpload(std::vector<ImageBand> bands) : bands_(std::move(bands)) {
  if (bands_.size() < 2) return;
  copies_ = Stream::create();
  begin_ = Event::create();
  for (std::size_t k = 0; k < bands_.size(); ++k) arrived_.push_back(Event::create());
}

void BandedUpload::begin(const ImageView& host, const ImageView& device, void* stream, const Event* done) {
  waited_ = 0;
  void* const copies = copies_ ? copies_.get() : stream;
  if (copies_) {
    begin_.mark(stream);
    begin_.make_wait(copies);
  }
  for (std::size_t k = 0; k < bands_.size(); ++k) {
    copy_band(bands_[k], host, device, copies);
    if (done != nullptr && k + 1 == bands_.size()) done->record(copies);
    if (copies_) arrived_[k].mark(copies);
  }
}

void BandedUpload::wait_for(std::size_t k, void* stream) {
  if (!copies_ || k < waited_) return;
  arrived_[k].make_wait(stream);
  waited_ = k + 1;
}

}  // namespace contorno
