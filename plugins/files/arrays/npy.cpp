#include "plugins/files/arrays/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace contorno {
namespace {

static_assert(std::endian::native == std::endian::little, "files are read as they lie in memory");

constexpr std::size_t kRowsACall = 64;  // rows that one preadv fetches

/// Reverses the bytes of each sample; done through bytes because rows need no alignment.
void swap_bytes(std::byte* data, std::size_t samples, std::size_t size) {
  for (std::size_t i = 0; i < samples; ++i) std::reverse(data + i * size, data + (i + 1) * size);
}

/// Converts samples to native byte order, and bools to 0 or `truth`.
void convert(std::byte* data, std::size_t samples, const NpyHeader& header, std::byte truth) {
  if (header.big_endian) swap_bytes(data, samples, header.sample_bytes());
  if (header.boolean)
    std::transform(data, data + samples, data,
                   [truth](std::byte b) { return b == std::byte{0} ? b : truth; });
}

/// Copies `count` samples whose distance in the file is `step` samples.
void gather(const std::byte* from, std::uint64_t step, std::byte* to, std::uint64_t count, std::size_t size) {
  for (std::uint64_t i = 0; i < count; ++i) std::memcpy(to + i * size, from + i * step * size, size);
}

/// Fortran to C order: walks the target in order with an odometer over all sides but the last.
void reorder(const std::byte* from, std::byte* to, const NpyHeader& header) {
  const std::size_t size = header.sample_bytes();
  const auto shape = header.shape();
  const std::size_t last = shape.size() - 1;
  std::array<std::uint64_t, NpyHeader::kMaxDimensions> step{}, index{};
  std::uint64_t distance = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) distance = (step[d] = distance) * shape[d];
  for (std::uint64_t done = 0; done < header.elements; done += shape[last]) {
    std::uint64_t at = 0;
    for (std::size_t d = 0; d < last; ++d) at += index[d] * step[d];
    gather(from + at * size, step[last], to + done * size, shape[last], size);
    for (std::size_t d = last; d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

template <class T>
void add_as_double(std::span<const std::byte> integers, std::vector<std::byte>& doubles) {
  for (std::size_t at = 0; at < integers.size(); at += sizeof(T)) {
    T integer;
    std::memcpy(&integer, integers.data() + at, sizeof(T));
    const auto sample = static_cast<double>(integer);
    std::memcpy(doubles.data() + at / sizeof(T) * sizeof(double), &sample, sizeof(double));
  }
}

/// Integers of types that no map has, in native byte order, as float64.
std::vector<std::byte> as_doubles(std::span<const std::byte> integers, const NpyHeader& header) {
  std::vector<std::byte> doubles(header.elements * sizeof(double));
  switch (header.integer_bytes) {
    case 1:
      add_as_double<std::int8_t>(integers, doubles);
      return doubles;
    case 2:
      add_as_double<std::int16_t>(integers, doubles);
      return doubles;
    case 4:
      header.is_signed ? add_as_double<std::int32_t>(integers, doubles)
                       : add_as_double<std::uint32_t>(integers, doubles);
      return doubles;
    case 8:
      header.is_signed ? add_as_double<std::int64_t>(integers, doubles)
                       : add_as_double<std::uint64_t>(integers, doubles);
      return doubles;
    default:
      throw InternalError("integers of an unknown size");
  }
}

/// The sides that an image of `format` has in a file; one channel may be left out.
bool sides_agree(const NpyHeader& header, const ImageFormat& format) {
  const auto h = static_cast<std::uint64_t>(format.height), w = static_cast<std::uint64_t>(format.width),
             c = static_cast<std::uint64_t>(format.channels);
  std::span<const std::uint64_t> shape = header.shape();
  if (shape.size() == 4) shape = shape.subspan(1);
  if (header.type != format.type || header.integer_bytes > 0) return false;
  if (shape.size() == 2) return c == 1 && shape[0] == h && shape[1] == w;
  if (shape.size() != 3) return false;
  return format.layout == Layout::Planar ? shape[0] == c && shape[1] == h && shape[2] == w
                                         : shape[0] == h && shape[1] == w && shape[2] == c;
}

}  // namespace

const NpyHeader& NpyReader::open(const std::filesystem::path& path, Pipes pipes, Numbers numbers) {
  close();
  name_ = path.string();
  file_ = OpenFile(name_, pipes);
  if (file_.is_pipe()) {
    open_pipe(numbers);
    return header_;
  }
  start_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kNpyStartBytes, file_.bytes())));
  read_at(0, reinterpret_cast<std::byte*>(start_.data()), start_.size());
  header_ = parse_npy_header({start_.data(), start_.size()}, file_.bytes(), name_, numbers);
  return header_;
}

