// Arrays of MATLAB's files, versions 4 to 7, through libmatio: plain or compressed, of either byte order.
#include <fmt/format.h>
#include <matio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "plugins/files/mat/parts.h"
#include "plugins/files/shared/open_file.h"

namespace contorno::mat {
namespace {

/// What the library said last; it has one place for all threads, so that `Library` lets in one at a time.
std::string complaint;

/// Character is const since release 1.5.28 of the library.
template <class Character>
void take_complaint(int, Character* message) {
  complaint = message;
  std::ranges::replace(complaint, '\n', ' ');
  complaint.erase(complaint.find_last_not_of(' ') + 1);
}

/// The library, for as long as it lives; without a function of ours it ends the program at errors.
class Library {
 public:
  Library() : lock_(mutex()) {
    Mat_LogInitFunc("contorno", take_complaint);
    complaint.clear();
  }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  std::lock_guard<std::mutex> lock_;
};

struct Closer {
  void operator()(mat_t* file) const { Mat_Close(file); }
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using File = std::unique_ptr<mat_t, Closer>;
using Variable = std::unique_ptr<matvar_t, Closer>;

/// Whether a file of level 5 ends inside one of its variables, whose missing bytes the library takes as zeros
/// where they are compressed. Files of level 4 are not looked at.
bool is_cut_off(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto end = static_cast<std::uint64_t>(file.tellg());
  std::array<char, 2> order{};
  file.seekg(126).read(order.data(), order.size());
  const bool big = order[0] == 'M';
  if (!file || (!big && order[0] != 'I')) return false;
  for (std::uint64_t at = 128; at < end;) {
    std::array<unsigned char, 8> tag{};
    file.seekg(static_cast<std::streamoff>(at)).read(reinterpret_cast<char*>(tag.data()), tag.size());
    if (!file) return true;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < 4; ++i) bytes = bytes << 8U | tag[big ? 4 + i : 7 - i];
    at += tag.size() + bytes;
    if (at > end) return true;
  }
  return false;
}

bool is_numeric(const matvar_t& variable) {
  return variable.class_type >= MAT_C_DOUBLE && variable.class_type <= MAT_C_UINT64 &&
         variable.isComplex == 0;
}

/// The names of all real matrices but those of one number.
std::vector<std::string> arrays_in(mat_t* file) {
  std::vector<std::string> names;
  while (const Variable one{Mat_VarReadNextInfo(file)}) {
    const bool single =
        std::all_of(one->dims, one->dims + one->rank, [](std::size_t side) { return side == 1; });
    if (is_numeric(*one) && !single && one->name != nullptr) names.emplace_back(one->name);
  }
  Mat_Rewind(file);
  return names;
}

template <class T>
void widen(const void* from, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i) {
    T sample;
    std::memcpy(&sample, static_cast<const std::byte*>(from) + i * sizeof(T), sizeof(T));
    const auto value = static_cast<double>(sample);
    std::memcpy(to + i * sizeof(value), &value, sizeof(value));
  }
}

/// Integers of `type` as float64.
void widen(matio_classes type, const void* from, std::size_t count, std::byte* to) {
  if (type == MAT_C_INT8) return widen<std::int8_t>(from, count, to);
  if (type == MAT_C_UINT8) return widen<std::uint8_t>(from, count, to);
  if (type == MAT_C_INT16) return widen<std::int16_t>(from, count, to);
  if (type == MAT_C_UINT16) return widen<std::uint16_t>(from, count, to);
  if (type == MAT_C_INT32) return widen<std::int32_t>(from, count, to);
  if (type == MAT_C_UINT32) return widen<std::uint32_t>(from, count, to);
  if (type == MAT_C_INT64) return widen<std::int64_t>(from, count, to);
  if (type == MAT_C_UINT64) return widen<std::uint64_t>(from, count, to);
  throw InternalError("a class of MATLAB's that is no integer");
}

class Array final : public ModuleArray {
 public:
  Array(const std::string& path, const std::string& member, Numbers numbers) : name_(path) {
    OpenFile(path).close();  // tells what is no file, and what cannot be read
    const Library library;   // is left last, also where something throws
    File file(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
    if (!file) damaged("it is no file of MATLAB's that can be read");
    if (Mat_GetVersion(file.get()) == MAT_FT_MAT5 && is_cut_off(path)) refuse("it is cut off");
    variable_ =
        choose_array(path, member, member.empty() ? arrays_in(file.get()) : std::vector<std::string>{});
    name_ = path + ":" + variable_;
    const Variable variable(Mat_VarReadInfo(file.get(), variable_.c_str()));
    if (!variable) damaged("there is no such variable");
    if (!is_numeric(*variable)) refuse("it is no matrix of real numbers");
    set_type(*variable, numbers);
    std::vector<std::uint64_t> sides(variable->dims, variable->dims + variable->rank);
    std::ranges::reverse(sides);
    set_sides(header_, sides, name_);
    check_memory(header_, header_.sample_bytes(), sides, name_);
    file_ = std::move(file);
  }
  ~Array() override {
    const Library library;
    file_ = {};
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  const std::string& name() const override { return name_; }
  const NpyHeader& header() const override { return header_; }

  void read_samples(std::span<std::byte> samples) override {
    if (samples.size() != header_.elements * header_.sample_bytes())
      throw InternalError("memory for samples has another size");
    if (samples.empty()) return;
    const Library library;
    // The library's copy of the samples goes at the end.
    const Variable whole(Mat_VarRead(file_.get(), variable_.c_str()));
    if (!whole || !complaint.empty()) damaged("it cannot be read");
    const auto size = static_cast<std::size_t>(whole->data_size);
    if (whole->data == nullptr || size == 0 || whole->nbytes / size != header_.elements)
      damaged("it has fewer samples than its sides say");
    if (widens_)
      widen(whole->class_type, whole->data, header_.elements, samples.data());
    else
      std::memcpy(samples.data(), whole->data, samples.size());
  }

  void read_item(std::uint64_t, std::span<std::byte>) override {
    throw InternalError("an item of MATLAB's arrays has its samples all over the file");
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const {
    throw Error(ExitCode::BadData, fmt::format("'{}': {} ({})", name_, what,
                                               complaint.empty() ? "no reason is given" : complaint));
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ExitCode::BadData, fmt::format("'{}': {}", name_, what));
  }

  void set_type(const matvar_t& variable, Numbers numbers) {
    const matio_classes type = variable.class_type;
    header_.boolean = variable.isLogical != 0 && type == MAT_C_UINT8;
    if (type == MAT_C_DOUBLE || type == MAT_C_SINGLE) {
      header_.type = type == MAT_C_DOUBLE ? ElementType::F64 : ElementType::F32;
    } else if (type == MAT_C_UINT8 || type == MAT_C_UINT16) {
      header_.type = type == MAT_C_UINT8 ? ElementType::U8 : ElementType::U16;
    } else if (numbers == Numbers::Any) {
      header_.type = ElementType::F64, widens_ = true;
    } else {
      refuse(
          "its samples have a type that no map has, allowed are single, double, uint8, uint16 and logical");
    }
  }

  std::string name_;
  NpyHeader header_;
  bool widens_ = false;
  File file_;
  std::string variable_;  ///< its name in the file
};

}  // namespace

std::unique_ptr<ModuleArray> open_array(const std::string& path, const std::string& member, Numbers numbers) {
  return std::make_unique<Array>(path, member, numbers);
}

}  // namespace contorno::mat
