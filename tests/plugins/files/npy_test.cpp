#include "plugins/files/arrays/npy.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>

#include "base/error.h"
#include "tests/file_content.h"
#include "tests/temporary_folder.h"

using namespace contorno;
namespace fs = std::filesystem;

namespace {

/// A file as NumPy lays it out, put together by hand.
std::string npy(const std::string& dict, const std::string& samples, int major = 1) {
  std::string file = std::string("\x93NUMPY") + static_cast<char>(major) + '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) file += static_cast<char>(dict.size() >> (8 * i) & 255);
  return file + dict + samples;
}
std::string dict(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}
template <class T>
std::string bytes_of(std::vector<T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
fs::path put(const TemporaryFolder& folder, const std::string& content) {
  const fs::path path = folder.path() / "a.npy";
  std::ofstream(path, std::ios::binary) << content;
  return path;
}
NpyHeader parse(const std::string& file) {
  return parse_npy_header(file, file.size(), "a.npy");
}
std::string message_of(const std::string& file) {
  try {
    parse(file);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::BadData);
    return error.what();
  }
  return "no error";
}
}  // namespace

TEST_CASE("npy samples of every allowed dtype and byte order come out native") {
  const TemporaryFolder folder;
  const auto floats = read_npy(put(folder, npy(dict("<f4", "(2, 2)"), bytes_of<float>({1, 2, 3, 4.5}))));
  CHECK(std::vector<float>(floats.as<float>().begin(), floats.as<float>().end()) ==
        std::vector<float>{1, 2, 3, 4.5});
  CHECK(floats.header.dimensions == 2);
  const auto big = read_npy(put(folder, npy(dict(">f4", "(2,)"), std::string("\x3f\x80\0\0\xc0\0\0\0", 8))));
  CHECK(big.as<float>()[0] == 1.0f);
  CHECK(big.as<float>()[1] == -2.0f);
  const auto words = read_npy(put(folder, npy(dict(">u2", "(2,)"), std::string("\x01\x02\xff\0", 4))));
  CHECK(words.as<std::uint16_t>()[0] == 0x0102);
  const auto doubles = read_npy(put(folder, npy(dict("<f8", "(1,)"), bytes_of<double>({0.1}))));
  CHECK(doubles.as<double>()[0] == 0.1);
  const auto halves = read_npy(put(folder, npy(dict("<f2", "(1,)"), bytes_of<std::uint16_t>({0x3c00}))));
  CHECK(halves.header.type == ElementType::F16);
  CHECK(halves.as<std::uint16_t>()[0] == 0x3c00);
  const auto truth = read_npy(put(folder, npy(dict("|b1", "(3,)"), std::string("\0\1\7", 3))));
  CHECK(truth.header.boolean);
  CHECK(truth.as<std::uint8_t>()[2] == 1);
}

TEST_CASE("npy arrays in Fortran order come out in C order") {
  const TemporaryFolder folder;
  // a[i][j][k] = 100 i + 10 j + k, first index fastest
  std::vector<std::uint16_t> stored;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) stored.push_back(static_cast<std::uint16_t>(100 * i + 10 * j + k));
  const fs::path path = put(folder, npy(dict("<u2", "(2, 3, 4)", "True"), bytes_of(stored), 2));
  const NpyArray array = read_npy(path);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 4; ++k)
        CHECK(array.as<std::uint16_t>()[(i * 3 + j) * 4 + k] == 100 * i + 10 * j + k);
  NpyReader reader;
  reader.open(path);
  for (const Layout layout : {Layout::Planar, Layout::Interleaved}) {
    const ImageFormat format =
        layout == Layout::Planar
            ? ImageFormat{.width = 4, .height = 3, .channels = 2, .type = ElementType::U16, .layout = layout}
            : ImageFormat{.width = 3, .height = 2, .channels = 4, .type = ElementType::U16, .layout = layout};
    std::vector<std::byte> memory(packed_bytes(format));
    const ImageView view = packed_view(memory.data(), format);
    reader.read_image(0, view);
    std::size_t at = 0;
    for (int plane = 0; plane < format.planes(); ++plane)
      for (int y = 0; y < format.height; ++y)
        for (std::size_t x = 0; x < format.samples_per_row(); ++x)
          CHECK(view.row<std::uint16_t>(y, plane)[x] == array.as<std::uint16_t>()[at++]);
  }
}

