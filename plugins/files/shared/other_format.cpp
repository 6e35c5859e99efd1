#include "plugins/files/shared/other_format.h"

#include <fmt/format.h>

namespace contorno {
namespace {

using namespace std::string_view_literals;

/// ZIP files are told by what is in them.
std::string format_of_zip(std::string_view start, std::string_view name) {
  const auto holds = [&](std::string_view word) { return start.find(word) != std::string_view::npos; };
  if (holds(".zarray") || holds(".zgroup") || holds("zarr.json") || name.ends_with(".zarr.zip"))
    return "is a zipped Zarr store, of which only the folder is read; unzip it into a folder whose name ends "
           "in .zarr";
  if (holds("data.pkl")) return "is a file of PyTorch; save the array itself, by numpy.save";
  if (holds("[Content_Types].xml")) return "is an office document, which has no maps and no pictures to read";
  if (holds(".npy"))
    return "is not a readable .npy file: it is an archive of arrays; let its name end in .npz";
  return "is a ZIP archive, of which only those of arrays (.npz) are read; unzip it";
}

}  // namespace

std::string other_format(std::string_view start, std::string_view name) {
  start = start.substr(0, kFormatStartBytes);
  if (start.starts_with("PK\x03\x04"sv)) return format_of_zip(start, name);
  if (start.starts_with("MATLAB "sv))
    return "is a MATLAB file (.mat), which is not read; save the array by h5write in MATLAB, or by "
           "scipy.io.loadmat and "
           "numpy.save in Python";
  if (start.starts_with("\x89HDF\r\n\x1A\n"sv)) return "is an HDF5 file; let its name end in .h5";
  if (start.starts_with("\x93NUMPY"sv)) return "is an array of NumPy; let its name end in .npy";
  if (start.starts_with("CDF\x01"sv) || start.starts_with("CDF\x02"sv) || start.starts_with("CDF\x05"sv))
    return "is a netCDF file of version 3, which is not read; nccopy -k nc4 makes it HDF5 (.h5)";
  if (start.starts_with("SIMPLE  ="sv))
    return "is a FITS file, which is not read; save the array by numpy.save";
  if (start.size() > 1 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5)
    return "is a pickle of Python, which is not read, since reading one runs what it says; save the array by "
           "numpy.save";
  if (start.size() > 2 && start[0] == 'P' && start[1] >= '1' && start[1] <= '6' &&
      (start[2] == '\n' || start[2] == ' ' || start[2] == '\r' || start[2] == '\t'))
    return fmt::format("is a PNM picture (P{}); {}", start[1],
                       start[1] == '1' || start[1] == '4'
                           ? "a bitmap (.pbm), which is not read; save it as .png"
                           : "let its name end in .ppm or .pgm");
  return {};
}

}  // namespace contorno
