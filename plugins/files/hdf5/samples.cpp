#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/error.h"
#include "plugins/files/arrays/array_module.h"
#include "plugins/files/hdf5/library.h"

namespace contorno::hdf5 {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  throw Error(ExitCode::BadData, fmt::format("'{}': {}", name, what));
}

/// The names of an enumeration, in the order of the file.
std::vector<std::string> names_in(hid_t type) {
  std::vector<std::string> names;
  for (int member = 0; member < H5Tget_nmembers(type); ++member)
    if (char* const name = H5Tget_member_name(type, static_cast<unsigned>(member)); name != nullptr) {
      names.emplace_back(name);
      H5free_memory(name);
    }
  return names;
}

/// Whether a type is bool as h5py stores it: an enumeration in which FALSE is 0 and TRUE is 1.
bool is_boolean(hid_t type) {
  if (H5Tget_size(type) != 1 || names_in(type) != std::vector<std::string>{"FALSE", "TRUE"}) return false;
  signed char no = -1, yes = -1;
  return H5Tget_member_value(type, 0, &no) >= 0 && H5Tget_member_value(type, 1, &yes) >= 0 && no == 0 &&
         yes == 1;
}

/// What a number with a fraction is made of; the library converts each to the usual ones.
struct Real {
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, fraction = 0, fraction_bits = 0;
  std::int64_t bias = 0;
  bool known = false;

  explicit Real(hid_t type) : bias(static_cast<std::int64_t>(H5Tget_ebias(type))) {
    known = H5Tget_fields(type, &sign, &exponent, &exponent_bits, &fraction, &fraction_bits) >= 0 &&
            exponent_bits < 63;
  }
  /// Whether a number with such an exponent and fraction has every value of this one.
  bool fits(std::size_t bits_of_exponent, std::size_t bits_of_fraction) const {
    const std::int64_t usual = (std::int64_t{1} << (bits_of_exponent - 1)) - 1;
    const std::int64_t greatest = (std::int64_t{1} << exponent_bits) - 2 - bias;
    return known && fraction_bits <= bits_of_fraction && greatest <= usual && 1 - bias >= 1 - usual;
  }
};

/// IEEE binary16, for which the library has no name.
Handle half() {
  Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}

SampleType of(ElementType type, hid_t in_memory) {
  return {.in_memory = Handle(H5Tcopy(in_memory), H5Tclose), .type = type};
}

}  // namespace

SampleType sample_type(hid_t set, Numbers numbers, const std::string& name) {
  const Handle stored(H5Dget_type(set), H5Tclose);
  const std::size_t size = H5Tget_size(stored);
  const H5T_class_t kind = H5Tget_class(stored);
  if (kind == H5T_ENUM) {
    if (!is_boolean(stored))
      refuse(name, fmt::format("its samples are an enumeration ({}), which is no number of a map",
                               fmt::join(names_in(stored), ", ")));
    SampleType truth = of(ElementType::U8, stored);
    truth.boolean = true;
    return truth;
  }
  const bool is_unsigned = kind == H5T_INTEGER && H5Tget_sign(stored) == H5T_SGN_NONE;
  if (is_unsigned && size == 1) return of(ElementType::U8, H5T_STD_U8LE);
  if (is_unsigned && size == 2) return of(ElementType::U16, H5T_STD_U16LE);
  if (kind == H5T_INTEGER && numbers == Numbers::Any) return of(ElementType::F64, H5T_IEEE_F64LE);
  if (kind == H5T_FLOAT) {
    const Real real(stored);
    if (size == 2 && real.fits(5, 10)) return {.in_memory = half(), .type = ElementType::F16};
    if (real.fits(8, 23)) return of(ElementType::F32, H5T_IEEE_F32LE);
    if (real.fits(11, 52)) return of(ElementType::F64, H5T_IEEE_F64LE);
  }
  refuse(name,
         "its samples have a type that no map has, allowed are float16, float32, float64, uint8, uint16 "
         "and bool");
}

void check_scale(hid_t set, const std::string& name) {
  for (const auto& [attribute, none] : {std::pair{"scale_factor", 1.0}, std::pair{"add_offset", 0.0}}) {
    if (H5Aexists(set, attribute) <= 0) continue;
    const Handle opened(H5Aopen(set, attribute, H5P_DEFAULT), H5Aclose),
        space(H5Aget_space(opened), H5Sclose);
    double value = none;
    if (H5Sget_simple_extent_npoints(space) == 1) H5Aread(opened, H5T_NATIVE_DOUBLE, &value);
    if (value != none) refuse_scale(name, attribute, value);
  }
}

}  // namespace contorno::hdf5
