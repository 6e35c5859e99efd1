// The element `contorno` pad by pad: the very buffers, events, queries and states that pass it, which
// pipelines from outside do not show. The pixels and contours themselves are compared in element_test.py.
#include "tests/plugins/gst/harness.h"

#include <array>
#include <chrono>
#include <future>

namespace contorno::test {
namespace {

constexpr std::array kFormats{"RGBA", "RGBx", "BGRA", "BGRx",  "RGB",
                              "BGR",  "NV12", "I420", "GRAY8", "GRAY16_LE"};
constexpr const char* kSmall = "video/x-raw,format=RGB,width=32,height=24,framerate=25/1";

void push(const Harnessed& harnessed, const std::string& caps, int time_ms) {
  CHECK(gst_harness_push(harnessed, picture(caps, time_ms)) == GST_FLOW_OK);
}

/// The lines between dark and light lie between the two columns of samples where they meet.
void check_contours(GstBuffer* buffer, int width, int height) {
  const ContornoMeta* const meta = contorno_buffer_get_meta(buffer);
  REQUIRE(meta != nullptr);
  CHECK(meta->width == width);
  CHECK(meta->height == height);
  REQUIRE(meta->n_classes == 2);
  CHECK(std::string(meta->class_names[1]) == "light");
  if (width < 2 || height < 2) return;
  CHECK(meta->n_contours == 2);
  for (guint contour = 0; contour < meta->n_contours; ++contour) {
    guint count = 0;
    const ContornoPoint* const points = contorno_meta_get_points(meta, contour, &count);
    CHECK(count >= 2);
    CHECK(contorno_meta_get_class(meta, contour) == contour);
    for (guint i = 0; i < count; ++i) {
      CHECK(points[i].col > static_cast<float>(width / 2 - 1));
      CHECK(points[i].col < static_cast<float>(width / 2));
    }
  }
}

/// Pushes one frame, and expects that very buffer with that very memory, with every byte as it was.
void check_untouched(const Harnessed& harnessed, const std::string& caps, int width, int height) {
  CAPTURE(caps);
  gst_harness_set_src_caps_str(harnessed, caps.c_str());
  GstBuffer* const given = picture(caps, 0);
  GstMemory* const memory = gst_buffer_peek_memory(given, 0);
  const std::vector<std::uint8_t> bytes = bytes_of(given);
  REQUIRE(gst_harness_push(harnessed, given) == GST_FLOW_OK);
  const Pulled got = pull(harnessed);
  CHECK(got.get() == given);
  CHECK(gst_buffer_n_memory(got.get()) == 1);
  CHECK(gst_buffer_peek_memory(got.get(), 0) == memory);
  CHECK(bytes_of(got.get()) == bytes);
  check_contours(got.get(), width, height);
}

TEST_CASE("without drawing, the very buffer goes on untouched with its contours, in every format") {
  const Harnessed harnessed;
  for (const char* format : kFormats) check_untouched(harnessed, caps_of(format, 32, 24), 32, 24);
  CHECK(harnessed.counted("out") == kFormats.size());
  CHECK(harnessed.counted("failed") == 0);
}

TEST_CASE("odd sizes down to one pixel are taken in every format") {
  const Harnessed harnessed;
  constexpr std::array<std::array<int, 2>, 6> kSizes{{{1, 1}, {2, 2}, {1, 7}, {7, 1}, {17, 9}, {63, 47}}};
  for (const char* format : kFormats)
    for (const auto& [width, height] : kSizes)
      check_untouched(harnessed, caps_of(format, width, height), width, height);
  CHECK(harnessed.counted("out") == kFormats.size() * kSizes.size());
}

TEST_CASE("what is drawn on a buffer that others hold too leaves theirs as it was") {
  const Harnessed harnessed;
  g_object_set(harnessed.element(), "overlay", TRUE, nullptr);
  gst_harness_set_src_caps_str(harnessed, kSmall);
  const Pulled given(picture(kSmall, 0));
  const std::vector<std::uint8_t> bytes = bytes_of(given.get());
  REQUIRE(gst_harness_push(harnessed, gst_buffer_ref(given.get())) == GST_FLOW_OK);
  const Pulled drawn = pull(harnessed);
  CHECK(bytes_of(drawn.get()) != bytes);
  CHECK(bytes_of(given.get()) == bytes);
  CHECK(contorno_buffer_get_meta(given.get()) == nullptr);
}

TEST_CASE("caps that change in mid-stream stand between the frames of either") {
  Harnessed harnessed;
  const std::string other = caps_of("GRAY8", 17, 9);
  gst_harness_set_src_caps_str(harnessed, kSmall);
  for (const int time : {0, 40}) push(harnessed, kSmall, time);
  GstCaps* const caps = gst_caps_from_string(other.c_str());
  harnessed.send(gst_event_new_caps(caps));
  gst_caps_unref(caps);
  for (const int time : {80, 120}) push(harnessed, other, time);
  for (int i = 0; i < 4; ++i) check_contours(pull(harnessed).get(), i < 2 ? 32 : 17, i < 2 ? 24 : 9);
  CHECK(harnessed.words() == "stream-start caps segment 0 40 caps 80 120");
}

TEST_CASE("segments, gaps and events of others keep their place among the frames") {
  Harnessed harnessed;
  gst_harness_set_src_caps_str(harnessed, kSmall);
  push(harnessed, kSmall, 0);
  harnessed.send(gst_event_new_gap(40 * GST_MSECOND, 40 * GST_MSECOND));
  push(harnessed, kSmall, 80);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = segment.time = 100 * GST_MSECOND;
  harnessed.send(gst_event_new_segment(&segment));
  push(harnessed, kSmall, 120);
  harnessed.send(gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("mark")));
  push(harnessed, kSmall, 160);
  for (int i = 0; i < 4; ++i) pull(harnessed);
  CHECK(harnessed.words() == "stream-start caps segment 0 gap 80 segment 120 custom-downstream 160");
}

TEST_CASE("the end of the stream waits for the frames inside and comes after the last") {
  Harnessed harnessed;
  gst_harness_set_src_caps_str(harnessed, kSmall);
  Dam dam(harnessed);
  for (const int time : {0, 40, 80}) push(harnessed, kSmall, time);
  dam.wait_for_first();
  std::future<gboolean> sent =
      std::async(std::launch::async, [&] { return gst_harness_push_event(harnessed, gst_event_new_eos()); });
  CHECK(sent.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
  CHECK(harnessed.words() == "stream-start caps segment");
  dam.release();
  CHECK(sent.get() != 0);
  CHECK(harnessed.words() == "stream-start caps segment 0 40 80 eos");
  CHECK(gst_harness_push(harnessed, picture(kSmall, 120)) == GST_FLOW_EOS);
}

TEST_CASE("a flush throws away the frames inside, and the stream goes on behind it") {
  Harnessed harnessed;
  gst_harness_set_src_caps_str(harnessed, kSmall);
  {
    Dam dam(harnessed);
    for (const int time : {0, 40, 80}) push(harnessed, kSmall, time);
    dam.wait_for_first();
    harnessed.send(gst_event_new_flush_start());
    CHECK(gst_harness_push(harnessed, picture(kSmall, 120)) == GST_FLOW_FLUSHING);
  }
  harnessed.send(gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  harnessed.send(gst_event_new_segment(&segment));
  for (const int time : {400, 440}) push(harnessed, kSmall, time);
  for (int i = 0; i < 2; ++i) check_contours(pull(harnessed).get(), 32, 24);
  CHECK(harnessed.words() == "stream-start caps segment flush-start flush-stop segment 400 440");
  CHECK(harnessed.counted("in") == 5);
  CHECK(harnessed.counted("out") == 3);  // the first was on its way already
  CHECK(harnessed.counted("dropped") == 2);
}

TEST_CASE("a latency query is answered with that of upstream and a frame's time for each slot but one") {
  for (const guint slots : {1U, 4U}) {
    const Harnessed harnessed(slots);
    gst_harness_set_upstream_latency(harnessed, 20 * GST_MSECOND);
    CHECK(gst_harness_query_latency(harnessed) == 20 * GST_MSECOND);
    gst_harness_set_src_caps_str(harnessed, kSmall);
    CHECK(gst_harness_query_latency(harnessed) == (20 + (slots - 1) * 40) * GST_MSECOND);
    gst_harness_set_src_caps_str(harnessed, caps_of("RGB", 32, 24, "0/1").c_str());
    CHECK(gst_harness_query_latency(harnessed) == 20 * GST_MSECOND);
  }
}

gboolean answer_with_limit(GstPad* pad, GstObject* parent, GstQuery* query) {
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY) return gst_pad_query_default(pad, parent, query);
  gst_query_set_latency(query, TRUE, 20 * GST_MSECOND, 300 * GST_MSECOND);
  return TRUE;
}

TEST_CASE("the longest latency that is allowed has the frames in the slots too") {
  const Harnessed harnessed(4);
  gst_pad_set_query_function(harnessed->srcpad, answer_with_limit);
  gst_harness_set_src_caps_str(harnessed, kSmall);
  GstQuery* const query = gst_query_new_latency();
  REQUIRE(gst_pad_peer_query(harnessed->sinkpad, query) != 0);
  gboolean live = FALSE;
  GstClockTime least = 0, most = 0;
  gst_query_parse_latency(query, &live, &least, &most);
  gst_query_unref(query);
  CHECK(live != 0);
  CHECK(least == (20 + 3 * 40) * GST_MSECOND);
  CHECK(most == (300 + 3 * 40) * GST_MSECOND);
}

/// The answer of the element to an allocation query from upstream, with a pool asked for.
GstQuery* allocation(const Harnessed& harnessed) {
  GstCaps* const caps = gst_caps_from_string(kSmall);
  GstQuery* const query = gst_query_new_allocation(caps, TRUE);
  gst_caps_unref(caps);
  CHECK(gst_pad_peer_query(harnessed->srcpad, query) != 0);
  return query;
}

GstPadProbeReturn offer_pool(GstPad*, GstPadProbeInfo* info, gpointer pool) {
  GstQuery* const query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION && (info->type & GST_PAD_PROBE_TYPE_PUSH) != 0)
    gst_query_add_allocation_pool(query, static_cast<GstBufferPool*>(pool), 32 * 24 * 3, 2, 0);
  return GST_PAD_PROBE_OK;
}

TEST_CASE(
    "upstream is offered the pool and the metas of downstream, and frames of that pool pass untouched") {
  const Harnessed harnessed;
  gst_harness_add_propose_allocation_meta(harnessed, GST_VIDEO_META_API_TYPE, nullptr);
  gst_harness_set_src_caps_str(harnessed, kSmall);
  GstBufferPool* const pool = gst_video_buffer_pool_new();
  gst_pad_add_probe(harnessed->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_pool, pool, nullptr);
  GstQuery* const query = allocation(harnessed);
  CHECK(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) != 0);
  REQUIRE(gst_query_get_n_allocation_pools(query) == 1);
  GstBufferPool* offered = nullptr;
  guint size = 0, least = 0;
  gst_query_parse_nth_allocation_pool(query, 0, &offered, &size, &least, nullptr);
  CHECK(offered == pool);
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstStructure* const config = gst_buffer_pool_get_config(offered);
  gst_buffer_pool_config_set_params(config, caps, size, least, 0);
  REQUIRE(gst_buffer_pool_set_config(offered, config) != 0);
  REQUIRE(gst_buffer_pool_set_active(offered, TRUE) != 0);
  GstBuffer* buffer = nullptr;
  REQUIRE(gst_buffer_pool_acquire_buffer(offered, &buffer, nullptr) == GST_FLOW_OK);
  const Pulled filled(picture(kSmall, 0));
  const std::vector<std::uint8_t> bytes = bytes_of(filled.get());
  gst_buffer_fill(buffer, 0, bytes.data(), bytes.size());
  REQUIRE(gst_harness_push(harnessed, buffer) == GST_FLOW_OK);
  Pulled got = pull(harnessed);
  CHECK(got.get() == buffer);
  CHECK(bytes_of(got.get()) == bytes);
  check_contours(got.get(), 32, 24);
  got.reset();
  // It is back in the pool, which lends it again without the contours.
  REQUIRE(gst_buffer_pool_acquire_buffer(offered, &buffer, nullptr) == GST_FLOW_OK);
  CHECK(contorno_buffer_get_meta(buffer) == nullptr);
  gst_buffer_unref(buffer);
  gst_buffer_pool_set_active(offered, FALSE);
  gst_query_unref(query);
  gst_object_unref(offered);
  gst_object_unref(pool);
}

