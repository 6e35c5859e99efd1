// Runs find_contours on many images in one process, for find_contours_oracle_test.py: find_contours_batch IN
// OUT [cuda]. IN holds records of a header and samples (and a mask); OUT a level, counts, offsets, closed
// flags and points for each. Native byte order.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "stages/contours/cuda/find_contours.h"

using namespace contorno;

namespace {

struct Header {
  std::int32_t height, width, type, high_connectivity, high_orientation, has_mask, has_level, threads, simd,
      band_rows;
  double level;
};

template <class T>
void put(std::FILE* out, const T* values, std::size_t count) {
  if (std::fwrite(values, sizeof(T), count, out) != count) std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::unique_ptr<DeviceContourFinder> device;
  if (argc > 3) device = std::make_unique<DeviceContourFinder>();
  std::FILE* in = std::fopen(argv[1], "rb");
  std::FILE* out = std::fopen(argv[2], "wb");
  if (in == nullptr || out == nullptr) return 66;
  Header header{};
  while (std::fread(&header, sizeof(header), 1, in) == 1) {
    const auto type = static_cast<ElementType>(header.type);
    const auto width = static_cast<std::size_t>(header.width),
               height = static_cast<std::size_t>(header.height);
    // Exactly as large as the image, so that a sanitizer sees every read behind its end.
    std::vector<std::byte> samples(width * height * element_size(type)),
        mask(header.has_mask ? width * height : 0);
    if (std::fread(samples.data(), 1, samples.size(), in) != samples.size()) return 65;
    if (std::fread(mask.data(), 1, mask.size(), in) != mask.size()) return 65;
    const ImageView image{samples.data(),
                          {header.width, header.height, 1, type, Layout::Interleaved, {}},
                          static_cast<std::ptrdiff_t>(width * element_size(type)),
                          0};
    FindContoursOptions options;
    if (header.has_level) options.level = header.level;
    if (header.high_connectivity) options.fully_connected = Connectivity::High;
    if (header.high_orientation) options.positive_orientation = Orientation::High;
    if (header.has_mask)
      options.mask = {mask.data(),
                      {header.width, header.height, 1, ElementType::U8, Layout::Interleaved, {}},
                      header.width,
                      0};
    options.threads = header.threads;
    if (static_cast<Simd>(header.simd) <= best_simd()) options.simd = static_cast<Simd>(header.simd);
    options.band_rows = header.band_rows;
    const FoundContours found = device ? device->find(image, options) : find_contours(image, options);
    const auto contours = static_cast<std::uint32_t>(found.count());
    put(out, &found.level, 1);
    put(out, &contours, 1);
    put(out, found.offsets.data(), found.offsets.size());
    put(out, found.closed.data(), found.closed.size());
    put(out, found.points.data(), found.points.size());
  }
  std::fclose(in);
  return std::fclose(out) == 0 ? 0 : 74;
}
