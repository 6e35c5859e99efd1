// What the samples of a picture mean: by which matrix and in which range YCbCr stands for R'G'B'. Caps say it
// often only in part, and for some codecs wrongly; what is missing comes from one table, for films that are
// read, for films that are written and for the element.
//
//   codec                          matrix                                       range
//   VP8                            BT.601, whatever is tagged (RFC 6386, 9.2)   16-235, whatever is tagged
//   VP6, Theora, VP3               BT.601, whatever is tagged                   as tagged, else 16-235
//   Motion JPEG                    BT.601, whatever is tagged (JFIF)            as tagged, or as its comment
//                                                                               says, else 0-255
//   all others, and raw samples    as tagged; else by size: BT.709 from 1280    as tagged, else 16-235;
//                                  columns or more than 576 rows, else BT.601   of grey pictures 0-255
//
// AV1 of 4:4:4 that names the matrix of RGB is green, blue and red (ISO/IEC 23001-8), of full range.
// Primaries and transfer functions stay as they are told: nothing here converts them.
#pragma once

#include <gst/video/video.h>

#include <string>
#include <string_view>

namespace contorno::gst {

/// The colorimetry of a stream that names none.
inline constexpr GstVideoColorimetry kUnknownColours{
    GST_VIDEO_COLOR_RANGE_UNKNOWN, GST_VIDEO_COLOR_MATRIX_UNKNOWN, GST_VIDEO_TRANSFER_UNKNOWN,
    GST_VIDEO_COLOR_PRIMARIES_UNKNOWN};

/// The colorimetry of pictures of YCbCr or grey whose caps say `told`, with matrix and range known. `coded`
/// is the media type that they were decoded from or will be encoded to ("video/x-vp8"), empty for raw ones.
/// Only the format and the size of `info` are looked at. Colours of RGB are returned as they are told.
GstVideoColorimetry colours_of(const GstVideoInfo& info, const GstVideoColorimetry& told,
                               std::string_view coded);
/// Reads caps of raw video, as gst_video_info_from_caps, with the colorimetry of colours_of in place of
/// GStreamer's guess, and GBR in place of Y444 where the samples are that. False for caps that are none of
/// raw video.
bool read_caps(const GstCaps* caps, std::string_view coded, GstVideoInfo& info);
/// The media type that the decoder before the sink pad `pad` takes; empty when no decoder is before it.
std::string coded_before(GstPad* pad);
/// Lets caps that come to the sink pad `pad` say the colorimetry of colours_of.
void complete_colours(GstPad* pad);

}  // namespace contorno::gst
