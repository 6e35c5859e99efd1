// Launch lines, as gst-launch-1.0 takes them. Only plugins/gst includes this.
#pragma once

#include <string>

#include "plugins/gst/elements.h"

namespace contorno::gst {

enum class OpenPads : std::uint8_t { Ghosted, Left };

/// The bin of a launch line, floating. Throws Error(Unavailable) that names the elements which are not
/// installed, Error(BadConfig) where the line cannot be used.
GstElement* parse_launch_line(const std::string& line, OpenPads pads);

}  // namespace contorno::gst
