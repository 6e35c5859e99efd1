// A manifest: a list of the frames of a dataset, as CSV with a line of column names (.csv) or as an object a
// line (.jsonl, .ndjson).
//
//   frame      path of a picture
//   maps       path of an array; each entry has at least one of the two
//   timestamp  when it was recorded, in seconds, or
//   pts_ns     the same in whole nanoseconds
//   camera     a name
//   truth      path of a picture or array of labels, or with {class} in it of a mask a class
//
// Paths are relative to the folder of the manifest. Names that begin with an underscore are the user's own.
// An entry that cannot be read is put aside with its place and reason (DatasetItem::fault).
#pragma once

#include "plugins/files/dataset/files.h"

namespace contorno {

/// The latest time of an entry, in seconds: 285 years behind the zero.
inline constexpr std::int64_t kMostManifestSeconds = 9'000'000'000;

/// Whether the extension of a file is that of a manifest.
bool is_manifest(const std::filesystem::path& file);

/// Throws Error(MissingInput, Io) when the file cannot be read, and Error(BadData) where its first line is
/// wrong (with line and column), it has no entry, or none is of the camera. Lines that are wrong become items
/// with a fault.
DatasetFiles read_manifest(const std::filesystem::path& file, const DatasetChoice& choice);

}  // namespace contorno
