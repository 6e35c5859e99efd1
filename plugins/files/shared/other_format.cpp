#include "plugins/files/shared/other_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

/// The extension of a picture of Netpbm, whose formats are read by their names; empty for others.
std::string_view extension_of_pnm(std::string_view start) {
  constexpr std::array<std::string_view, 7> kExtensions{".pbm", ".pgm", ".ppm", ".pbm",
                                                        ".pgm", ".ppm", ".pam"};
  if (start.size() < 3 || start[0] != 'P' || start[1] < '1' || start[1] > '7') return {};
  const bool ends = start[2] == '\n' || start[2] == ' ' || start[2] == '\r' || start[2] == '\t';
  return ends ? kExtensions[static_cast<std::size_t>(start[1] - '1')] : std::string_view();
}

/// Pictures and pages in text, which a reader of graphs would take for a wrong graph.
std::string format_of_text(std::string_view start) {
  const auto holds = [&](std::string_view word) { return start.find(word) != std::string_view::npos; };
  start.remove_prefix(std::min(start.find_first_not_of("\xEF\xBB\xBF \t\r\n"), start.size()));
  if (start.starts_with("<!DOCTYPE html"sv) || start.starts_with("<!doctype html"sv) ||
      start.starts_with("<html"sv))
    return "is a page of HTML and no file of its own; what a server said in the place of the file, perhaps";
  if (start.starts_with("<svg"sv) || (start.starts_with("<?xml"sv) && holds("<svg")))
    return "is an SVG drawing, which is not read; draw it as PNG: rsvg-convert FILE -o FILE.png (package "
           "librsvg2-bin)";
  if (start.starts_with("#define "sv) && holds("_width ") && holds("_bits[]"))
    return "is an X bitmap (XBM), which is not read; save it as .png";
  if (start.starts_with("/* XPM */"sv)) return "is an X pixmap (XPM), which is not read; save it as .png";
  return {};
}

}  // namespace

std::string other_format(std::string_view start, std::string_view name) {
  start = start.substr(0, kFormatStartBytes);
  if (start.starts_with("PK\x03\x04"sv)) return format_of_zip(start, name);
  if (start.starts_with("MATLAB "sv)) return "is a file of MATLAB; let its name end in .mat";
  if (start.starts_with("\x89HDF\r\n\x1A\n"sv)) return "is an HDF5 file; let its name end in .h5";
  if (start.starts_with("\x93NUMPY"sv)) return "is an array of NumPy; let its name end in .npy";
  if (start.starts_with("CDF\x01"sv) || start.starts_with("CDF\x02"sv) || start.starts_with("CDF\x05"sv))
    return "is a netCDF file of version 3, which is not read; nccopy -k nc4 makes it HDF5 (.h5)";
  if (start.starts_with("SIMPLE  ="sv))
    return "is a FITS file, which is not read; save the array by numpy.save";
  if (start.size() > 1 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5)
    return "is a pickle of Python, which is not read, since reading one runs what it says; save the array by "
           "numpy.save";
  if (const std::string_view extension = extension_of_pnm(start); !extension.empty())
    return fmt::format("is a PNM picture (P{}); let its name end in {}", start[1], extension);
  return format_of_text(start);
}

}  // namespace contorno
