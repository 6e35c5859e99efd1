#include <cpl_error.h>
#include <cpl_string.h>
#include <fmt/format.h>
#include <gdal.h>
#include <gdal_frmts.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "cuda/error.h"
#include "plugins/files/shared/file_names.h"
#include "plugins/files/zarr/parts.h"

namespace contorno::zarr {
namespace {
namespace fs = std::filesystem;

constexpr int kDeepestGroup = 8;
/// What is not stored has the fill value, so that a few bytes may stand for any number of samples.
constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;

/// An object of the library, which `close` gives back.
template <class T, auto close>
struct Closer {
  void operator()(T* object) const { close(object); }
};
template <class Handle, auto close>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Closer<std::remove_pointer_t<Handle>, close>>;
using Dataset = Owned<GDALDatasetH, GDALClose>;
using Group = Owned<GDALGroupH, GDALGroupRelease>;
using Samples = Owned<GDALMDArrayH, GDALMDArrayRelease>;
using SampleType = Owned<GDALExtendedDataTypeH, GDALExtendedDataTypeRelease>;
using Names = Owned<char**, CSLDestroy>;

/// Keeps what the library complains of, on this thread, from stderr.
class Quiet {
 public:
  Quiet() {
    CPLPushErrorHandler(CPLQuietErrorHandler);
    CPLErrorReset();
  }
  ~Quiet() { CPLPopErrorHandler(); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
};

/// Names all arrays of two sides or more, from the root of the store.
void gather_arrays(GDALGroupH group, const std::string& prefix, int depth, std::vector<std::string>& names) {
  const Names arrays(GDALGroupGetMDArrayNames(group, nullptr));
  for (char** name = arrays.get(); name != nullptr && *name != nullptr; ++name) {
    const Samples array(GDALGroupOpenMDArray(group, *name, nullptr));
    if (array != nullptr && GDALMDArrayGetDimensionCount(array.get()) >= 2) names.push_back(prefix + *name);
  }
  if (depth == kDeepestGroup) return;
  const Names groups(GDALGroupGetGroupNames(group, nullptr));
  for (char** name = groups.get(); name != nullptr && *name != nullptr; ++name)
    if (const Group inner(GDALGroupOpenGroup(group, *name, nullptr)); inner != nullptr)
      gather_arrays(inner.get(), prefix + *name + "/", depth + 1, names);
}

/// True where the description of the array in `folder` says bool, which GDAL reads as bytes.
bool holds_booleans(const fs::path& folder) {
  for (const auto& [file, member] : {std::pair{".zarray", "dtype"}, std::pair{"zarr.json", "data_type"}}) {
    std::ifstream text(folder / file);
    const auto parsed = text ? nlohmann::json::parse(text, nullptr, false) : nlohmann::json();
    const auto type = parsed.is_object() ? parsed.find(member) : parsed.end();
    if (type == parsed.end() || !type->is_string()) continue;
    return *type == "|b1" || *type == "bool";
  }
  return false;
}

class Array final : public ModuleArray {
 public:
  Array(const std::string& path, const std::string& member) : name_(path) {
    static std::once_flag registered;
    std::call_once(registered, GDALRegister_Zarr);
    std::error_code error;
    const fs::path store =
        fs::absolute(path);  // which is no name that the library has a meaning of its own for
    if (!fs::is_directory(store, error))
      throw Error(fs::exists(store, error) ? ExitCode::BadData : ExitCode::MissingInput,
                  fmt::format("'{}': there is no folder of this name, which a Zarr store is", path));
    const Quiet quiet;
    const char* const drivers[] = {"Zarr", nullptr};
    store_.reset(GDALOpenEx(store.c_str(), GDAL_OF_MULTIDIM_RASTER, drivers, nullptr, nullptr));
    if (store_ == nullptr) damaged("it is no Zarr store that can be read");
    const Group root(GDALDatasetGetRootGroup(store_.get()));
    if (root == nullptr) damaged("it is no Zarr store that can be read");
    std::vector<std::string> names;
    if (member.empty()) gather_arrays(root.get(), "", 0, names);
    if (member.empty() && names.empty())
      damaged(fmt::format("it has no array of two sides or more that GDAL {} can read",
                          GDALVersionInfo("RELEASE_NAME")));
    std::sort(names.begin(), names.end(), natural_less);
    const std::string chosen = choose_array(path, member, names);
    const bool is_group = fs::is_directory(store / chosen, error);
    if (is_group || !member.empty()) name_ = path + ":" + chosen;
    samples_.reset(GDALGroupOpenMDArrayFromFullname(root.get(), ("/" + chosen).c_str(), nullptr));
    if (samples_ == nullptr) damaged("there is no such array that can be read");
    read_type();
    header_.boolean = header_.type == ElementType::U8 && holds_booleans(is_group ? store / chosen : store);
    read_sides();
    check_memory();
  }

