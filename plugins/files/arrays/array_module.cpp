#include "plugins/files/arrays/array_module.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "cuda/error.h"
#include "plugins/files/shared/file_names.h"
#include "plugins/modules.h"

namespace contorno {

std::unique_ptr<ModuleArray> open_hdf5(const std::string& path, const std::string& member) {
  return static_cast<const ArrayModule*>(open_module(kHdf5Module))->open(path, member);
}

std::unique_ptr<ModuleArray> open_zarr(const std::string& path, const std::string& member) {
  return static_cast<const ArrayModule*>(open_module(kZarrModule))->open(path, member);
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

}  // namespace contorno
