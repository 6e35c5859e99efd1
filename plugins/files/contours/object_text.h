// Records of objects as JSON, for all sinks that write them.
#pragma once

#include "pipeline/value/objects.h"
#include "plugins/files/contours/text_buffer.h"

namespace contorno {

/// What "kind" is of the object that a record becomes; contours of frames have no such member.
inline constexpr std::string_view kObjectKind = "object";

/// Appends the members of a record, without the braces. Areas are in px^2 of the map; what an object without
/// a whole view does not have is null.
void write_record(TextBuffer& text, const FinishedObjects& objects, const ObjectRecord& record);

}  // namespace contorno