TEST_CASE("where downstream offers nothing, upstream is offered memory aligned to 64 bytes") {
  const Harnessed harnessed(4, false);
  gst_harness_set_src_caps_str(harnessed, kSmall);
  GstQuery* const query = allocation(harnessed);
  REQUIRE(gst_query_get_n_allocation_params(query) == 1);
  GstAllocator* allocator = nullptr;
  GstAllocationParams params;
  gst_query_parse_nth_allocation_param(query, 0, &allocator, &params);
  CHECK(allocator == nullptr);
  CHECK(params.align == 63);
  gst_query_unref(query);
}

TEST_CASE("buffers without times go on without times, in order and with their contours") {
  Harnessed harnessed;
  gst_harness_set_src_caps_str(harnessed, kSmall);
  for (int i = 0; i < 6; ++i) push(harnessed, kSmall, -1);
  for (guint64 i = 0; i < 6; ++i) {
    const Pulled got = pull(harnessed);
    CHECK(!GST_BUFFER_PTS_IS_VALID(got.get()));
    CHECK(!GST_BUFFER_DURATION_IS_VALID(got.get()));
    check_contours(got.get(), 32, 24);
    CHECK(contorno_buffer_get_meta(got.get())->frame == i);
  }
  CHECK(harnessed.words() == "stream-start caps segment ? ? ? ? ? ?");
}

