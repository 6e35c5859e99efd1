// Arrays in HDF5 files, by libhdf5, which comes with the module hdf5. What a file says of an array's size is
// checked against the bytes that are stored of it before memory is taken. An array belongs to one thread;
// functions throw Error(MissingInput, BadData, Io) with the file's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "plugins/files/arrays/npy.h"

namespace contorno {

class Hdf5Array {
 public:
  virtual ~Hdf5Array() = default;
  /// "scan.h5:group/maps"
  virtual const std::string& name() const = 0;
  /// As of a .npy file: little endian, C order.
  virtual const NpyHeader& header() const = 0;
  /// All samples, without gaps.
  virtual void read_samples(std::span<std::byte> samples) = 0;
  /// Those of item `index` of the first side.
  virtual void read_item(std::uint64_t index, std::span<std::byte> samples) = 0;
};

/// Opens the data set `member` ("maps", "group/maps"); an empty name means the only one of the file that has
/// two sides or more. Throws ModuleError where the module is missing, before it looks at the file.
std::unique_ptr<Hdf5Array> open_hdf5(const std::string& path, const std::string& member);

/// The table of functions that the module gives the library.
struct Hdf5Module {
  std::unique_ptr<Hdf5Array> (*open)(const std::string& path, const std::string& member);
};

}  // namespace contorno
