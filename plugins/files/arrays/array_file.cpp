#include "plugins/files/arrays/array_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "plugins/files/shared/file_names.h"

namespace contorno {
namespace {

bool is_tiff(const std::filesystem::path& file) {
  const std::string extension = lower_extension(file);
  return extension == ".tif" || extension == ".tiff";
}

bool is_hdf5(const std::filesystem::path& file) {
  const std::string extension = lower_extension(file);
  return extension == ".h5" || extension == ".hdf5";
}

bool is_mat(const std::filesystem::path& file) {
  return lower_extension(file) == ".mat";
}

/// MATLAB's sides of an array of which the module tells the last one first: the samples lie column by column.
NpyHeader by_columns(NpyHeader header) {
  std::reverse(header.sides.begin(), header.sides.begin() + header.dimensions);
  header.fortran = true;
  return header;
}

NpyHeader header_of(ElementType type, std::span<const std::uint64_t> sides) {
  NpyHeader header{.type = type, .dimensions = static_cast<int>(sides.size()), .elements = 1};
  std::copy(sides.begin(), sides.end(), header.sides.begin());
  for (const std::uint64_t side : sides) header.elements *= side;
  return header;
}

}  // namespace

bool is_zarr(const std::filesystem::path& file) {
  return lower_extension(file) == ".zarr";
}

bool has_array_extension(const std::filesystem::path& file) {
  const std::string extension = lower_extension(file);
  return extension == ".npy" || extension == ".npz" || is_tiff(file) || is_hdf5(file) || is_mat(file) ||
         is_zarr(file);
}

ArrayPath split_array_path(const std::string& given) {
  const std::size_t end = given.find_last_not_of('/');
  const std::string trimmed = given.substr(0, end + 1);  // the whole where there is no other character
  const std::string& path = is_zarr(trimmed) ? trimmed : given;
  std::error_code ignored;
  for (const std::string_view mark : {".npz:", ".h5:", ".hdf5:", ".mat:", ".zarr:"})
    if (const std::size_t at = path.rfind(mark);
        at != std::string::npos && !std::filesystem::exists(path, ignored))
      return {path.substr(0, at + mark.size() - 1), path.substr(at + mark.size())};
  return {path, ""};
}

const NpyHeader& ArrayReader::open(const ArrayPath& path, Pages pages, Pipes pipes, Numbers numbers) {
  loaded_ = false;
  kind_ = lower_extension(path.file) == ".npz" ? Kind::Npz
          : is_tiff(path.file)                 ? Kind::Tiff
          : is_hdf5(path.file)                 ? Kind::Hdf5
          : is_mat(path.file)                  ? Kind::Mat
          : is_zarr(path.file)                 ? Kind::Zarr
                                               : Kind::Npy;
  switch (kind_) {
    case Kind::Npy:
      return header_ = npy_.open(path.file, pipes, numbers);
    case Kind::Npz:
      return header_ = npz_.open(path.file, path.member, numbers);
    case Kind::Tiff:
      open_tiff(path.file, pages);
      return header_;
    case Kind::Hdf5:
      module_ = open_hdf5(path.file, path.member, numbers);
      return header_ = module_->header();
    case Kind::Mat:
      module_ = open_mat(path.file, path.member, numbers);
      return header_ = by_columns(module_->header());
    case Kind::Zarr:
      module_ = open_zarr(path.file, path.member, numbers);
      return header_ = module_->header();
  }
  throw InternalError("unknown kind of array");
}

void ArrayReader::open_tiff(const std::string& path, Pages pages) {
  tiff_ = contorno::open_tiff(path);
  const auto count = static_cast<std::uint64_t>(tiff_->pages());
  page_ = tiff_->format();
  const auto h = static_cast<std::uint64_t>(page_.height), w = static_cast<std::uint64_t>(page_.width),
             c = static_cast<std::uint64_t>(page_.channels);
  std::vector<std::uint64_t> sides{h, w};
  const bool sequence = count > 1 && (pages == Pages::Sequence || c > 1);
  if (count > 1) sides.insert(sides.begin(), count);
  if (c > 1 || sequence) sides.push_back(c);
  header_ = header_of(page_.type, sides);
}

/// Reads one page; all have the format of the first.
void ArrayReader::read_page(int page, std::span<std::byte> samples) {
  tiff_->seek(page);
  if (const ImageFormat format = tiff_->format(); format != page_)
    throw Error(ExitCode::BadData, fmt::format("'{}': page {} is {}, the first is {}", tiff_->path(), page,
                                               describe(format), describe(page_)));
  tiff_->read_samples(samples);
}

std::string ArrayReader::name() const {
  switch (kind_) {
    case Kind::Npy:
      return npy_.name();
    case Kind::Npz:
      return npz_.name();
    case Kind::Tiff:
      return tiff_->path();
    case Kind::Hdf5:
    case Kind::Mat:
    case Kind::Zarr:
      return module_->name();
  }
  throw InternalError("unknown kind of array");
}

/// Brings the samples of an archive or a stack into memory, where they lie as in a .npy file.
void ArrayReader::load() {
  if (kind_ == Kind::Npy || loaded_) return;
  const std::span<std::byte> samples = npy_.open_memory(name(), header_);
  if (kind_ == Kind::Npz) {
    npz_.read_samples(samples);
  } else if (kind_ != Kind::Tiff) {
    module_->read_samples(samples);
  } else {
    const int pages = tiff_->pages();
    const std::size_t bytes = samples.size() / static_cast<std::size_t>(pages);
    for (int page = 0; page < pages; ++page)
      read_page(page, samples.subspan(static_cast<std::size_t>(page) * bytes, bytes));
  }
  loaded_ = true;
}

void ArrayReader::read_narrowed(std::uint64_t item, const ImageView& image) {
  ImageFormat format = image.format;
  format.type = ElementType::F64;
  const std::size_t samples = format.samples_per_row(), rows = static_cast<std::size_t>(format.height);
  wide_.resize(samples * rows * static_cast<std::size_t>(format.planes()));
  const auto pitch = static_cast<std::ptrdiff_t>(format.row_bytes());
  const ImageView wide{wide_.data(), format, pitch, pitch * format.height};
  read_image(item, wide);
  for (int plane = 0; plane < format.planes(); ++plane)
    for (int y = 0; y < format.height; ++y)
      std::transform(wide.row<double>(y, plane), wide.row<double>(y, plane) + samples,
                     image.row<float>(y, plane), [](double sample) { return static_cast<float>(sample); });
}

void ArrayReader::read_image(std::uint64_t item, const ImageView& image) {
  if (header_.type == ElementType::F64 && image.format.type == ElementType::F32) {
    read_narrowed(item, image);
    return;
  }
  if (kind_ == Kind::Npy || kind_ == Kind::Npz || kind_ == Kind::Mat || header_.dimensions < 4) {
    load();
    return npy_.read_image(item, image);
  }
  // One item at a time: a sequence may be longer than memory.
  NpyHeader one = header_of(header_.type, header_.shape().subspan(1));
  one.boolean = header_.boolean;
  const std::span<std::byte> samples = npy_.open_memory(name(), one);
  if (kind_ == Kind::Tiff)
    read_page(static_cast<int>(item), samples);
  else
    module_->read_item(item, samples);
  npy_.read_image(0, image);
}

NpyArray ArrayReader::read_whole() {
  load();
  return contorno::read_whole(npy_);
}

NpyArray read_array(const std::string& path, std::string& warning) {
  ArrayReader reader;
  reader.open(split_array_path(path), Pages::Stack, Pipes::Wait, Numbers::Any);
  warning = surplus_warning(reader.header(), reader.name());
  return reader.read_whole();
}

}  // namespace contorno
