#include <algorithm>

#include "stages/mipmap/cuda.h"

namespace contorno {
namespace {

constexpr std::size_t kBandBytes = std::size_t{8} << 20;
constexpr int kBandedLevels = 2;  // come back band by band; the rest, a twentieth of the image, in one copy

std::size_t bytes_of(const ImageView& image) {
  const auto height = static_cast<std::ptrdiff_t>(image.format.height),
             planes = static_cast<std::ptrdiff_t>(image.format.planes());
  return static_cast<std::size_t>(planes > 1 ? image.plane_pitch * planes : image.row_pitch * height);
}

/// Bands of `rows` rows of all planes.
std::vector<ImageBand> bands_of_rows(const ImageFormat& format, int rows) {
  std::vector<ImageBand> bands;
  for (int begin = 0; begin < format.height; begin += rows)
    bands.push_back({0, format.planes(), begin, std::min(format.height, begin + rows)});
  return bands;
}

/// Rows with what lies between them, as both sides have the same pitch.
void copy_rows(const ImageView& to, const ImageView& from, int begin, int end, void* stream) {
  const std::size_t bytes =
      static_cast<std::size_t>(from.row_pitch) * static_cast<std::size_t>(end - begin - 1) +
      from.format.row_bytes();
  for (int plane = 0; plane < from.format.planes() && end > begin; ++plane)
    copy_async(to.row<char>(begin, plane), from.row<char>(begin, plane), bytes, stream);
}

}  // namespace

MipmapUpload::MipmapUpload(const MipmapChain& chain, int bands)
    : chain_(chain),
      cuda_(chain),
      levels_(std::max<std::size_t>(1, chain.bytes()), MemoryKind::Device),
      scratch_(std::max<std::size_t>(1, cuda_.scratch_bytes()), MemoryKind::Device),
      work_(Stream::create()),
      down_(Stream::create()) {
  const ImageFormat& format = chain.format(0);
  if (bands <= 0) bands = static_cast<int>(std::max<std::size_t>(1, packed_bytes(format) / kBandBytes));
  const int rows =
      ((format.height + bands - 1) / bands + kMipmapBandRows - 1) / kMipmapBandRows * kMipmapBandRows;
  upload_.emplace(cuda_.levels_in_one_pass() > 0 ? bands_of_rows(format, rows) : one_band(format));
  for (int level = 1; level < chain.levels(); ++level)
    views_.push_back(chain.level_in(levels_.data(), level));
  for (int band = 0; band < this->bands(); ++band) made_.push_back(Event::create());
  // What was freed before these streams existed may still be in use by others.
  fill_async(levels_.data(), 0, levels_.size(), work_.get());
  work_.synchronize();
}

MipmapUpload::~MipmapUpload() = default;

void MipmapUpload::build(const ImageView& image, void* block) {
  if (image_.size() < bytes_of(image)) image_ = Block(bytes_of(image), MemoryKind::Device);
  ImageView device = image;
  device.data = image_.data();
  upload_->begin(image, device, work_.get());
  if (bands() > 1) {
    build_in_bands(device, static_cast<std::byte*>(block));
  } else {
    cuda_.build(device, views_, scratch_.data(), work_.get());
    copy_async(block, levels_.data(), chain_.bytes(), work_.get());
  }
  work_.synchronize();
  down_.synchronize();
}

void MipmapUpload::build_in_bands(const ImageView& device, std::byte* block) {
  const int height = device.format.height;
  const int banded = std::min(kBandedLevels, cuda_.levels_in_one_pass());
  for (std::size_t one = 0; one < upload_->bands().size(); ++one) {
    const int begin = upload_->bands()[one].begin, end = upload_->bands()[one].end;
    upload_->wait_for(one, work_.get());
    cuda_.build_band(device, views_, begin, end, work_.get());
    made_[one].record(work_.get());
    made_[one].make_wait(down_.get());
    for (int level = 1; level <= banded; ++level) {
      const ImageView& from = views_[static_cast<std::size_t>(level) - 1];
      const int last = end == height ? from.format.height : end >> level;
      copy_rows(chain_.level_in(block, level), from, begin >> level, last, down_.get());
    }
  }
  cuda_.build_rest(device, views_, cuda_.levels_in_one_pass() + 1, scratch_.data(), work_.get());
  if (banded + 1 >= chain_.levels()) return;
  const std::size_t offset = chain_.offset(banded + 1);
  copy_async(block + offset, levels_.data() + offset, chain_.bytes() - offset, work_.get());
}

}  // namespace contorno
