#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "plugins/files/arrays/npy.h"
#include "plugins/files/shared/other_format.h"

namespace contorno {
namespace {

constexpr std::size_t kMaxHeaderBytes = 65536;
constexpr std::size_t kMagicBytes = 6, kVersionBytes = 2;
constexpr std::size_t kMaxQuoted = 60;  // of a foreign dtype in a message

/// The samples that can be read, by NumPy's letter and size.
struct Dtype {
  std::string_view code;
  ElementType type;
  bool boolean;
  bool integer = false;  ///< whether it is an integer type that no map has
};
constexpr std::array kDtypes = {
    Dtype{"f2", ElementType::F16, false},       Dtype{"f4", ElementType::F32, false},
    Dtype{"f8", ElementType::F64, false},       Dtype{"u1", ElementType::U8, false},
    Dtype{"u2", ElementType::U16, false},       Dtype{"b1", ElementType::U8, true},
    Dtype{"i1", ElementType::F64, false, true}, Dtype{"i2", ElementType::F64, false, true},
    Dtype{"i4", ElementType::F64, false, true}, Dtype{"i8", ElementType::F64, false, true},
    Dtype{"u4", ElementType::F64, false, true}, Dtype{"u8", ElementType::F64, false, true},
};

/// Parser of the one Python literal that NumPy writes: {'descr': '<f4', 'fortran_order': False,
/// 'shape': (3, 4), }. Keys in any order, each once, nothing else.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view name, Numbers numbers)
      : text_(text), name_(name), numbers_(numbers) {}

  void parse(NpyHeader& header) {
    expect('{');
    bool has_descr = false, has_order = false, has_shape = false;
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !std::exchange(has_descr, true))
        descr(header);
      else if (key == "fortran_order" && !std::exchange(has_order, true))
        header.fortran = boolean();
      else if (key == "shape" && !std::exchange(has_shape, true))
        shape(header);
      else
        throw bad(fmt::format("header key '{}' is unknown or given twice", key));
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size()) throw bad("there is something behind the header's '}'");
    if (!has_descr || !has_order || !has_shape)
      throw bad("the header needs the keys 'descr', 'fortran_order' and 'shape'");
  }

 private:
  Error bad(std::string_view what) const {
    return Error(ExitCode::BadData,
                 fmt::format("'{}' is not a readable .npy file: {} (header position {})", name_, what, at_));
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) throw bad(fmt::format("expected '{}'", c));
  }
  bool accept_word(std::string_view word) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  bool boolean() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    throw bad("'fortran_order' must be True or False");
  }
  std::string_view quoted() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') throw bad("expected a quoted word");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) throw bad("a quote is not closed");
    const std::string_view word = text_.substr(at_ + 1, end - at_ - 1);
    if (word.find('\\') != std::string_view::npos) throw bad("a quoted word has a backslash");
    at_ = end + 1;
    return word;
  }

  Error bad_dtype(std::string_view dtype) const {
    if (numbers_ == Numbers::Any)
      return Error(
          ExitCode::BadData,
          fmt::format("'{}' has the dtype {}, allowed are float16, float32, float64, integers of 1 to 8 "
                      "bytes and bool",
                      name_, dtype.substr(0, kMaxQuoted)));
    return Error(
        ExitCode::BadData,
        fmt::format("'{}' has the dtype {}, allowed are float16, float32, float64, uint8, uint16 and bool; "
                    "astype('float32') in NumPy makes one of them",
                    name_, dtype.substr(0, kMaxQuoted)));
  }
  void descr(NpyHeader& header) {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[') throw bad_dtype(text_.substr(at_));  // a structure
    const std::string_view word = quoted();
    const std::string shown = fmt::format("'{}'", word);
    if (word.size() != 3) throw bad_dtype(shown);
    const auto* found = std::find_if(kDtypes.begin(), kDtypes.end(),
                                     [&](const Dtype& dtype) { return dtype.code == word.substr(1); });
    const bool one_byte = found != kDtypes.end() && word[2] == '1';
    const bool order_known =
        word[0] == '<' || word[0] == '>' || word[0] == '=' || (word[0] == '|' && one_byte);
    if (found == kDtypes.end() || !order_known || (found->integer && numbers_ == Numbers::Maps))
      throw bad_dtype(shown);
    header.type = found->type;
    header.integer_bytes = found->integer ? static_cast<std::uint8_t>(word[2] - '0') : std::uint8_t{0};
    header.is_signed = found->integer && word[1] == 'i';
    header.boolean = found->boolean;
    header.big_endian = word[0] == '>' && !one_byte;
  }

  std::uint64_t side() {
    skip_blanks();
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
      constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
      if (value > (kMost - digit) / 10) throw bad("a side of the shape is larger than any file");
      value = value * 10 + digit;
    }
    if (at_ == begin) throw bad("a side of the shape is not a whole number from 0 up");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // a long integer of Python 2
    return value;
  }
  void shape(NpyHeader& header) {
    expect('(');
    bool comma = true;
    while (!accept(')')) {
      if (!comma) throw bad("expected ',' or ')' in the shape");
      if (header.dimensions == NpyHeader::kMaxDimensions)
        throw bad(fmt::format("the shape has more than {} sides", NpyHeader::kMaxDimensions));
      header.sides[static_cast<std::size_t>(header.dimensions++)] = side();
      comma = accept(',');
    }
    if (header.dimensions == 0) throw bad("it holds a single number, not an array");
    if (header.dimensions == 1 && !comma) throw bad("the shape is not a tuple");
  }

  std::string_view text_, name_;
  Numbers numbers_;
  std::size_t at_ = 0;
};

