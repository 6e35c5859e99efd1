#include "plugins/network.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "pipeline/shared/printable.h"
#include "plugins/files/arrays/array_file.h"
#include "plugins/modules.h"
#include "plugins/onnxruntime/table.h"
#include "stages/shared/sample_value.h"

namespace contorno {
namespace {

struct CheckArray {
  std::vector<std::int64_t> sides;
  std::vector<float> numbers;
};

/// A member of the archive of a check: numbers of any type, as float32.
CheckArray check_array(const std::string& path, const char* member) {
  ArrayReader reader;
  const NpyHeader header =
      reader.open(split_array_path(path + ":" + member), Pages::Stack, Pipes::Refuse, Numbers::Any);
  CheckArray array;
  for (const std::uint64_t side : header.shape()) array.sides.push_back(static_cast<std::int64_t>(side));
  const NpyArray all = reader.read_whole();
  with_sample_type(header.type, [&]<class T>(const T*) {
    for (const T one : all.as<T>())
      array.numbers.push_back(static_cast<float>(value_of(one, SampleScale{1})));
  });
  return array;
}

std::optional<NetworkCheck> read_check(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  CheckArray in = check_array(path, "input"), out = check_array(path, "output"),
             tolerance = check_array(path, "tolerance");
  if (tolerance.numbers.size() != 1 || !(tolerance.numbers[0] >= 0))
    throw Error(ExitCode::BadConfig,
                fmt::format("network: {}: tolerance is one number, 0 or above", printable(path, 200)));
  return NetworkCheck{.in_sides = std::move(in.sides),
                      .out_sides = std::move(out.sides),
                      .input = std::move(in.numbers),
                      .output = std::move(out.numbers),
                      .tolerance = static_cast<double>(tolerance.numbers[0])};
}

}  // namespace

StageType network_stage_with(const contorno_engine* plugin) {
  const auto opencv = []() -> const contorno_engine& {
    return *static_cast<const contorno_engine*>(open_module(kDnnModule));
  };
  const auto onnxruntime = []() -> const contorno_engine& {
    return static_cast<const OnnxruntimeTable*>(open_module(kOnnxruntimeModule))->engine();
  };
  return network_with(
      {.opencv = opencv, .onnxruntime = onnxruntime, .plugin = plugin, .read_check = read_check});
}

const StageType& network_stage() {
  static const StageType type = network_stage_with(nullptr);
  return type;
}

}  // namespace contorno
