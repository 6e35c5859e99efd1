#include <cpl_error.h>
#include <cpl_string.h>
#include <fmt/format.h>
#include <gdal.h>
#include <gdal_frmts.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "pipeline/shared/printable.h"
#include "plugins/files/shared/file_names.h"
#include "plugins/files/zarr/parts.h"
#include "plugins/files/zarr/store.h"

namespace contorno::zarr {
namespace {
namespace fs = std::filesystem;

constexpr int kDeepestGroup = 8;

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
using Attribute = Owned<GDALAttributeH, GDALAttributeRelease>;
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

bool is_integer(GDALDataType type) {
  const std::string_view name = GDALGetDataTypeName(type);  // some are not in every release
  return name == "Int8" || name == "Int16" || name == "UInt32" || name == "Int32" || name == "UInt64" ||
         name == "Int64";
}

class Array final : public ModuleArray {
 public:
  Array(const std::string& path, const std::string& member, Numbers numbers) : name_(path) {
    static std::once_flag registered;
    std::call_once(registered, GDALRegister_Zarr);
    std::error_code error;
    const fs::path store =
        fs::absolute(path);  // which is no name that the library has a meaning of its own for
    if (!fs::is_directory(store, error))
      throw Error(fs::exists(store, error) ? ExitCode::BadData : ExitCode::MissingInput,
                  fmt::format("'{}': there is no folder of this name, which a Zarr store is", path));
    check_files(store, path);
    const Quiet quiet;
    const char* const drivers[] = {"Zarr", nullptr};
    // The descriptions of the arrays themselves are looked at here, not those that were gathered from them.
    const char* const options[] = {"USE_ZMETADATA=NO", nullptr};
    store_.reset(GDALOpenEx(store.c_str(), GDAL_OF_MULTIDIM_RASTER, drivers, options, nullptr));
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
    for (const fs::path& part : fs::path(chosen))
      if (part == "..") refuse("its name leads out of the store");
    const Description description = describe_array(is_group ? store / chosen : store);
    if (!description.separator.empty() && description.separator != "." && description.separator != "/")
      refuse(
          fmt::format("the indices in the names of its chunks are separated by '{}', allowed are '.' and '/'",
                      printable(description.separator)));
    samples_.reset(GDALGroupOpenMDArrayFromFullname(root.get(), ("/" + chosen).c_str(), nullptr));
    if (samples_ == nullptr) damaged("there is no such array that can be read");
    read_type(numbers);
    header_.boolean = header_.type == ElementType::U8 && description.boolean;
    check_scale();
    read_sides();
    check_memory(header_, bytes_per_sample(), sides_of_chunk(), name_);
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

  void read_type(Numbers numbers) {
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
    else if (numbers == Numbers::Any && is_integer(type))
      header_.type = ElementType::F64, type = GDT_Float64;
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

  std::vector<std::uint64_t> sides_of_chunk() const {
    std::size_t count = 0;
    GUInt64* const sides = GDALMDArrayGetBlockSize(samples_.get(), &count);
    std::vector<std::uint64_t> chunk(sides, sides + count);
    CPLFree(sides);
    return chunk;
  }

  /// Whether the library knows of them or leaves them among the attributes.
  void check_scale() const {
    int has = 0;
    if (const double scale = GDALMDArrayGetScale(samples_.get(), &has); has != 0 && scale != 1)
      refuse_scale(name_, "scale_factor", scale);
    if (const double offset = GDALMDArrayGetOffset(samples_.get(), &has); has != 0 && offset != 0)
      refuse_scale(name_, "add_offset", offset);
    for (const auto& [attribute, none] : {std::pair{"scale_factor", 1.0}, std::pair{"add_offset", 0.0}}) {
      const Attribute found(GDALMDArrayGetAttribute(samples_.get(), attribute));
      if (found == nullptr) continue;
      if (const double value = GDALAttributeReadAsDouble(found.get()); value != none)
        refuse_scale(name_, attribute, value);
    }
  }

  std::string name_;
  NpyHeader header_;
  Dataset store_;
  Samples samples_;
  SampleType type_;
};

}  // namespace

std::unique_ptr<ModuleArray> open_array(const std::string& path, const std::string& member, Numbers numbers) {
  return std::make_unique<Array>(path, member, numbers);
}

}  // namespace contorno::zarr
