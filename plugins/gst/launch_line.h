// Launch lines, as gst-launch-1.0 takes them. Only plugins/gst includes this.
#pragma once

#include <string>

#include "plugins/gst/elements.h"

namespace contorno::gst {

/// What becomes of pads of the line that are not linked: the bin gets ghost pads for them, or they stay as
/// they are.
enum class OpenPads : std::uint8_t { Ghosted, Left };

/// The bin of a launch line, with a floating reference, which the caller takes. Throws Error(Unavailable)
/// that names the elements which are not installed, Error(BadConfig) where the line cannot be used.
GstElement* parse_launch_line(const std::string& line, OpenPads pads);

}  // namespace contorno::gst
