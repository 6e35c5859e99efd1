// Opens the items of a dataset one after the other: finds out what their maps are, decodes their frames, and
// copies both into the memory of a slot. Belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/graph/source.h"
#include "plugins/files/arrays/array_file.h"
#include "plugins/files/dataset/files.h"
#include "plugins/files/pictures/decoder.h"

namespace contorno {

/// How the sides of arrays are read.
enum class MapLayout : std::uint8_t { Undeclared, Chw, Hwc, Auto };

struct ItemOptions {
  MapLayout layout = MapLayout::Undeclared;
  std::string member;  ///< name of the member that is read of an archive
  std::uint64_t max_pixels = kDefaultMaxPixels;
};

class ItemReader {
 public:
  struct Formats {
    std::optional<ImageFormat> frame, maps;
    bool operator==(const Formats&) const = default;
  };

  /// `files` is borrowed.
  ItemReader(const DatasetFiles& files, ItemOptions options, FrameDecoder decoder)
      : files_(files), options_(std::move(options)), decoder_(std::move(decoder)) {}

  /// Opens the item as far as the header of its maps, unless it is open. False with a sentence when it cannot
  /// be used. Throws ModuleError.
  bool open(const DatasetItem& item, std::string& error);
  /// Finds out everything of it but the samples of its maps: afterwards formats() are those of the item.
  bool prepare(const DatasetItem& item, std::string& error);
  bool is_prepared() const { return prepared_; }
  /// The next open() is of another item.
  void close() { opened_ = prepared_ = false; }

  /// How many frames an open item has: the maps of a sequence, or 1.
  std::uint64_t frames() const { return frames_; }
  const Formats& formats() const { return formats_; }
  /// Copies frame `index` of the prepared item into memory of its formats. Throws Error when the samples
  /// cannot be read.
  void read(std::uint64_t index, FrameInput& input);

 private:
  std::optional<ImageFormat> maps_format() const;
  bool prepare_frame(const DatasetItem& item, std::string& error);

  const DatasetFiles& files_;
  const ItemOptions options_;
  const FrameDecoder decoder_;
  ArrayReader reader_;
  Picture pixels_;
  Formats formats_;
  bool opened_ = false, prepared_ = false;
  std::uint64_t frames_ = 1;
};

}  // namespace contorno
