// gst_decoder_gpu: the element `contorno` behind a decoder of the GPU.
//   gst_decoder_gpu FILE      (a stream of H.264, as a file without a container)
// compares the contours and the pixels of every frame of `nvh264dec ! contorno`, where frames stay on the
// device, with those of the CPU on the same frames in memory of the host; then records every copy that the
// process makes while frames stay on the device, and fails when more than the contours has gone to the host.
// The same is recorded with the frames brought to the host on purpose, which must be seen. GST_PLUGIN_PATH
// says where the plugin is. Exits with 77 where nvh264dec or a device is missing.
#include <gst/gst.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cuda/device.h"
#include "tests/gpu/copy_trace.h"
#include "tests/gpu/gst_frames.h"

namespace {

using namespace contorno;
using namespace contorno::test;

constexpr const char* kOnDevice = "video/x-raw(memory:CUDAMemory),format=NV12";
constexpr const char* kOnHost = "cudadownload ! video/x-raw,format=NV12";

/// What came out of a pipeline.
struct Frames {
  bool keeps_pixels = true;
  std::vector<Bytes> contours, pixels;
  std::uint64_t contour_bytes = 0, frame_bytes = 0;
};

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "FAILED: %s\n", why.c_str());
  std::exit(1);
}

GstVideoInfo info_of(GstPad* pad) {
  GstCaps* const caps = gst_pad_get_current_caps(pad);
  GstVideoInfo info;
  if (caps == nullptr || gst_video_info_from_caps(&info, caps) == 0) fail("the frames have no format");
  gst_caps_unref(caps);
  return info;
}

GstPadProbeReturn take(GstPad* pad, GstPadProbeInfo* probe, gpointer data) {
  Frames& frames = *static_cast<Frames*>(data);
  GstBuffer* const buffer = GST_PAD_PROBE_INFO_BUFFER(probe);
  const GstVideoInfo info = info_of(pad);
  frames.contours.push_back(contours_of(buffer));
  frames.contour_bytes += frames.contours.back().size();
  frames.frame_bytes += GST_VIDEO_INFO_SIZE(&info);
  if (frames.keeps_pixels) frames.pixels.push_back(pixels_of(buffer, info));
  return GST_PAD_PROBE_OK;
}

/// Runs to the end; the element `c` is `contorno`, and `out` the last one.
void run(const std::string& text, const char* backend, bool overlay, Frames& frames) {
  GError* error = nullptr;
  GstElement* const pipeline = gst_parse_launch(text.c_str(), &error);
  if (error != nullptr) fail(text + ": " + error->message);
  GstElement* const element = gst_bin_get_by_name(GST_BIN(pipeline), "c");
  gst_util_set_object_arg(G_OBJECT(element), "backend", backend);
  g_object_set(element, "config", kGraph, "overlay", overlay, nullptr);
  GstElement* const out = gst_bin_get_by_name(GST_BIN(pipeline), "out");
  GstPad* const pad = gst_element_get_static_pad(out, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, take, &frames, nullptr);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus* const bus = gst_element_get_bus(pipeline);
  GstMessage* const message = gst_bus_timed_pop_filtered(
      bus, 60 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  if (message == nullptr) fail(text + ": it does not end");
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error(message, &error, nullptr);
    fail(text + ": " + error->message);
  }
  gst_message_unref(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  for (gpointer object : {gpointer{bus}, gpointer{pad}, gpointer{out}, gpointer{element}, gpointer{pipeline}})
    gst_object_unref(object);
}

bool compare(const std::string& decoder, bool overlay) {
  Frames device, host;
  run(decoder + " ! contorno name=c ! " + kOnDevice + " ! " + kOnHost + " ! fakesink name=out", "cuda",
      overlay, device);
  run(decoder + " ! " + kOnHost + " ! contorno name=c ! fakesink name=out", "cpu", overlay, host);
  const auto is_empty = [](const Bytes& bytes) { return bytes.empty(); };
  const bool equal = !host.contours.empty() && device.contours == host.contours &&
                     device.pixels == host.pixels &&
                     std::none_of(host.contours.begin(), host.contours.end(), is_empty) &&
                     std::none_of(host.pixels.begin(), host.pixels.end(), is_empty);
  std::printf("nvh264dec ! contorno, %s: %zu frames, %llu bytes of contours, %s the CPU's\n",
              overlay ? "drawn" : "not drawn", device.contours.size(),
              static_cast<unsigned long long>(device.contour_bytes), equal ? "equal to" : "DIFFERENT from");
  return equal;
}

void print(const char* name, const Copies& copies, std::size_t frames) {
  std::printf("  %-10s %8llu copies %14llu bytes %12.0f bytes a frame\n", name,
              static_cast<unsigned long long>(copies.number), static_cast<unsigned long long>(copies.bytes),
              static_cast<double>(copies.bytes) / static_cast<double>(frames));
}

/// Of a run of frames that stay on the device, or that are brought to the host.
CopyReport trace(const std::string& text, const char* backend, Frames& frames) {
  frames.keeps_pixels = false;
  begin_copy_trace();
  run(text, backend, false, frames);
  const CopyReport report = end_copy_trace();
  if (frames.contours.empty()) fail("no frame came");
  std::printf("%s: %zu frames of %llu bytes, %llu bytes of contours\n", text.c_str(), frames.contours.size(),
              static_cast<unsigned long long>(frames.frame_bytes / frames.contours.size()),
              static_cast<unsigned long long>(frames.contour_bytes));
  print("to device", report.to_device, frames.contours.size());
  print("to host", report.to_host, frames.contours.size());
  print("on device", report.on_device, frames.contours.size());
  print("others", report.others, frames.contours.size());
  if (report.lost > 0) fail("records were lost");
  return report;
}

/// Counts and the like, of a frame.
constexpr std::uint64_t kBesideContours = 4096;

bool check_copies(const std::string& decoder) {
  Frames device, host;
  const CopyReport stays = trace(decoder + " ! contorno name=c ! fakesink name=out", "cuda", device);
  const bool good = stays.to_host.bytes <= device.contour_bytes + kBesideContours * device.contours.size();
  const CopyReport comes =
      trace(decoder + " ! " + kOnHost + " ! contorno name=c ! fakesink name=out", "cpu", host);
  const bool seen = comes.to_host.bytes >= host.frame_bytes;
  std::printf("no frame goes to the host: %s; a frame that goes there is seen: %s\n",
              good ? "passed" : "FAILED", seen ? "passed" : "FAILED");
  return good && seen;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: gst_decoder_gpu FILE\n");
    return 2;
  }
  gst_init(nullptr, nullptr);
  GstElementFactory* const factory = gst_element_factory_find("nvh264dec");
  if (factory == nullptr || !device_report().available) {
    std::printf("SKIPPED: %s\n",
                factory == nullptr ? "there is no element nvh264dec" : "no CUDA device answers");
    return 77;
  }
  gst_object_unref(factory);
  const std::string decoder = std::string("filesrc location=\"") + argv[1] + "\" ! h264parse ! nvh264dec";
  const bool traces = can_trace_copies();
  if (traces) begin_copy_trace();  // before there is a context
  bool good = true;
  for (const bool overlay : {false, true}) good = compare(decoder, overlay) && good;
  if (traces)
    good = check_copies(decoder) && good;
  else
    std::printf("copies: SKIPPED, this build has no CUPTI\n");
  return good ? 0 : 1;
}