void set_state(const Harnessed& harnessed, GstState state) {
  REQUIRE(gst_element_set_state(harnessed.element(), state) != GST_STATE_CHANGE_FAILURE);
  REQUIRE(gst_element_get_state(harnessed.element(), nullptr, nullptr, 30 * GST_SECOND) ==
          GST_STATE_CHANGE_SUCCESS);
}

TEST_CASE("a pause loses no frame; READY drops those inside, and what plays again begins anew") {
  Harnessed harnessed;
  gst_harness_set_src_caps_str(harnessed, kSmall);
  push(harnessed, kSmall, 0);
  set_state(harnessed, GST_STATE_PAUSED);
  push(harnessed, kSmall, 40);
  set_state(harnessed, GST_STATE_PLAYING);
  for (int i = 0; i < 2; ++i) check_contours(pull(harnessed).get(), 32, 24);
  {
    Dam dam(harnessed);
    for (const int time : {80, 120, 160}) push(harnessed, kSmall, time);
    dam.wait_for_first();
    set_state(harnessed, GST_STATE_READY);
  }
  CHECK(gst_harness_push(harnessed, picture(kSmall, 200)) == GST_FLOW_FLUSHING);
  CHECK(harnessed.counted("in") == 5);
  CHECK(harnessed.counted("dropped") == 2);
  set_state(harnessed, GST_STATE_PLAYING);
  harnessed.send(gst_event_new_stream_start("again"));
  gst_harness_set_src_caps_str(harnessed, kSmall);
  push(harnessed, kSmall, 240);
  const Pulled got = pull(harnessed);
  CHECK(GST_BUFFER_PTS(got.get()) == 240 * GST_MSECOND);
  CHECK(contorno_buffer_get_meta(got.get())->frame == 0);
  CHECK(harnessed.counted("in") == 1);
}

}  // namespace
}  // namespace contorno::test