TEST_CASE("npy images are read into rows with a pitch, also more rows than one call takes") {
  const TemporaryFolder folder;
  const std::array<std::uint64_t, 4> shape = {2, 3, 131, 67};
  std::vector<float> samples(2 * 3 * 131 * 67);
  std::iota(samples.begin(), samples.end(), 0.0f);
  write_npy(folder.path() / "s.npy", ElementType::F32, shape, samples.data());
  const ImageFormat format{
      .width = 67, .height = 131, .channels = 3, .type = ElementType::F32, .layout = Layout::Planar};
  std::vector<std::byte> memory(packed_bytes(format), std::byte{0xEE});
  const ImageView view = packed_view(memory.data(), format);
  NpyReader reader;
  CHECK(reader.open(folder.path() / "s.npy").surplus == 0);
  reader.read_image(1, view);
  bool equal = true;
  std::size_t at = samples.size() / 2;
  for (int plane = 0; plane < 3; ++plane)
    for (int y = 0; y < 131; ++y) {
      for (int x = 0; x < 67; ++x) equal &= view.row<float>(y, plane)[x] == samples[at++];
      equal &= view.row<std::uint8_t>(y, plane)[67 * 4] == 0xEE;  // what is behind the row is not touched
    }
  CHECK(equal);
  CHECK_THROWS_AS(reader.read_image(2, view), Error);
}

TEST_CASE("bool npy images become 0 and 255") {
  const TemporaryFolder folder;
  NpyReader reader;
  reader.open(put(folder, npy(dict("|b1", "(2, 2)"), std::string("\0\1\1\0", 4))));
  const ImageFormat format{.width = 2, .height = 2, .channels = 1};
  std::vector<std::byte> memory(packed_bytes(format));
  const ImageView view = packed_view(memory.data(), format);
  reader.read_image(0, view);
  CHECK(view.row<std::uint8_t>(0)[1] == 255);
  CHECK(view.row<std::uint8_t>(1)[1] == 0);
}

TEST_CASE("npy headers in any harmless spelling are read") {
  CHECK(parse(npy("{\"shape\": (2,), 'fortran_order': False, 'descr': '<f4'}", std::string(8, 0))).elements ==
        2);
  CHECK(parse(npy("{'descr':'<f4','fortran_order':False,'shape':(2L,1),}   \n", std::string(8, 0), 3))
            .dimensions == 2);
  CHECK(parse(npy(dict("<f4", "(0, 5)"), "")).elements == 0);
  CHECK(surplus_warning(parse(npy(dict("<f4", "(1,)"), std::string(4, 0))), "a.npy").empty());
  CHECK(surplus_warning(parse(npy(dict("<f4", "(1,)"), std::string(9, 0))), "a.npy") ==
        "'a.npy' is longer than its header says: 5 bytes behind the (1,) float32 samples are not read");
}

TEST_CASE("npy dtypes that are not samples of a map are refused by name") {
  for (const char* dtype :
       {"|O", "<i4", "<c8", "<U3", "|S5", "|V8", "<f16", "<M8[ns]", "|f4", "f4", "", "|i1", "<b2"}) {
    CAPTURE(dtype);
    CHECK(contains(message_of(npy(dict(dtype, "(1,)"), std::string(64, 0))),
                   "has the dtype '" + std::string(dtype) + "', allowed are float16"));
  }
  const std::string structure =
      "{'descr': [('x', '<f4'), ('y', '<f4')], 'fortran_order': False, 'shape': (1,), }\n";
  CHECK(contains(message_of(npy(structure, std::string(8, 0))), "has the dtype [('x', '<f4')"));
}

TEST_CASE("npy shapes that no file can have are refused before memory is taken") {
  std::string many = "(";
  for (int i = 0; i < 33; ++i) many += "1, ";
  for (const std::string& shape :
       {std::string("(1000000000000, 10000)"), std::string("(4294967296, 4294967296, 4)"),
        std::string("(-1,)"), std::string("(100000000000000000000,)"), std::string("(True,)"),
        std::string("()"), std::string("(2)"), std::string("(2.0,)"), std::string("(,)"),
        std::string("(1 2)"), std::string("[2]"), std::string("(1_0,)"),
        std::string("(9223372036854775807, 9223372036854775807, 0)"), std::string("(2, (3,))"), many + ")"}) {
    CAPTURE(shape);
    const std::string message = message_of(npy(dict("<f4", shape), std::string(64, 0)));
    CHECK(message != "no error");
    CHECK(message.size() < 300);
  }
}

