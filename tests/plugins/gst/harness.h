// The element `contorno` between two pads of a test (GstHarness), and pictures for it whose contours are
// known.
#pragma once

#include <doctest/doctest.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "plugins/gst/element/contornometa.h"

namespace contorno::test {

constexpr const char* kDarkAndLight =
    "classes: [{name: dark, references: ['#181818']}, {name: light, references: ['#e0e0e0']}]\n"
    "stages: [classify, marching_squares, contour_assembly, overlay]\n";

inline std::string caps_of(const char* format, int width, int height, const char* rate = "25/1") {
  return "video/x-raw,format=" + std::string(format) + ",width=" + std::to_string(width) +
         ",height=" + std::to_string(height) + ",framerate=" + rate;
}

/// An element that plays. What leaves it is kept in order as words: events by the names of their types, and
/// buffers by their time in ms.
class Harnessed {
 public:
  explicit Harnessed(guint slots = 4, bool has_end = true) {
    GstElement* const element = gst_element_factory_make("contorno", nullptr);
    REQUIRE(element != nullptr);
    gst_object_ref_sink(element);
    gst_util_set_object_arg(G_OBJECT(element), "backend", "cpu");
    g_object_set(element, "config", kDarkAndLight, "slots", slots, "overlay", FALSE, nullptr);
    harness_ = gst_harness_new_with_element(element, "sink", has_end ? "src" : nullptr);
    gst_object_unref(element);
    if (!has_end) return;
    constexpr auto kAll =
        GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH;
    gst_pad_add_probe(harness_->sinkpad, static_cast<GstPadProbeType>(kAll), note, this, nullptr);
  }
  ~Harnessed() { gst_harness_teardown(harness_); }
  Harnessed(const Harnessed&) = delete;
  Harnessed& operator=(const Harnessed&) = delete;

  // As the functions of GstHarness take it.
  operator GstHarness*() const { return harness_; }
  GstHarness* operator->() const { return harness_; }
  GstElement* element() const { return harness_->element; }
  void send(GstEvent* event) const { CHECK(gst_harness_push_event(harness_, event) != 0); }
  std::string words() {
    const std::lock_guard lock(mutex_);
    return words_;
  }

  guint64 counted(const char* name) const {
    GstStructure* stats = nullptr;
    g_object_get(element(), "stats", &stats, nullptr);
    guint64 value = 0;
    CHECK(gst_structure_get_uint64(stats, name, &value) != 0);
    gst_structure_free(stats);
    return value;
  }

 private:
  static GstPadProbeReturn note(GstPad*, GstPadProbeInfo* info, gpointer self) {
    auto& harnessed = *static_cast<Harnessed*>(self);
    std::string word;
    if ((info->type & GST_PAD_PROBE_TYPE_BUFFER) != 0) {
      const GstClockTime time = GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info));
      word = GST_CLOCK_TIME_IS_VALID(time) ? std::to_string(time / GST_MSECOND) : "?";
    } else {
      word = GST_EVENT_TYPE_NAME(GST_PAD_PROBE_INFO_EVENT(info));
    }
    const std::lock_guard lock(harnessed.mutex_);
    harnessed.words_ += (harnessed.words_.empty() ? "" : " ") + word;
    return GST_PAD_PROBE_OK;
  }

  GstHarness* harness_;
  std::mutex mutex_;  // of words_
  std::string words_;
};

/// Lets no buffer out of the element until it is released, as a sink that is paused.
class Dam {
 public:
  explicit Dam(const Harnessed& harnessed) : pad_(gst_element_get_static_pad(harnessed.element(), "src")) {
    constexpr auto kBuffers = GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER;
    id_ = gst_pad_add_probe(pad_, static_cast<GstPadProbeType>(kBuffers), hold, this, nullptr);
  }
  ~Dam() {
    release();
    gst_object_unref(pad_);
  }
  Dam(const Dam&) = delete;
  Dam& operator=(const Dam&) = delete;

  void wait_for_first() {
    REQUIRE(held_.get_future().wait_for(std::chrono::seconds(30)) == std::future_status::ready);
  }
  void release() {
    if (id_ != 0) gst_pad_remove_probe(pad_, std::exchange(id_, 0));
  }

 private:
  static GstPadProbeReturn hold(GstPad*, GstPadProbeInfo*, gpointer self) {
    auto& dam = *static_cast<Dam*>(self);
    if (!std::exchange(dam.holds_, true)) dam.held_.set_value();
    return GST_PAD_PROBE_OK;
  }

  GstPad* pad_;
  gulong id_ = 0;
  bool holds_ = false;
  std::promise<void> held_;
};

/// Dark on the left, light on the right of column width / 2; chroma is grey. Its time is in ms, -1: none.
inline GstBuffer* picture(const std::string& caps, int time_ms) {
  GstCaps* const parsed = gst_caps_from_string(caps.c_str());
  GstVideoInfo info;
  REQUIRE(gst_video_info_from_caps(&info, parsed) != 0);
  gst_caps_unref(parsed);
  GstBuffer* const buffer = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr);
  gst_buffer_memset(buffer, 0, 0x5A, GST_VIDEO_INFO_SIZE(&info));
  GstVideoFrame frame;
  REQUIRE(gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE) != 0);
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS(&frame); ++c)
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c); ++y)
      for (int x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&frame, c); ++x) {
        auto* const row = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_COMP_DATA(&frame, c)) +
                          y * GST_VIDEO_FRAME_COMP_STRIDE(&frame, c);
        std::uint8_t* const sample = row + x * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c);
        std::uint8_t value = x < GST_VIDEO_INFO_WIDTH(&info) / 2 ? 30 : 220;
        if (c == GST_VIDEO_COMP_A && GST_VIDEO_INFO_HAS_ALPHA(&info)) value = 255;
        if (c > 0 && GST_VIDEO_INFO_IS_YUV(&info)) value = 128;
        sample[0] = value;
        if (GST_VIDEO_FRAME_COMP_DEPTH(&frame, c) == 16) sample[1] = value;
      }
  gst_video_frame_unmap(&frame);
  GST_BUFFER_PTS(buffer) =
      time_ms < 0 ? GST_CLOCK_TIME_NONE : static_cast<GstClockTime>(time_ms) * GST_MSECOND;
  return buffer;
}

inline std::vector<std::uint8_t> bytes_of(GstBuffer* buffer) {
  std::vector<std::uint8_t> bytes(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

struct Unref {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
};
using Pulled = std::unique_ptr<GstBuffer, Unref>;

inline Pulled pull(const Harnessed& harnessed) {
  Pulled buffer(gst_harness_pull(harnessed));
  REQUIRE(buffer != nullptr);
  return buffer;
}

}  // namespace contorno::test
