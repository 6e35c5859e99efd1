#include "plugins/files/contours/contour_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.h"
#include "pipeline/shared/printable.h"
#include "plugins/files/contours/contour_lines.h"
#include "plugins/files/contours/gather.h"
#include "plugins/files/shared/file_names.h"

namespace contorno {
namespace {

std::unique_ptr<ContourReader> read_collection(const std::string& path) {
  constexpr std::array<std::string_view, 4> kArrays{"features", "images", "annotations", "categories"};
  auto contours = std::make_unique<ContourCollection>();
  CocoGatherer coco(*contours);
  GeojsonGatherer geojson(*contours);
  const auto found = for_each_element(path, kArrays, [&](const JsonElement& element) {
    element.array == kArrays[0] ? geojson.take(element) : coco.take(element);
  });
  const auto features = std::count(found.begin(), found.end(), kArrays[0]);
  if (found.empty() || (features != 0 && features != std::ssize(found)))
    throw Error(ExitCode::BadData,
                fmt::format("'{}' has {}; wanted COCO, with 'images', 'annotations' and 'categories', or "
                            "GeoJSON, with 'features' (JSON lines have names that end with .jsonl)",
                            printable(path), found.empty() ? "no contours" : "features and members of COCO"));
  if (features == 0) coco.finish();
  contours->finish(path);
  return contours;
}

}  // namespace

std::unique_ptr<ContourReader> open_contours(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw Error(ExitCode::MissingInput, fmt::format("'{}' does not exist", printable(path)));
  if (std::filesystem::is_directory(path, ignored) || !std::ifstream(path))
    throw Error(ExitCode::BadData, fmt::format("'{}' cannot be read as a file", printable(path)));
  const std::string extension = lower_extension(path);
  if (extension == ".json" || extension == ".geojson") return read_collection(path);
  if (extension == ".cbor") return std::make_unique<ContourMessages>(path);
  return std::make_unique<ContourLines>(path);
}

}  // namespace contorno
