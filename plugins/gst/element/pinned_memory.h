// Memory for the frames of elements before us from which a device can copy without a detour: page-locked
// where there is CUDA.
#pragma once

#include <gst/gst.h>

namespace contorno::gst {

/// Answers an ALLOCATION query, whether or not the elements behind us have: puts a pool of buffers in
/// page-locked memory in the first place, and leaves the metas that the elements behind us have named. False:
/// nothing was added, because the query has no caps of video.
bool propose_pinned(GstQuery* query);
/// Memory that begins where a row of the CPU's widest registers may; others' offers come first.
void propose_aligned(GstQuery* query);

}  // namespace contorno::gst
