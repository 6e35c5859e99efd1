// Arrays whose files are read by a large library that is loaded as a module of contorno: HDF5 files by
// libhdf5 (module hdf5), Zarr stores by GDAL (module zarr), files of MATLAB by libmatio (module mat). An
// array belongs to one thread; functions throw Error(MissingInput, BadData, Io) with the file's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plugins/files/arrays/npy.h"

namespace contorno {

class ModuleArray {
 public:
  virtual ~ModuleArray() = default;
  /// "scan.h5:group/maps"
  virtual const std::string& name() const = 0;
  /// Type and sides as a .npy file would have them; read_samples() converts to that type, little endian and
  /// in C order.
  virtual const NpyHeader& header() const = 0;
  /// All samples, without gaps: `samples` has as many bytes as all of them.
  virtual void read_samples(std::span<std::byte> samples) = 0;
  /// Those of item `index` of the first dimension, which is below its length; `samples` has their bytes.
  virtual void read_item(std::uint64_t index, std::span<std::byte> samples) = 0;
};

/// Opens the array `member` ("maps", "group/maps"); an empty name means the only one of the file that has two
/// sides or more. Throws ModuleError where the module is missing, before it looks at the file.
std::unique_ptr<ModuleArray> open_hdf5(const std::string& path, const std::string& member, Numbers numbers);
/// Opens an array of a Zarr store, which is a folder, as open_hdf5 does of a file.
std::unique_ptr<ModuleArray> open_zarr(const std::string& path, const std::string& member, Numbers numbers);

/// Opens a variable of a file of MATLAB (.mat) as open_hdf5 does, whose matrices of one number are passed
/// over. Its last side comes first, since MATLAB stores columns: a matrix of N x 2 has the sides 2 and N
/// here. Files of version 7.3 are HDF5 files, and read by that module.
std::unique_ptr<ModuleArray> open_mat(const std::string& path, const std::string& member, Numbers numbers);

/// The table of functions that such a module gives the library.
struct ArrayModule {
  std::unique_ptr<ModuleArray> (*open)(const std::string& path, const std::string& member, Numbers numbers);
};

/// The name of the array to read: `member`, else the only one of `names`. Throws Error(BadData) with the
/// names where there are several.
std::string choose_array(const std::string& path, const std::string& member,
                         const std::vector<std::string>& names);
/// Sets the sides of a header and the number of its elements. Throws Error(BadData) where they
/// are larger than those of any file.
void set_sides(NpyHeader& header, std::span<const std::uint64_t> sides, const std::string& name);
/// Before a chunk is opened: memory is taken for one frame (of an array without frames for all of it), and
/// for one chunk, of which a few bytes in the file may make any number. `chunk` has the sides of a chunk,
/// none where there are no chunks. Throws Error(BadData) with both sizes where one is larger than allowed.
void check_memory(const NpyHeader& header, std::size_t sample_bytes, std::span<const std::uint64_t> chunk,
                  const std::string& name);
/// Samples that are to be multiplied, or added to, by an attribute of the array. Throws Error(BadData).
[[noreturn]] void refuse_scale(const std::string& name, std::string_view attribute, double value);

}  // namespace contorno
