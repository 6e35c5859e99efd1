#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "plugins/files/hdf5/library.h"
#include "plugins/files/hdf5/parts.h"
#include "plugins/files/shared/open_file.h"

namespace contorno::hdf5 {

std::string complaint() {
  std::string sentence;
  const auto take = [](unsigned depth, const H5E_error2_t* error, void* to) -> herr_t {
    if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(to) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &sentence);
  return sentence.empty() ? "no reason is given" : sentence;
}

namespace {

/// Samples that lie in other data sets, of files that would be opened to know even the sides.
bool is_virtual(hid_t set) {
  const Handle properties(H5Dget_create_plist(set), H5Pclose);
  return properties.is_open() && H5Pget_layout(properties) == H5D_VIRTUAL;
}

/// The names of all data sets of two sides or more, and of those whose sides are not known.
std::vector<std::string> arrays_in(hid_t file) {
  std::vector<std::string> names;
  const auto take = [](hid_t root, const char* name, const H5O_info_t* info, void* to) -> herr_t {
    if (info->type != H5O_TYPE_DATASET) return 0;
    const Handle set(H5Dopen2(root, name, H5P_DEFAULT), H5Dclose);
    const bool elsewhere = set.is_open() && is_virtual(set);
    const Handle space(set.is_open() && !elsewhere ? H5Dget_space(set) : -1, H5Sclose);
    if (elsewhere || (space.is_open() && H5Sget_simple_extent_ndims(space) >= 2))
      static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, take, &names, H5O_INFO_BASIC);
  return names;
}

/// Opens a data set without following a link to another file, which sets `elsewhere`.
Handle open_set(hid_t file, const std::string& name, bool& elsewhere) {
  const auto stop = [](const char*, const char*, const char*, const char*, unsigned*, hid_t,
                       void* seen) -> herr_t {
    *static_cast<bool*>(seen) = true;
    return -1;
  };
  const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  H5Pset_elink_cb(access, stop, &elsewhere);
  return {H5Dopen2(file, name.c_str(), access), H5Dclose};
}

class Array final : public ModuleArray {
 public:
  Array(const std::string& path, const std::string& member, Numbers numbers) : name_(path) {
    OpenFile(path).close();  // tells what is no file, and what cannot be read
    const Library library;
    file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file_.is_open()) damaged("it is no HDF5 file that can be read");
    const std::string chosen =
        choose_array(path, member, member.empty() ? arrays_in(file_) : std::vector<std::string>{});
    name_ = path + ":" + chosen;
    bool elsewhere = false;
    set_ = open_set(file_, chosen, elsewhere);
    if (elsewhere) refuse("it is a link to another file, which is not opened");
    if (!set_.is_open()) damaged("there is no such data set");
    check_storage();
    SampleType samples = sample_type(set_, numbers, name_);
    type_ = std::move(samples.in_memory);
    header_.type = samples.type, header_.boolean = samples.boolean;
    check_scale(set_, name_);
    read_sides();
    const Handle stored(H5Dget_type(set_), H5Tclose);
    check_memory(header_, std::max(H5Tget_size(stored), H5Tget_size(type_)), checked_chunk(set_, name_),
                 name_);
  }
  ~Array() override {
    const Library library;
    type_ = {}, set_ = {}, file_ = {};
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  const std::string& name() const override { return name_; }
  const NpyHeader& header() const override { return header_; }

  /// Chunks that have not been written have the fill value.
  void read_samples(std::span<std::byte> samples) override {
    const Library library;
    check_size(samples, bytes_of_all());
    if (H5Dread(set_, type_, H5S_ALL, H5S_ALL, H5P_DEFAULT, samples.data()) < 0) damaged("it cannot be read");
  }

  void read_item(std::uint64_t index, std::span<std::byte> samples) override {
    const Library library;
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
    if (H5Pget_external_count(properties) > 0 || H5Pget_layout(properties) == H5D_VIRTUAL)
      refuse("its samples lie in other files, which are not opened");
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

std::unique_ptr<ModuleArray> open_array(const std::string& path, const std::string& member, Numbers numbers) {
  return std::make_unique<Array>(path, member, numbers);
}

}  // namespace contorno::hdf5
