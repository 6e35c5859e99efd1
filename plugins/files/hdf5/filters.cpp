#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "plugins/files/hdf5/library.h"

namespace contorno::hdf5 {
namespace {

/// Filters that are no part of the library, by their registered numbers, and Debian's packages that have
/// them.
struct KnownFilter {
  H5Z_filter_t number;
  std::string_view name, package;
};
constexpr std::array kKnown = {
    KnownFilter{H5Z_FILTER_SZIP, "szip", ""},
    KnownFilter{307, "bzip2", "hdf5-filter-plugin"},
    KnownFilter{32000, "LZF", ""},  // hdf5-plugin-lzf of Debian 12 does not name the libraries that it needs
    KnownFilter{32001, "Blosc", "hdf5-filter-plugin-blosc-serial"},
    KnownFilter{32004, "LZ4", "hdf5-filter-plugin"},
    KnownFilter{32008, "Bitshuffle", ""},
    KnownFilter{32013, "ZFP", "hdf5-filter-plugin-zfp-serial"},
    KnownFilter{32015, "Zstandard", ""},
    KnownFilter{32017, "SZ", ""},
    KnownFilter{32026, "Blosc2", ""},
};

struct Filter {
  H5Z_filter_t number = 0;
  std::array<unsigned, 16> values{};
  std::size_t count = values.size();
  std::array<char, 64> own_name{};
};

Filter filter_at(hid_t properties, unsigned place) {
  Filter filter;
  unsigned flags = 0, configuration = 0;
  filter.number = H5Pget_filter2(properties, place, &flags, &filter.count, filter.values.data(),
                                 filter.own_name.size() - 1, filter.own_name.data(), &configuration);
  return filter;
}

[[noreturn]] void refuse_missing(const Filter& filter, const std::string& name) {
  const auto* const known = std::find_if(kKnown.begin(), kKnown.end(),
                                         [&](const KnownFilter& one) { return one.number == filter.number; });
  const bool is_known = known != kKnown.end();
  const std::string_view called = is_known ? known->name : std::string_view(filter.own_name.data());
  const std::string remedy =
      is_known && !known->package.empty()
          ? fmt::format("install {} (apt-get install {})", known->package, known->package)
          : std::string("set HDF5_PLUGIN_PATH to a folder that has it");
  throw Error(
      ExitCode::BadData,
      fmt::format(
          "'{}': its samples are packed by the filter {} (number {}), which libhdf5 has not here; {}, "
          "or store them with gzip",
          name, called.empty() ? "without a name" : called, filter.number, remedy));
}

/// Filters that say themselves how many samples they make, instead of how many a chunk has.
void check_made(const Filter& filter, std::uint64_t samples, std::uint64_t sample_bytes,
                const std::string& name) {
  constexpr std::size_t kSamples = 2, kBytes = 4;  // places of their values
  if (filter.number != H5Z_FILTER_NBIT && filter.number != H5Z_FILTER_SCALEOFFSET) return;
  if (filter.count <= kBytes || filter.values[kSamples] > samples || filter.values[kBytes] > sample_bytes)
    throw Error(
        ExitCode::BadData,
        fmt::format(
            "'{}': the filter {} of it says that a chunk has {} samples of {} bytes, but it has {} of "
            "{}",
            name, filter.number, filter.values[kSamples], filter.values[kBytes], samples, sample_bytes));
}

}  // namespace

std::vector<std::uint64_t> checked_chunk(hid_t set, const std::string& name) {
  const Handle properties(H5Dget_create_plist(set), H5Pclose), stored(H5Dget_type(set), H5Tclose);
  if (H5Pget_layout(properties) != H5D_CHUNKED) return {};
  std::array<hsize_t, H5S_MAX_RANK> sides{};
  const int count = std::max(0, H5Pget_chunk(properties, static_cast<int>(sides.size()), sides.data()));
  std::vector<std::uint64_t> chunk(sides.begin(), sides.begin() + count);
  std::uint64_t samples = 1;  // sides are of 32 bits, and so is their product
  for (const std::uint64_t side : chunk) samples *= side;
  int deflated = 0;
  for (int place = 0; place < H5Pget_nfilters(properties); ++place) {
    const Filter filter = filter_at(properties, static_cast<unsigned>(place));
    if (H5Zfilter_avail(filter.number) <= 0) refuse_missing(filter, name);
    check_made(filter, samples, H5Tget_size(stored), name);
    if (filter.number == H5Z_FILTER_DEFLATE && ++deflated > 1)
      throw Error(
          ExitCode::BadData,
          fmt::format("'{}': its chunks are deflated twice, which no program does; a few bytes could stand "
                      "for all of memory",
                      name));
  }
  return chunk;
}

}  // namespace contorno::hdf5
