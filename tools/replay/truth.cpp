#include "tools/replay/truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "pipeline/shared/printable.h"
#include "plugins/files/arrays/array_file.h"
#include "plugins/files/dataset/item_reader.h"
#include "plugins/files/pictures/picture.h"
#include "plugins/files/shared/file_names.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

constexpr std::string_view kPlaceholder = "{class}";

std::vector<std::uint16_t> narrowed(std::span<const double> labels, const std::string& path) {
  constexpr double kMost = 65535;
  std::vector<std::uint16_t> narrow;
  narrow.reserve(labels.size());
  for (const double label : labels) {
    if (!(label >= 0 && label <= kMost))
      throw Error(
          ExitCode::BadData,
          fmt::format("{} has the label {}, allowed are whole numbers from 0 to {}", path, label, kMost));
    narrow.push_back(static_cast<std::uint16_t>(label));
  }
  return narrow;
}

LabelPicture labels_of_array(const std::string& path) {
  ArrayReader reader;
  const NpyHeader header = reader.open(split_array_path(path), Pages::Stack, Pipes::Refuse, Numbers::Any);
  const auto shape = header.shape();
  const bool is_whole =
      header.type == ElementType::U8 || header.type == ElementType::U16 || header.integer_bytes > 0;
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1 || !is_whole || shape[0] > kMaxSide ||
      shape[1] > kMaxSide)
    throw Error(ExitCode::BadData,
                fmt::format("{} holds {}, wanted are labels of two sides, as bool or whole numbers", path,
                            describe(header)));
  const NpyArray array = reader.read_whole();
  LabelPicture labels{static_cast<int>(shape[1]), static_cast<int>(shape[0]), {}};
  if (header.integer_bytes > 0)
    labels.labels = narrowed(array.as<double>(), path);
  else if (header.type == ElementType::U8)
    labels.labels.assign(array.as<std::uint8_t>().begin(), array.as<std::uint8_t>().end());
  else
    labels.labels.assign(array.as<std::uint16_t>().begin(), array.as<std::uint16_t>().end());
  return labels;
}

LabelPicture read_labels(const std::string& path) {
  if (has_array_extension(split_array_path(path).file)) return labels_of_array(path);
  if (lower_extension(path) != ".png")
    throw Error(ExitCode::BadData, fmt::format("{}: labels are read from .png, {}", path, kArrayExtensions));
  try {
    return decode_png_labels(read_regular_file(path), kDefaultMaxPixels);
  } catch (const Error& error) {
    if (error.code() != ExitCode::BadData) throw;
    throw Error(error.code(), fmt::format("{}: {}", path, error.what()));
  }
}

template <class Is>
PixelRegion region_where(const LabelPicture& labels, const Is& is) {
  PixelRegion region{labels.width, labels.height, {}};
  region.in.reserve(labels.labels.size());
  for (const std::uint16_t label : labels.labels) region.in.push_back(is(label) ? 1 : 0);
  return region;
}

TrueRegions from_labels(const LabelPicture& labels, const LabelMeaning& meaning, std::size_t classes) {
  TrueRegions truth;
  for (std::size_t k = 0; k < classes; ++k)
    truth.classes.push_back(region_where(labels, [&](std::uint32_t label) {
      return label == meaning.first + k && label != meaning.unjudged;
    }));
  truth.unjudged = region_where(labels, [&](std::uint32_t label) { return label == meaning.unjudged; });
  return truth;
}

/// A file a class, in which everything but 0 is the class.
TrueRegions from_masks(const std::string& pattern, std::span<const std::string> classes) {
  TrueRegions truth;
  for (const std::string& name : classes) {
    std::string path = pattern;
    for (std::size_t at = 0; (at = path.find(kPlaceholder, at)) != std::string::npos; at += name.size())
      path.replace(at, kPlaceholder.size(), name);
    const LabelPicture mask = read_labels(path);
    if (!truth.classes.empty() &&
        (mask.width != truth.classes[0].width || mask.height != truth.classes[0].height))
      throw Error(ExitCode::BadData,
                  fmt::format("{} has {} x {} px, the masks before have {} x {}", path, mask.width,
                              mask.height, truth.classes[0].width, truth.classes[0].height));
    truth.classes.push_back(region_where(mask, [](std::uint32_t label) { return label != 0; }));
  }
  truth.unjudged = truth.classes.front();
  std::fill(truth.unjudged.in.begin(), truth.unjudged.in.end(), std::uint8_t{0});
  return truth;
}

/// Truth is found by the place of a frame, which is that of its file only where each file has one frame.
void refuse_sequences(const DatasetFiles& files, const SourceSpec& source, const ArrayPath& location) {
  const auto text = [&](const char* name) { return std::get<std::string>(source.params.get(name)); };
  ItemReader reader(files,
                    {.layout = text("layout") == "chw" ? MapLayout::Chw : MapLayout::Hwc,
                     .member = location.member.empty() ? text("member") : location.member},
                    {});
  std::string ignored;  // what cannot be read is reported in its turn
  for (const DatasetItem& item : files.items) {
    reader.close();
    if (reader.open(item, ignored) && reader.frames() != 1)
      throw Error(ExitCode::BadData, fmt::format("'{}' is a sequence of {} maps, but the dataset has truth, "
                                                 "which belongs to files of one frame; store a file a frame",
                                                 printable(item.map.string()), reader.frames()));
  }
}

}  // namespace

Truth::Truth(const SourceSpec& source, const LabelMeaning& meaning) : meaning_(meaning) {
  if (source.type->name != "dataset") return;
  const auto text = [&](const char* name) { return std::get<std::string>(source.params.get(name)); };
  const ArrayPath location = split_array_path(text("location"));
  files_ = find_dataset(location.file,
                        {.frames = std::get<bool>(source.params.get("frames")), .camera = text("camera")});
  exists_ = std::any_of(files_.items.begin(), files_.items.end(),
                        [](const DatasetItem& item) { return !item.truth.empty(); });
  if (exists_) refuse_sequences(files_, source, location);
}

bool Truth::knows(std::uint64_t place) const {
  return place < files_.items.size() && !files_.items[place].truth.empty();
}

TrueRegions Truth::regions(std::uint64_t place, std::span<const std::string> classes) const {
  const std::string path = files_.items.at(place).truth.string();
  if (path.find(kPlaceholder) != std::string::npos) return from_masks(path, classes);
  return from_labels(read_labels(path), meaning_, classes.size());
}

}  // namespace contorno
