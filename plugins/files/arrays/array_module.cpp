#include "plugins/files/arrays/array_module.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/error.h"
#include "plugins/files/shared/file_names.h"
#include "plugins/modules.h"

namespace contorno {
namespace {

/// Whether HDF5 begins behind the 512 bytes of MATLAB's own header.
bool is_hdf5_inside(const std::string& path) {
  std::array<char, 8> signature{};
  std::ifstream file(path, std::ios::binary);
  file.seekg(512).read(signature.data(), signature.size());
  return file && std::string_view(signature.data(), signature.size()) == "\x89HDF\r\n\x1a\n";
}

}  // namespace

std::unique_ptr<ModuleArray> open_hdf5(const std::string& path, const std::string& member, Numbers numbers) {
  return static_cast<const ArrayModule*>(open_module(kHdf5Module))->open(path, member, numbers);
}

std::unique_ptr<ModuleArray> open_zarr(const std::string& path, const std::string& member, Numbers numbers) {
  return static_cast<const ArrayModule*>(open_module(kZarrModule))->open(path, member, numbers);
}

std::unique_ptr<ModuleArray> open_mat(const std::string& path, const std::string& member, Numbers numbers) {
  if (is_hdf5_inside(path)) return open_hdf5(path, member, numbers);
  return static_cast<const ArrayModule*>(open_module(kMatModule))->open(path, member, numbers);
}

std::string choose_array(const std::string& path, const std::string& member,
                         const std::vector<std::string>& names) {
  if (!member.empty()) return member;
  if (names.size() == 1) return names.front();
  if (names.empty())
    throw Error(ExitCode::BadData, fmt::format("'{}': it has no array of two sides or more", path));
  throw Error(ExitCode::BadData, fmt::format("'{}': it has {} arrays, name one as FILE{}:NAME: {}", path,
                                             names.size(), lower_extension(path), fmt::join(names, ", ")));
}

void set_sides(NpyHeader& header, std::span<const std::uint64_t> sides, const std::string& name) {
  if (sides.empty() || sides.size() > NpyHeader::kMaxDimensions)
    throw Error(ExitCode::BadData, fmt::format("'{}': it is no array", name));
  header.dimensions = static_cast<int>(sides.size());
  header.elements = 1;
  std::copy(sides.begin(), sides.end(), header.sides.begin());
  for (const std::uint64_t side : sides)
    if (__builtin_mul_overflow(header.elements, side, &header.elements) ||
        header.elements > (std::uint64_t{1} << 60))
      throw Error(ExitCode::BadData, fmt::format("'{}': its sides are larger than any file's", name));
}

void check_memory(const NpyHeader& header, std::size_t sample_bytes, std::span<const std::uint64_t> chunk,
                  const std::string& name) {
  constexpr double kMebibyte = 1 << 20, kMostFrame = 2048, kMostChunk = 256;
  const auto mebibytes = [&](std::span<const std::uint64_t> sides) {
    double bytes = static_cast<double>(sample_bytes);
    for (const std::uint64_t side : sides) bytes *= static_cast<double>(side);
    return bytes / kMebibyte;
  };
  const double of_frame = mebibytes(header.shape().subspan(header.dimensions > 3 ? 1 : 0));
  const double of_chunk = chunk.empty() ? 0 : mebibytes(chunk);
  if (of_frame > kMostFrame)
    throw Error(ExitCode::BadData, fmt::format("'{}' ({}): a frame of it has {:.0f} MiB, allowed are {} MiB",
                                               name, describe(header), of_frame, kMostFrame));
  if (of_chunk > std::max(kMostChunk, of_frame))
    throw Error(
        ExitCode::BadData,
        fmt::format("'{}' ({}): a chunk of it has {:.0f} MiB, allowed are {} MiB, or what a frame has; store "
                    "it in smaller chunks",
                    name, describe(header), of_chunk, kMostChunk));
}

void refuse_scale(const std::string& name, std::string_view attribute, double value) {
  throw Error(
      ExitCode::BadData,
      fmt::format("'{}': its attribute {} is {}, by which its samples are no values yet; store the values",
                  name, attribute, value));
}

}  // namespace contorno
