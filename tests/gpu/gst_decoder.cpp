// gst_decoder_gpu: the element `contorno` behind a decoder of the GPU.
//   gst_decoder_gpu compare FILE    (a stream of H.264, as a file without a container)
//       the contours and the pixels of every frame of `nvh264dec ! contorno`, where frames stay on the
//       device, must be those of the CPU on the same frames in memory of the host
//   gst_decoder_gpu copies FILE     records every copy that the process makes while frames stay on the
//   device;
//                                   no more than the contours may go to the host
//   gst_decoder_gpu seen FILE       records the same with the frames brought to the host on purpose, which
//                                   must be found
// One pipeline is recorded a process: with CUPTI's records on, kernels failed now and then in processes whose
// earlier pipelines had made and destroyed CUDA contexts (CUDA 13.0; never without the records).
// GST_PLUGIN_PATH says where the plugin is. Exits with 77 where nvh264dec, a device or CUPTI is missing.
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

/// Behind the element: an element that brings frames to the host makes other buffers, without the contours.
GstPadProbeReturn take_contours(GstPad*, GstPadProbeInfo* probe, gpointer data) {
  Frames& frames = *static_cast<Frames*>(data);
  frames.contours.push_back(contours_of(GST_PAD_PROBE_INFO_BUFFER(probe)));
  frames.contour_bytes += frames.contours.back().size();
  return GST_PAD_PROBE_OK;
}

/// At the end.
GstPadProbeReturn take_pixels(GstPad* pad, GstPadProbeInfo* probe, gpointer data) {
  Frames& frames = *static_cast<Frames*>(data);
  const GstVideoInfo info = info_of(pad);
  frames.frame_bytes += GST_VIDEO_INFO_SIZE(&info);
  if (frames.keeps_pixels) frames.pixels.push_back(pixels_of(GST_PAD_PROBE_INFO_BUFFER(probe), info));
  return GST_PAD_PROBE_OK;
}

void probe(GstElement* element, const char* name, GstPadProbeCallback take, Frames& frames) {
  GstPad* const pad = gst_element_get_static_pad(element, name);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, take, &frames, nullptr);
  gst_object_unref(pad);
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
  probe(element, "src", take_contours, frames);
  probe(out, "sink", take_pixels, frames);
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
  for (gpointer object : {gpointer{bus}, gpointer{out}, gpointer{element}, gpointer{pipeline}})
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

/// Runs `text`, and prints what was copied.
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

bool no_frame_goes_to_the_host(const std::string& decoder) {
  Frames frames;
  const CopyReport report = trace(decoder + " ! contorno name=c ! fakesink name=out", "cuda", frames);
  const bool good = report.to_host.bytes <= frames.contour_bytes + kBesideContours * frames.contours.size();
  std::printf("no frame goes to the host: %s\n", good ? "passed" : "FAILED");
  return good;
}

bool frames_on_the_host_are_seen(const std::string& decoder) {
  Frames frames;
  const CopyReport report =
      trace(decoder + " ! " + kOnHost + " ! contorno name=c ! fakesink name=out", "cpu", frames);
  const bool good = report.to_host.bytes >= frames.frame_bytes;
  std::printf("a frame that goes to the host is seen: %s\n", good ? "passed" : "FAILED");
  return good;
}

bool compare_both(const std::string& decoder) {
  const bool plain = compare(decoder, false);
  return compare(decoder, true) && plain;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc == 3 ? argv[1] : "";
  if (what != "compare" && what != "copies" && what != "seen") {
    std::fprintf(stderr, "usage: gst_decoder_gpu compare|copies|seen FILE\n");
    return 2;
  }
  gst_init(nullptr, nullptr);
  GstElementFactory* const factory = gst_element_factory_find("nvh264dec");
  const char* const missing = factory == nullptr                         ? "there is no element nvh264dec"
                              : !device_report().available               ? "no CUDA device answers"
                              : what != "compare" && !can_trace_copies() ? "this build has no CUPTI"
                                                                         : nullptr;
  if (factory != nullptr) gst_object_unref(factory);
  if (missing != nullptr) {
    std::printf("SKIPPED: %s\n", missing);
    return 77;
  }
  const std::string decoder = std::string("filesrc location=\"") + argv[2] + "\" ! h264parse ! nvh264dec";
  const bool good = what == "compare"  ? compare_both(decoder)
                    : what == "copies" ? no_frame_goes_to_the_host(decoder)
                                       : frames_on_the_host_are_seen(decoder);
  return good ? 0 : 1;
}