/// Memory grows with what arrives: nobody knows how much a pipe has.
void NpyReader::open_pipe(Numbers numbers) {
  constexpr std::size_t kLeast = 1 << 20;
  std::vector<std::byte> arrived;
  for (std::size_t got = 0;;) {
    arrived.resize(std::max(kLeast, 2 * got));
    const std::size_t more = read_pipe(arrived.data() + got, arrived.size() - got);
    if ((got += more) < arrived.size()) {
      arrived.resize(got);
      break;
    }
  }
  const auto* text = reinterpret_cast<const char*>(arrived.data());
  header_ =
      parse_npy_header({text, std::min(arrived.size(), kNpyStartBytes)}, arrived.size(), name_, numbers);
  memory_ = std::move(arrived);
  in_memory_ = true;
  file_.close();
}

/// Fewer than `bytes` only at the end.
std::size_t NpyReader::read_pipe(std::byte* data, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::read(file_.descriptor(), data + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw read_error(name_, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::span<std::byte> NpyReader::open_memory(std::string name, const NpyHeader& header) {
  close();
  name_ = std::move(name);
  header_ = header;
  header_.offset = 0;
  in_memory_ = true;
  memory_.resize(header.elements * header.sample_bytes());
  return memory_;
}

void NpyReader::read_at(std::uint64_t offset, std::byte* data, std::size_t bytes) {
  if (in_memory_) {
    std::memcpy(data, memory_.data() + offset, bytes);
    return;
  }
  while (bytes > 0) {
    const ssize_t got = ::pread(file_.descriptor(), data, bytes, static_cast<off_t>(offset));
    if (got < 0) {
      if (errno == EINTR) continue;
      throw read_error(name_, errno);
    }
    if (got == 0) throw Error(ExitCode::BadData, fmt::format("'{}' became shorter while it was read", name_));
    data += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

void NpyReader::read_rows(std::uint64_t offset, const ImageView& image) {
  const std::size_t row_bytes = image.format.row_bytes();
  const int rows = row_bytes == 0 ? 0 : image.format.height * image.format.planes();
  const auto row = [&](int i) {
    return image.row<std::byte>(i % image.format.height, i / image.format.height);
  };
  for (int i = 0; in_memory_ && i < rows; ++i)
    read_at(offset + static_cast<std::uint64_t>(i) * row_bytes, row(i), row_bytes);
  std::array<iovec, kRowsACall> parts{};
  for (int first = 0; !in_memory_ && first < rows;) {
    const int count = std::min<int>(kRowsACall, rows - first);
    for (int i = 0; i < count; ++i) parts[static_cast<std::size_t>(i)] = {row(first + i), row_bytes};
    const ssize_t got = ::preadv(file_.descriptor(), parts.data(), count, static_cast<off_t>(offset));
    if (got < 0 && errno != EINTR) throw read_error(name_, errno);
    // A short read is finished row by row: what is left of the row it stopped in, then on as before.
    std::size_t done = got < 0 ? 0 : static_cast<std::size_t>(got);
    if (got >= 0 && done < row_bytes * static_cast<std::size_t>(count)) {
      const std::size_t part = done % row_bytes;
      read_at(offset + done, row(first + static_cast<int>(done / row_bytes)) + part, row_bytes - part);
      done += row_bytes - part;
    }
    offset += done;
    first += static_cast<int>(done / row_bytes);
  }
  for (int i = 0; i < rows && (header_.big_endian || header_.boolean); ++i)
    convert(row(i), image.format.samples_per_row(), header_, std::byte{255});
}

void NpyReader::read_fortran(const ImageView& image) {
  const ImageFormat& format = image.format;
  const std::size_t size = element_size(format.type);
  scratch_.resize(header_.elements * size);
  read_raw(scratch_);
  const auto height = static_cast<std::uint64_t>(format.height),
             width = static_cast<std::uint64_t>(format.width);
  const auto channels = static_cast<std::uint64_t>(format.channels);
  // Distances in samples between neighbours: the first side of the file's shape varies fastest.
  const bool planar = format.layout == Layout::Planar;
  const std::uint64_t step_c = planar ? 1 : height * width;
  const std::uint64_t step_y = planar ? channels : 1;
  const std::uint64_t step_x = step_y * height;
  for (int plane = 0; plane < format.planes(); ++plane) {
    for (int y = 0; y < format.height; ++y) {
      auto* row = image.row<std::byte>(y, plane);
      const std::uint64_t begin =
          static_cast<std::uint64_t>(y) * step_y + static_cast<std::uint64_t>(plane) * step_c;
      if (planar) {
        gather(scratch_.data() + begin * size, step_x, row, width, size);
      } else {
        for (std::uint64_t x = 0; x < width; ++x)
          gather(scratch_.data() + (begin + x * step_x) * size, step_c, row + x * channels * size, channels,
                 size);
      }
      convert(row, format.samples_per_row(), header_, std::byte{255});
    }
  }
}

void NpyReader::read_image(std::uint64_t item, const ImageView& image) {
  const std::uint64_t items = header_.dimensions == 4 ? header_.sides[0] : 1;
  if (!(file_.is_open() || in_memory_) || item >= items || !sides_agree(header_, image.format))
    throw InternalError(
        fmt::format("'{}' ({}) does not fit an image {}", name_, describe(header_), describe(image.format)));
  if (header_.fortran && header_.dimensions == 4)
    throw Error(
        ExitCode::BadData,
        fmt::format("'{}' is a sequence in Fortran order, allowed is C order (numpy.ascontiguousarray)",
                    name_));
  if (header_.fortran) return read_fortran(image);
  const std::uint64_t item_bytes = header_.elements / items * element_size(header_.type);
  read_rows(header_.offset + item * item_bytes, image);
}

void NpyReader::read_raw(std::span<std::byte> bytes) {
  if (!(file_.is_open() || in_memory_) || bytes.size() != header_.elements * header_.sample_bytes())
    throw InternalError("read_raw into memory of another size");
  read_at(header_.offset, bytes.data(), bytes.size());
}

void NpyReader::close() noexcept {
  file_.close();
  in_memory_ = false;
}

NpyHeader read_npy_header(const std::filesystem::path& path) {
  NpyReader reader;
  return reader.open(path);
}

NpyArray read_npy(const std::filesystem::path& path) {
  NpyReader reader;
  reader.open(path);
  return read_whole(reader);
}

NpyArray read_whole(NpyReader& reader) {
  NpyArray array{.header = reader.header(), .data = {}};
  array.data.resize(array.header.elements * array.header.sample_bytes());
  reader.read_raw(array.data);
  if (array.header.fortran && array.header.dimensions > 1) {
    std::vector<std::byte> ordered(array.data.size());
    reorder(array.data.data(), ordered.data(), array.header);
    array.data = std::move(ordered);
  }
  convert(array.data.data(), array.header.elements, array.header, std::byte{1});
  if (array.header.integer_bytes > 0) {
    array.data = as_doubles(array.data, array.header);
    array.header.integer_bytes = 0;
  }
  return array;
}

void write_npy(const std::filesystem::path& path, ElementType type, std::span<const std::uint64_t> shape,
               const void* data) {
  OutputFile file(path, Completion::Rename);
  write_npy(file, type, shape, data);
}

void write_npy(OutputFile& file, ElementType type, std::span<const std::uint64_t> shape, const void* data) {
  constexpr std::array<std::string_view, 5> kCodes = {"|u1", "<u2", "<f2", "<f4", "<f8"};  // by ElementType
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   kCodes[static_cast<std::size_t>(type)], fmt::join(shape, ", "),
                                   shape.size() == 1 ? "," : "");
  constexpr std::size_t kPrefix = 10, kAlign = 64;  // samples begin at a multiple of 64 bytes
  header.append((kAlign - (kPrefix + header.size() + 1) % kAlign) % kAlign, ' ');
  header += '\n';
  const std::size_t length = header.size();
  const std::array<char, kPrefix> prefix = {
      '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<char>(length & 255), static_cast<char>(length >> 8)};
  std::size_t bytes = element_size(type);
  for (const std::uint64_t side : shape) bytes *= side;
  file.write({prefix.data(), prefix.size()});
  file.write(header);
  file.write({static_cast<const char*>(data), bytes});
  file.complete();
}

}  // namespace contorno
