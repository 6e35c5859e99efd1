// Opens a file of contours: JSON lines, messages in CBOR, COCO or GeoJSON.
#pragma once

#include <memory>
#include <string>

#include "plugins/files/contours/contour_frame.h"

namespace contorno {

/// A .json or .geojson file is one object, read at once: COCO when it has "images", "annotations" or
/// "categories", GeoJSON when it has "features". A .cbor file is messages. Every other file is JSON lines.
/// Throws Error(MissingInput) when there is no such file, Error(BadData) when it is none, with
/// file:line:column where it is wrong.
std::unique_ptr<ContourReader> open_contours(const std::string& path);

}  // namespace contorno
