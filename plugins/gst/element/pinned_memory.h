// Memory for the frames of elements before us from which a device can copy without a detour: page-locked
// where there is CUDA.
#pragma once

#include <gst/gst.h>

namespace contorno::gst {

/// The answer to an ALLOCATION query that the elements behind us have answered, or not: a pool of buffers in
/// page-locked memory takes the first place, with the metas that are known behind us. False: nothing was
/// added, because the query has no caps of video.
bool propose_pinned(GstQuery* query);
/// Memory that begins where a row of the CPU's widest registers may; others' offers come first.
void propose_aligned(GstQuery* query);

}  // namespace contorno::gst
