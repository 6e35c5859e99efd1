// What a camera offers and what is asked of it, as caps and as text. Only plugins/gst includes this.
#pragma once

#include <string>
#include <vector>

#include "plugins/gst/elements.h"
#include "plugins/media/media.h"
#include "plugins/media/params.h"

namespace contorno::gst {

/// Caps of what the camera is to send.
Owned<GstCaps> wanted_of_camera(const CameraParams& params);

/// The formats in caps, those of one size and kind of pixels as one, in the order of the caps.
std::vector<CameraFormat> formats_of(const GstCaps* caps);

/// Throws Error(BadConfig) that says what was asked for and what is offered, unless some of `offered` is
/// wanted.
void refuse_other_formats(const CameraParams& params, const GstCaps* offered);

}  // namespace contorno::gst
