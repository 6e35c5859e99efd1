// Arrays from files: .npy, a member of a .npz archive ("scan.npz:maps", or the only one), the pages of a TIFF
// stack, an array of an HDF5 file, of MATLAB's or of a Zarr store. One reader for all, so that whoever takes
// arrays takes each of them. The extension of the name decides between them. Errors are thrown as npy.h says;
// TIFF, HDF5, MATLAB and Zarr also throw ModuleError where their module is missing. A reader belongs to one
// thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/files/arrays/array_module.h"
#include "plugins/files/arrays/npy.h"
#include "plugins/files/arrays/npz.h"
#include "plugins/files/pictures/tiff.h"

namespace contorno {

inline constexpr std::string_view kArrayExtensions = ".npy, .npz, .tif, .h5, .mat or .zarr";
/// A Zarr store, the one kind of array that is a folder.
bool is_zarr(const std::filesystem::path& file);
bool has_array_extension(const std::filesystem::path& file);

/// "scan.npz:maps" (or "scan.h5:group/maps") is the member "maps" of "scan.npz", unless there is a file of
/// the whole name. The slash behind the name of a folder is left out.
struct ArrayPath {
  std::string file, member;
};
ArrayPath split_array_path(const std::string& path);

/// What the pages of a TIFF file are: sides of one array, pages x H x W, or items of a sequence, N x H x W x
/// C even where there is one channel. A file of one page is one image either way, and pages with bands are
/// items.
enum class Pages : std::uint8_t { Stack, Sequence };

class ArrayReader {
 public:
  const NpyHeader& open(const ArrayPath& path, Pages pages = Pages::Stack, Pipes pipes = Pipes::Refuse,
                        Numbers numbers = Numbers::Maps);
  const NpyHeader& header() const { return header_; }
  /// "scan.npz:maps.npy", for messages.
  std::string name() const;
  /// Whether the file itself says that the channels are the last side, as a TIFF with bands does.
  bool bands_are_last() const { return kind_ == Kind::Tiff && page_.channels > 1; }
  /// Reads an item as NpyReader::read_image does. A float64 array also fills float32 images, rounded to the
  /// nearest.
  void read_image(std::uint64_t item, const ImageView& image);
  NpyArray read_whole();

 private:
  void open_tiff(const std::string& path, Pages pages);
  void read_page(int page, std::span<std::byte> samples);
  void read_narrowed(std::uint64_t item, const ImageView& image);
  void load();

  enum class Kind : std::uint8_t { Npy, Npz, Tiff, Hdf5, Mat, Zarr };
  Kind kind_ = Kind::Npy;
  NpyHeader header_;
  NpyReader npy_;
  NpzMember npz_;
  std::unique_ptr<TiffFile> tiff_;
  std::unique_ptr<ModuleArray> module_;
  ImageFormat page_;          ///< format of every page of a stack
  bool loaded_ = false;       ///< npy_ has the samples of the archive or the stack
  std::vector<double> wide_;  ///< an image of float64 on its way to float32
};

/// A whole array of any numbers; `path` may name a member of an archive, or a pipe with a .npy file.
/// `warning` is set when the file is odd but can be used.
NpyArray read_array(const std::string& path, std::string& warning);

}  // namespace contorno
