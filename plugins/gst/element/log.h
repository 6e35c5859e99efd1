// What the elements log: GST_DEBUG=contorno:6 shows it. Warnings (2) are frames without results, info (4)
// what is planned, debug (5) what changes, log (6) every frame. A file that includes this uses GST_LOG_OBJECT
// and the like.
#pragma once

#include <gst/gst.h>

GST_DEBUG_CATEGORY_EXTERN(contorno_debug);
#define GST_CAT_DEFAULT contorno_debug