TEST_CASE("broken npy headers are refused") {
  const std::string good = npy(dict("<f4", "(2, 3)"), std::string(24, 0));
  CHECK(message_of(good) == "no error");
  for (std::size_t length = 0; length < good.size(); ++length)  // cut at every byte
    CHECK(message_of(good.substr(0, length)) != "no error");
  for (const std::string& text :
       {std::string("{}"), std::string("[]"), dict("<f4", "(1,)") + "x",
        "{'descr': '<f4', " + dict("<f4", "(1,)").substr(1),
        std::string("{'descr': '<f4', 'fortran_order': False}"), dict("<f4", "(1,)", "0"),
        dict("<f4", "(1,)", "false"),
        std::string("{'descr': __import__('os').system('x'), 'fortran_order': False, 'shape': (1,)}"),
        std::string("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}")}) {
    CAPTURE(text);
    CHECK(message_of(npy(text, std::string(64, 0))) != "no error");
  }
  CHECK(contains(message_of(npy(dict("<f4", "(1,)"), "abcd", 9)), "version is 9.0"));
  CHECK(contains(message_of(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff{", 13)), "4294967295 bytes long"));
  CHECK(contains(message_of("PK\x03\x04 zip"),
                 "is a ZIP archive, of which only those of arrays (.npz) are read"));
  CHECK(contains(message_of(npy(dict("<f4", "(2, 3)"), std::string(23, 0))),
                 "is too short: its header says (2, 3) float32, but only 23 bytes of samples follow"));
}

TEST_CASE("any change of a npy header's byte is read or refused, never worse") {
  const std::string good = npy(dict("<f4", "(2, 3)"), std::string(24, 0));
  for (std::size_t at = 0; at + 24 < good.size(); ++at)
    for (int value = 0; value < 256; ++value) {
      std::string file = good;
      file[at] = static_cast<char>(value);
      try {
        const NpyHeader header = parse(file);
        CHECK(header.offset + header.elements * element_size(header.type) + header.surplus == file.size());
      } catch (const Error& error) {
        CHECK(error.code() == ExitCode::BadData);
      }
    }
}

TEST_CASE("what is no file at all is named as such") {
  const TemporaryFolder folder;
  const auto code_of = [](const fs::path& path) {
    try {
      read_npy(path);
    } catch (const Error& error) {
      return error.code();
    }
    return ExitCode::Ok;
  };
  CHECK(code_of(folder.path() / "none.npy") == ExitCode::MissingInput);
  CHECK(code_of(folder.path()) == ExitCode::BadData);
  REQUIRE(::mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
  CHECK(code_of(folder.path() / "pipe") == ExitCode::BadData);  // and it does not wait for a writer
  CHECK(code_of(put(folder, "")) == ExitCode::BadData);
}

TEST_CASE("npy files written are read back, and their samples are aligned") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "w.npy";
  const std::vector<double> values = {0.1, -0.0, 1e300, 5};
  write_npy(path, ElementType::F64, std::array<std::uint64_t, 2>{2, 2}, values.data());
  const NpyArray array = read_npy(path);
  CHECK(array.header.offset % 64 == 0);
  CHECK(std::memcmp(array.data.data(), values.data(), 32) == 0);
}

// tests/plugins/files/npy_test.py writes the folder with NumPy and runs this case.
TEST_CASE("npy files made by NumPy read as NumPy reads them") {
  const char* folder = std::getenv("CONTORNO_NPY_CASES");
  if (folder == nullptr) return;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".npy") continue;
    CAPTURE(entry.path().string());
    const NpyArray array = read_npy(entry.path());
    const std::string got(reinterpret_cast<const char*>(array.data.data()), array.data.size());
    CHECK(got == content(fs::path(entry.path()).replace_extension(".bin")));
    ++count;
  }
  MESSAGE("arrays compared: ", count);
  CHECK(count > 0);
}
