#define H5_USE_110_API  // later versions have it, too
#include <fmt/format.h>
#include <hdf5.h>

#include <mutex>
#include <vector>

#include "cuda/error.h"
#include "plugins/files/hdf5/parts.h"
#include "plugins/files/shared/open_file.h"

namespace contorno::hdf5 {
namespace {

/// The library has state of its own, and not every build of it has a lock.
std::mutex library;

/// A handle of the library, which `Close` gives back.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): the library takes it so
  bool is_open() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// The sentence of the innermost function that complained last.
std::string complaint() {
  std::string sentence;
  const auto take = [](unsigned depth, const H5E_error2_t* error, void* to) -> herr_t {
    if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(to) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &sentence);
  return sentence.empty() ? "no reason is given" : sentence;
}

/// The names of all data sets of two sides or more.
std::vector<std::string> arrays_in(hid_t file) {
  std::vector<std::string> names;
  const auto take = [](hid_t root, const char* name, const H5O_info_t* info, void* to) -> herr_t {
    if (info->type != H5O_TYPE_DATASET) return 0;
    const Handle set(H5Dopen2(root, name, H5P_DEFAULT), H5Dclose);
    const Handle space(set.is_open() ? H5Dget_space(set) : -1, H5Sclose);
    if (space.is_open() && H5Sget_simple_extent_ndims(space) >= 2)
      static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, take, &names, H5O_INFO_BASIC);
  return names;
}

class Array final : public ModuleArray {
 public:
  Array(const std::string& path, const std::string& member) : name_(path) {
    OpenFile(path).close();  // tells what is no file, and what cannot be read
    const std::lock_guard lock(library);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // its errors are ours to tell
    file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file_.is_open()) damaged("it is no HDF5 file that can be read");
    const std::string chosen =
        choose_array(path, member, member.empty() ? arrays_in(file_) : std::vector<std::string>{});
    name_ = path + ":" + chosen;
    set_ = Handle(H5Dopen2(file_, chosen.c_str(), H5P_DEFAULT), H5Dclose);
    if (!set_.is_open()) damaged("there is no such data set");
    check_storage();
    read_type();
    read_sides();
    const hsize_t stored = H5Dget_storage_size(set_);
    constexpr std::uint64_t kMostPacked = 1032;  // what deflate packs into a byte
    if (header_.elements > 0 && bytes_of_all() / kMostPacked > stored)
      throw Error(ExitCode::BadData,
                  fmt::format("'{}' ({}): only {} bytes of it are stored", name_, describe(header_), stored));
  }
  ~Array() override {
    const std::lock_guard lock(library);
    type_ = {}, set_ = {}, file_ = {};
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  const std::string& name() const override { return name_; }
  const NpyHeader& header() const override { return header_; }

  void read_samples(std::span<std::byte> samples) override {
    const std::lock_guard lock(library);
    check_size(samples, bytes_of_all());
    if (H5Dread(set_, type_, H5S_ALL, H5S_ALL, H5P_DEFAULT, samples.data()) < 0) damaged("it cannot be read");
  }

  void read_item(std::uint64_t index, std::span<std::byte> samples) override {
    const std::lock_guard lock(library);
    check_size(samples, bytes_of_all() / header_.sides[0]);
    std::vector<hsize_t> start(header_.shape().size(), 0),
        count(header_.shape().begin(), header_.shape().end());
    start[0] = index, count[0] = 1;
    const Handle from(H5Dget_space(set_), H5Sclose),
        to(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
    if (H5Sselect_hyperslab(from, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0 ||
        H5Dread(set_, type_, to, from, H5P_DEFAULT, samples.data()) < 0)
      damaged(fmt::format("item {} cannot be read", index));
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const {
    throw Error(ExitCode::BadData, fmt::format("'{}': {} ({})", name_, what, complaint()));
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ExitCode::BadData, fmt::format("'{}': {}", name_, what));
  }
  static void check_size(std::span<std::byte> samples, std::uint64_t bytes) {
    if (samples.size() != bytes) throw InternalError("memory for samples has another size");
  }
  std::uint64_t bytes_of_all() const { return header_.elements * H5Tget_size(type_); }

  /// A file is read by itself: what others would have to be opened for is refused.
  void check_storage() const {
    const Handle properties(H5Dget_create_plist(set_), H5Pclose);
    if (!properties.is_open()) damaged("it cannot be read");
    H5O_info_t own{}, of_set{};
    if (H5Oget_info2(file_, &own, H5O_INFO_BASIC) < 0 || H5Oget_info2(set_, &of_set, H5O_INFO_BASIC) < 0)
      damaged("it cannot be read");
    if (own.fileno != of_set.fileno) refuse("it is a link to another file, which is not opened");
    if (H5Pget_external_count(properties) > 0 || H5Pget_layout(properties) == H5D_VIRTUAL)
      refuse("its samples lie in other files, which are not opened");
  }

  void read_type() {
    const Handle stored(H5Dget_type(set_), H5Tclose);
    type_ = Handle(H5Tcopy(stored), H5Tclose);
    const std::size_t size = H5Tget_size(stored);
    const H5T_class_t kind = H5Tget_class(stored);
    header_.boolean = kind == H5T_ENUM && size == 1;  // as h5py stores them
    const bool whole = kind == H5T_INTEGER && H5Tget_sign(stored) == H5T_SGN_NONE && size <= 2;
    std::size_t sign = 0, exponent = 0, exponent_bits = 0, fraction = 0, fraction_bits = 0;
    const bool real = kind == H5T_FLOAT &&
                      H5Tget_fields(stored, &sign, &exponent, &exponent_bits, &fraction, &fraction_bits) >= 0;
    const auto is = [&](std::size_t bytes, std::size_t bits) {
      return real && size == bytes && exponent_bits == bits;
    };
    if (header_.boolean || (whole && size == 1))
      header_.type = ElementType::U8;
    else if (whole)
      header_.type = ElementType::U16;
    else if (is(2, 5))
      header_.type = ElementType::F16;
    else if (is(4, 8))
      header_.type = ElementType::F32;
    else if (is(8, 11))
      header_.type = ElementType::F64;
    else
      refuse(
          "its samples have a type that no map has, allowed are float16, float32, float64, uint8, uint16 "
          "and bool");
    if (!header_.boolean) H5Tset_order(type_, H5T_ORDER_LE);
  }

  void read_sides() {
    const Handle space(H5Dget_space(set_), H5Sclose);
    const int sides = space.is_open() ? H5Sget_simple_extent_ndims(space) : -1;
    if (sides < 1) refuse("it is no array");
    std::vector<hsize_t> lengths(static_cast<std::size_t>(sides));
    H5Sget_simple_extent_dims(space, lengths.data(), nullptr);
    set_sides(header_, std::vector<std::uint64_t>(lengths.begin(), lengths.end()), name_);
  }

  std::string name_;
  NpyHeader header_;
  Handle file_, set_, type_;
};

}  // namespace

std::unique_ptr<ModuleArray> open_array(const std::string& path, const std::string& member) {
  return std::make_unique<Array>(path, member);
}

}  // namespace contorno::hdf5