  const std::string& name() const override { return name_; }
  const NpyHeader& header() const override { return header_; }

  void read_samples(std::span<std::byte> samples) override {
    read(std::vector<GUInt64>(header_.shape().size(), 0), {header_.shape().begin(), header_.shape().end()},
         samples);
  }

  void read_item(std::uint64_t index, std::span<std::byte> samples) override {
    std::vector<GUInt64> start(header_.shape().size(), 0);
    std::vector<std::size_t> count(header_.shape().begin(), header_.shape().end());
    start[0] = index, count[0] = 1;
    read(start, count, samples);
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const {
    const std::string_view said = CPLGetLastErrorMsg();
    refuse(fmt::format("{} ({})", what, said.empty() ? "no reason is given" : said));
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ExitCode::BadData, fmt::format("'{}': {}", name_, what));
  }

  void read(const std::vector<GUInt64>& start, const std::vector<std::size_t>& count,
            std::span<std::byte> samples) {
    std::size_t bytes = bytes_per_sample();
    for (const std::size_t side : count) bytes *= side;
    if (samples.size() != bytes) throw InternalError("memory for samples has another size");
    const Quiet quiet;
    if (bytes > 0 && !GDALMDArrayRead(samples_.get(), start.data(), count.data(), nullptr, nullptr,
                                      type_.get(), samples.data(), samples.data(), samples.size()))
      damaged("it cannot be read");
  }

  std::size_t bytes_per_sample() const { return GDALExtendedDataTypeGetSize(type_.get()); }

  void read_type() {
    const SampleType stored(GDALMDArrayGetDataType(samples_.get()));
    GDALDataType type = GDT_Unknown;
    if (GDALExtendedDataTypeGetClass(stored.get()) == GEDTC_NUMERIC)
      type = GDALExtendedDataTypeGetNumericDataType(stored.get());
    if (type == GDT_Byte)
      header_.type = ElementType::U8;
    else if (type == GDT_UInt16)
      header_.type = ElementType::U16;
    else if (type == GDT_Float64)
      header_.type = ElementType::F64;
    else if (type == GDT_Float32 || GDALGetDataTypeName(type) == std::string_view("Float16"))
      header_.type = ElementType::F32, type = GDT_Float32;  // earlier GDALs read float16 so, too
    else
      refuse(
          "its samples have a type that no map has, allowed are float16, float32, float64, uint8, uint16 "
          "and bool");
    type_.reset(GDALExtendedDataTypeCreate(type));
  }

  void read_sides() {
    std::size_t count = 0;
    GDALDimensionH* const dimensions = GDALMDArrayGetDimensions(samples_.get(), &count);
    std::vector<std::uint64_t> sides;
    for (std::size_t i = 0; i < count; ++i) sides.push_back(GDALDimensionGetSize(dimensions[i]));
    GDALReleaseDimensions(dimensions, count);
    set_sides(header_, sides, name_);
  }

  /// Memory is taken for one item, or for the whole of an array that has no items, and for one chunk.
  void check_memory() const {
    std::size_t sides = 0;
    GUInt64* const chunk = GDALMDArrayGetBlockSize(samples_.get(), &sides);
    double of_chunk = static_cast<double>(bytes_per_sample()), of_item = of_chunk;
    for (std::size_t i = 0; i < sides; ++i) of_chunk *= static_cast<double>(chunk[i]);
    CPLFree(chunk);
    for (const std::uint64_t side : header_.shape().subspan(header_.dimensions > 3 ? 1 : 0))
      of_item *= static_cast<double>(side);
    for (const auto& [what, bytes] : {std::pair{"a chunk", of_chunk}, std::pair{"a frame", of_item}})
      if (bytes > static_cast<double>(kMostBytes))
        refuse(fmt::format("{} of it has {:.0f} MiB, allowed are {} MiB", what, bytes / (1 << 20),
                           kMostBytes >> 20));
  }

  std::string name_;
  NpyHeader header_;
  Dataset store_;
  Samples samples_;
  SampleType type_;
};

}  // namespace

std::unique_ptr<ModuleArray> open_array(const std::string& path, const std::string& member) {
  return std::make_unique<Array>(path, member);
}

}  // namespace contorno::zarr