/// a * b, or nothing when it does not fit.
std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
  if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) return std::nullopt;
  return a * b;
}

/// Sets elements and surplus, or throws when the file is too short for its shape.
void check_size(NpyHeader& header, std::uint64_t file_bytes, std::string_view name) {
  // The overflow of sides is looked at without those that are 0: (0, 2^62, 2^62) is no shape of a file
  // either.
  std::optional<std::uint64_t> bytes = header.sample_bytes();
  bool empty = false;
  for (const std::uint64_t side : header.shape()) {
    if (side == 0)
      empty = true;
    else if (bytes)
      bytes = product(*bytes, side);
  }
  if (bytes && empty) bytes = 0;
  const std::uint64_t available = file_bytes - header.offset;
  if (!bytes || *bytes > available)
    throw Error(ExitCode::BadData,
                fmt::format("'{}' is too short: its header says {}, but only {} bytes of samples follow",
                            name, describe(header), available));
  header.elements = *bytes / header.sample_bytes();
  header.surplus = available - *bytes;
}

}  // namespace

std::string describe(const NpyHeader& header) {
  const auto shape = header.shape();
  const std::string type = header.integer_bytes > 0
                               ? fmt::format("{}int{}", header.is_signed ? "" : "u", 8 * header.integer_bytes)
                               : std::string(header.boolean ? "bool" : name_of(header.type));
  return fmt::format("({}{}) {}", fmt::join(shape, ", "), shape.size() == 1 ? "," : "", type);
}

std::string surplus_warning(const NpyHeader& header, std::string_view name) {
  if (header.surplus == 0) return {};
  return fmt::format("'{}' is longer than its header says: {} bytes behind the {} samples are not read", name,
                     header.surplus, describe(header));
}

NpyHeader parse_npy_header(std::string_view start, std::uint64_t file_bytes, std::string_view name,
                           Numbers numbers) {
  const auto bad = [&](std::string_view what) {
    return Error(ExitCode::BadData, fmt::format("'{}' is not a readable .npy file: {}", name, what));
  };
  if (!start.starts_with("\x93NUMPY")) {
    const std::string other = other_format(start, name);
    if (!other.empty()) throw Error(ExitCode::BadData, fmt::format("'{}' {}", name, other));
    throw bad("it does not begin with the NumPy signature");
  }
  if (start.size() < kMagicBytes + kVersionBytes) throw bad("it ends within the header");
  const auto byte = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(start[at]));
  };
  const std::size_t major = byte(kMagicBytes), minor = byte(kMagicBytes + 1);
  if (major < 1 || major > 3 || minor != 0)
    throw bad(fmt::format("its format version is {}.{}, allowed are 1.0, 2.0 and 3.0", major, minor));
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t header_begin = kMagicBytes + kVersionBytes + length_bytes;
  if (start.size() < header_begin) throw bad("it ends within the header");
  std::size_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | byte(kMagicBytes + kVersionBytes + i);
  if (length > kMaxHeaderBytes)
    throw bad(fmt::format("its header says to be {} bytes long, allowed are {}", length, kMaxHeaderBytes));
  if (start.size() < header_begin + length || file_bytes < header_begin + length)
    throw bad("it ends within the header");
  NpyHeader header;
  HeaderParser(start.substr(header_begin, length), name, numbers).parse(header);
  header.offset = header_begin + length;
  check_size(header, file_bytes, name);
  return header;
}

}  // namespace contorno
