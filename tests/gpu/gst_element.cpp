// gst_element_gpu: the element `contorno` against the library that it stands on.
//   gst_element_gpu check [BACKEND [HEIGHT]]
// compares pixels and contours of every format, of several sizes and numbers of slots with those of the CPU
// and one slot, and the contours with those of the bare library. HEIGHT is that of the largest frames.
//   gst_element_gpu bench [BACKEND]
// prints the time of a frame of 1920 x 1080 in the bare library, in one thread and by its runner with several
// slots, and in the element with as many. Frames come to the graph and pictures back by the same copies.
// GST_PLUGIN_PATH says where the plugin is. Exits with 77 where no device answers.
#include <gst/gst.h>
#include <gst/video/video.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/memory.h"
#include "cuda/device.h"
#include "cuda/pointer.h"
#include "tests/gpu/gst_frames.h"
#include "tests/gpu/gst_library.h"

namespace {

using namespace contorno;
using namespace contorno::test;

/// Red discs that move on a rough ground, RGBA.
Bytes picture(int width, int height, int index) {
  Bytes pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4);
  std::uint32_t noise = 1;
  std::size_t at = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x, at += 4) {
      noise = noise * 1664525U + 1013904223U;
      bool red = false;
      for (int disc = 0; disc < 6; ++disc) {
        const int dx = x - (width * (1 + 2 * disc) / 12 + 3 * index % 40),
                  dy = y - height * (1 + disc % 3) / 4;
        red = red || 64 * (dx * dx + dy * dy) < height * height;
      }
      pixels[at] = static_cast<std::uint8_t>(red ? 224 : 40 + (noise >> 27));
      pixels[at + 1] = static_cast<std::uint8_t>(red ? 32 : 70 + (noise >> 27));
      pixels[at + 2] = static_cast<std::uint8_t>(red ? 32 : 44 + (noise >> 28));
      pixels[at + 3] = 255;
    }
  return pixels;
}

GstVideoInfo info_of(const char* format, int width, int height) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(format), static_cast<guint>(width),
                            static_cast<guint>(height));
  info.fps_n = 60, info.fps_d = 1;
  return info;
}

/// A frame in another format, by GStreamer's converter.
Bytes converted(const Bytes& rgba, GstVideoInfo info) {
  GstVideoInfo from = info_of("RGBA", info.width, info.height);
  std::unique_ptr<GstVideoConverter, void (*)(GstVideoConverter*)> converter(
      gst_video_converter_new(&from, &info, nullptr), gst_video_converter_free);
  Bytes result(GST_VIDEO_INFO_SIZE(&info));
  GstVideoFrame source{}, target{};
  source.info = from, target.info = info;
  source.data[0] = const_cast<std::uint8_t*>(rgba.data());
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane)
    target.data[plane] = result.data() + info.offset[plane];
  gst_video_converter_frame(converter.get(), &source, &target);
  return result;
}

GstBuffer* buffer_of(const Bytes& bytes) {
  return gst_buffer_new_memdup(bytes.data(), bytes.size());
}

/// What is between the pads of this program, as for gst-launch; one element has the name c.
struct Chain {
  std::string text = "contorno name=c";
  std::string backend = "cpu";
  int slots = 1;
  bool overlay = true;
  bool frames_on_device = false;  ///< that are pushed
};
constexpr const char* kOnDevice =
    "cudaupload ! video/x-raw(memory:CUDAMemory) ! contorno name=c ! video/x-raw(memory:CUDAMemory) ! "
    "cudadownload";

/// A chain between two pads of this program. What comes out is kept, if it is to be, and the contours as
/// well.
class Harness {
 public:
  Harness(const GstVideoInfo& info, const Chain& chain)
      : source_(gst_pad_new("source", GST_PAD_SRC)), sink_(gst_pad_new("sink", GST_PAD_SINK)) {
    GError* error = nullptr;
    bin_ = gst_parse_bin_from_description(chain.text.c_str(), TRUE, &error);
    if (bin_ == nullptr) {
      std::fprintf(stderr, "FAILED: %s (GST_PLUGIN_PATH?)\n", error->message);
      std::exit(1);
    }
    gst_object_ref_sink(bin_);
    bus_ = gst_bus_new();
    gst_element_set_bus(bin_, bus_);
    if (GstElement* const element = gst_bin_get_by_name(GST_BIN(bin_), "c")) set_up(element, chain);
    gst_pad_set_element_private(sink_, this);
    gst_pad_set_chain_function(sink_, [](GstPad* pad, GstObject*, GstBuffer* buffer) {
      static_cast<Harness*>(gst_pad_get_element_private(pad))->take(buffer);
      return GST_FLOW_OK;
    });
    for (const auto& [pad, name] : {std::pair{source_, "sink"}, std::pair{sink_, "src"}}) {
      gst_pad_set_active(pad, TRUE);
      GstPad* const other = gst_element_get_static_pad(bin_, name);
      if (GST_PAD_IS_SRC(pad))
        gst_pad_link(pad, other);
      else
        gst_pad_link(other, pad);
      gst_object_unref(other);
    }
    gst_element_set_state(bin_, GST_STATE_PLAYING);
    begin(info, chain.frames_on_device);
  }
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;
  ~Harness() {
    gst_element_set_state(bin_, GST_STATE_NULL);
    for (GstBuffer* buffer : taken_) gst_buffer_unref(buffer);
    gst_object_unref(bin_);
    gst_object_unref(source_);
    gst_object_unref(sink_);
    gst_object_unref(bus_);
  }

  /// Takes the reference.
  void push(GstBuffer* buffer) {
    GST_BUFFER_PTS(buffer) = gst_util_uint64_scale(pushed_++, GST_SECOND, 60);
    if (const GstFlowReturn flow = gst_pad_push(source_, buffer); flow != GST_FLOW_OK)
      fail(gst_flow_get_name(flow));
  }
  /// All that was pushed has come out.
  void drain() { gst_pad_push_event(source_, gst_event_new_gap(0, 1)); }
  void keep(bool keep) { keeps_ = keep; }
  bool ask(GstQuery* query) { return gst_pad_peer_query(source_, query) != 0; }
  const std::vector<GstBuffer*>& taken() const { return taken_; }
  /// Of each frame, as bytes that can be compared.
  const std::vector<Bytes>& contours() const { return contours_; }
  std::size_t count() const { return count_; }

 private:
  void set_up(GstElement* element, const Chain& chain) {
    gst_util_set_object_arg(G_OBJECT(element), "backend", chain.backend.c_str());
    g_object_set(element, "config", kGraph, "slots", chain.slots, "overlay", chain.overlay, nullptr);
    GstPad* const pad = gst_element_get_static_pad(element, "src");
    gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_BUFFER,
        [](GstPad*, GstPadProbeInfo* probe, gpointer data) {
          auto& self = *static_cast<Harness*>(data);
          if (self.keeps_) self.contours_.push_back(contours_of(GST_PAD_PROBE_INFO_BUFFER(probe)));
          return GST_PAD_PROBE_OK;
        },
        this, nullptr);
    gst_object_unref(pad);
    gst_object_unref(element);
  }
  void begin(const GstVideoInfo& info, bool on_device) {
    GstCaps* const caps = gst_video_info_to_caps(const_cast<GstVideoInfo*>(&info));
    if (on_device) gst_caps_set_features(caps, 0, gst_caps_features_new("memory:CUDAMemory", nullptr));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_pad_push_event(source_, gst_event_new_stream_start("bench"));
    gst_pad_push_event(source_, gst_event_new_caps(caps));
    gst_pad_push_event(source_, gst_event_new_segment(&segment));
    gst_caps_unref(caps);
  }
  void take(GstBuffer* buffer) {
    ++count_;
    if (keeps_)
      taken_.push_back(buffer);
    else
      gst_buffer_unref(buffer);
  }
  [[noreturn]] void fail(const char* why) {
    std::fprintf(stderr, "FAILED: %s\n", why);
    if (GstMessage* message = gst_bus_pop_filtered(bus_, GST_MESSAGE_ERROR)) {
      GError* error = nullptr;
      gst_message_parse_error(message, &error, nullptr);
      std::fprintf(stderr, "%s\n", error->message);
    }
    std::exit(1);
  }

  GstElement* bin_ = nullptr;
  GstPad *source_, *sink_;
  GstBus* bus_ = nullptr;
  std::uint64_t pushed_ = 0;
  bool keeps_ = true;
  std::vector<GstBuffer*> taken_;
  std::vector<Bytes> contours_;
  std::size_t count_ = 0;
};

int compare(const char* format, int width, int height, const Chain& chain) {
  constexpr int kFrames = 12;
  const GstVideoInfo info = info_of(format, width, height);
  Harness one(info, {.overlay = chain.overlay}), other(info, chain);
  Bare bare(width, height, chain.backend == "cuda" ? Backend::Cuda : Backend::Cpu, chain.overlay);
  int wrong = 0;
  std::size_t contours = 0;
  for (int index = 0; index < kFrames; ++index) {
    const Bytes frame = converted(picture(width, height, index), info);
    one.push(buffer_of(frame));
    other.push(buffer_of(frame));
  }
  one.drain();
  other.drain();
  if (one.taken().size() != kFrames || other.taken().size() != kFrames) return 1;
  if (one.contours() != other.contours()) ++wrong;
  for (std::size_t index = 0; index < kFrames; ++index) {
    GstBuffer *first = one.taken()[index], *second = other.taken()[index];
    const Bytes& found = other.contours()[index];
    contours += found.size();
    if (pixels_of(first, info) != pixels_of(second, info) || found.empty()) ++wrong;
    if (GST_BUFFER_PTS(first) != GST_BUFFER_PTS(second)) ++wrong;
    if (std::strcmp(format, "RGBA") != 0) continue;
    const ContoursView& view = bare.run(picture(width, height, static_cast<int>(index)).data());
    const std::size_t bytes = view.points_before(2) * sizeof(ContornoPoint);
    if (bytes > found.size() || std::memcmp(view.points, found.data() + found.size() - bytes, bytes) != 0)
      ++wrong;
  }
  std::printf("%-10s %4d x %4d, %d slots, %s%s: %s, %zu bytes of contours\n", format, width, height,
              chain.slots, chain.overlay ? "drawn" : "not drawn",
              chain.text == kOnDevice ? ", frames on the device" : "", wrong == 0 ? "equal" : "DIFFERENT",
              contours);
  return wrong;
}

/// What the element offers to whoever is before it.
bool offers_its_memory(const std::string& backend) {
  const GstVideoInfo info = info_of("RGBA", 64, 48);
  Harness harness(info, {.backend = backend});
  GstCaps* const caps = gst_video_info_to_caps(const_cast<GstVideoInfo*>(&info));
  GstQuery* const query = gst_query_new_allocation(caps, TRUE);
  bool good = harness.ask(query);
  if (backend == "cuda") {
    GstBufferPool* pool = nullptr;
    if (gst_query_get_n_allocation_pools(query) > 0)
      gst_query_parse_nth_allocation_pool(query, 0, &pool, nullptr, nullptr, nullptr);
    GstBuffer* buffer = nullptr;
    good = good && pool != nullptr && gst_buffer_pool_set_active(pool, TRUE) &&
           gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr) == GST_FLOW_OK;
    GstMapInfo memory;
    if (good && gst_buffer_map(buffer, &memory, GST_MAP_WRITE)) {
      good = pointer_info(memory.data).kind == PointerKind::Host && memory.size == GST_VIDEO_INFO_SIZE(&info);
      gst_buffer_unmap(buffer, &memory);
    }
    if (buffer != nullptr) gst_buffer_unref(buffer);
    if (pool != nullptr) gst_buffer_pool_set_active(pool, FALSE), gst_object_unref(pool);
  } else {
    GstAllocationParams params;
    good = good && gst_query_get_n_allocation_params(query) > 0;
    if (good) gst_query_parse_nth_allocation_param(query, 0, nullptr, &params);
    good = good && params.align == 63;
  }
  gst_query_unref(query);
  gst_caps_unref(caps);
  std::printf("memory that is offered upstream: %s\n", good ? "as it should be" : "WRONG");
  return good;
}

bool has_device_frames() {
  GstElementFactory* const factory = gst_element_factory_find("cudaupload");
  if (factory == nullptr) return false;
  gst_object_unref(factory);
  return true;
}

int check(const std::string& backend, int largest) {
  int wrong = offers_its_memory(backend) ? 0 : 1, cases = 1;
  const auto add = [&](const char* format, int width, int height, const Chain& chain) {
    wrong += compare(format, width, height, chain) != 0 ? 1 : 0;
    ++cases;
  };
  for (const char* format :
       {"RGBA", "RGBx", "BGRA", "BGRx", "RGB", "BGR", "NV12", "I420", "GRAY8", "GRAY16_LE"})
    for (const auto& [width, height] : {std::pair{320, 240}, std::pair{33, 21}, std::pair{1, 1}})
      add(format, width, height, {.backend = backend, .slots = 4});
  for (const int slots : {1, 2, 7})
    for (const bool overlay : {false, true})
      add("RGBA", largest * 16 / 9, largest, {.backend = backend, .slots = slots, .overlay = overlay});
  if (backend == "cuda" && has_device_frames())
    for (const int slots : {1, 4})
      for (const bool overlay : {false, true})
        for (const int height : {largest, 22})
          for (const char* format : {"RGBA", "NV12"})
            add(format, height * 16 / 9, height,
                {.text = kOnDevice, .backend = backend, .slots = slots, .overlay = overlay});
  else
    std::printf("frames on the device: SKIPPED, there is no element cudaupload\n");
  std::printf("%d cases, %d wrong\n", cases, wrong);
  return wrong == 0 ? 0 : 1;
}

template <class Work>
double us_a_frame(int frames, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / frames;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// A frame in as many buffers as do not stay in a cache.
class Buffers {
 public:
  static constexpr int kNumber = 48;
  Buffers(Bytes frame, MemoryKind kind) : frame_(std::move(frame)) {
    for (int i = 0; i < kNumber; ++i) blocks_.emplace_back(frame_.size(), kind);
    restore();
  }
  /// All have the frame again, without what was drawn.
  void restore() const {
    for (const Block& block : blocks_) std::memcpy(block.data(), frame_.data(), frame_.size());
  }
  std::uint8_t* bytes(std::uint64_t number) const {
    return reinterpret_cast<std::uint8_t*>(blocks_[number % kNumber].data());
  }
  /// It borrows the bytes, and may write to them.
  GstBuffer* buffer(std::uint64_t number) const {
    return gst_buffer_new_wrapped_full(GstMemoryFlags{}, bytes(number), frame_.size(), 0, frame_.size(),
                                       nullptr, nullptr);
  }

 private:
  Bytes frame_;
  std::vector<Block> blocks_;
};

/// What is timed: plays every buffer once.
struct Case {
  std::string name;
  std::function<void()> play;
  std::vector<double> times;  ///< us a frame
};

void print(const std::vector<Case>& cases) {
  std::printf("  %s %.1f us a frame\n", cases[0].name.c_str(), median(cases[0].times));
  for (std::size_t i = 1; i + 1 < cases.size(); i += 2) {
    const double library = median(cases[i].times), element = median(cases[i + 1].times);
    std::printf("  %s %.1f us, element %.1f us (%+.1f), %.0f frames a second\n", cases[i].name.c_str(),
                library, element, element - library, 1e6 / element);
  }
}

/// In turns, so that a busy machine slows all.
void bench(const std::string& backend, bool overlay, MemoryKind kind) {
  constexpr int kWidth = 1920, kHeight = 1080, kTurns = 9;
  const GstVideoInfo info = info_of("RGBA", kWidth, kHeight);
  const Buffers buffers(picture(kWidth, kHeight, 0), kind);
  const Backend on = backend == "cuda" ? Backend::Cuda : Backend::Cpu;
  Bare bare(kWidth, kHeight, on, overlay);
  std::vector<Case> cases{{"library in one thread", [&] {
                             for (int i = 0; i < Buffers::kNumber; ++i) bare.run(buffers.bytes(i));
                           }}};
  std::vector<std::unique_ptr<Running>> runs;
  std::vector<std::unique_ptr<Harness>> elements;
  for (const int slots : {1, 2, 4, 8}) {
    const Chain chain{.backend = backend, .slots = slots, .overlay = overlay};
    runs.push_back(std::make_unique<Running>(kWidth, kHeight, on, overlay, slots,
                                             [&](std::uint64_t number) { return buffers.bytes(number); }));
    cases.push_back({std::to_string(slots) + " slots: library",
                     [run = runs.back().get()] { run->play(Buffers::kNumber); }});
    elements.push_back(std::make_unique<Harness>(info, chain));
    elements.back()->keep(false);
    cases.push_back({"element", [&, element = elements.back().get()] {
                       for (int i = 0; i < Buffers::kNumber; ++i) element->push(buffers.buffer(i));
                       element->drain();
                     }});
  }
  for (int turn = 0; turn <= kTurns; ++turn)
    for (Case& one : cases) {
      if (overlay) buffers.restore();
      const double took = us_a_frame(Buffers::kNumber, one.play);
      if (turn > 0) one.times.push_back(took);
    }
  std::printf("%s, %s, %s buffers\n", backend.c_str(), overlay ? "drawn" : "not drawn",
              kind == MemoryKind::Pinned ? "page-locked" : "ordinary");
  print(cases);
}

/// Frames that lie on the device, shared by all buffers, so nothing is drawn.
void bench_on_device() {
  constexpr int kWidth = 1920, kHeight = 1080, kFrames = 200, kTurns = 5;
  const GstVideoInfo info = info_of("RGBA", kWidth, kHeight);
  Harness upload(info, {.text = "cudaupload ! capsfilter caps=video/x-raw(memory:CUDAMemory)"});
  upload.push(buffer_of(picture(kWidth, kHeight, 0)));
  upload.drain();
  for (const int slots : {1, 4}) {
    Harness element(info, {.backend = "cuda", .slots = slots, .overlay = false, .frames_on_device = true});
    element.keep(false);
    std::vector<double> times;
    for (int turn = 0; turn <= kTurns; ++turn) {
      const double took = us_a_frame(kFrames, [&] {
        for (int k = 0; k < kFrames; ++k) element.push(gst_buffer_copy(upload.taken()[0]));
        element.drain();
      });
      if (turn > 0) times.push_back(took);
    }
    std::printf("cuda, not drawn, frames on the device, %d slots: %.1f us a frame, %.0f frames a second\n",
                slots, median(times), 1e6 / median(times));
  }
}

int run(const std::string& command, const std::string& backend, int largest) {
  if ((command != "check" && command != "bench") || largest < 1) {
    std::fprintf(stderr, "usage: gst_element_gpu check|bench [cpu|cuda [HEIGHT]]\n");
    return 2;
  }
  if (backend == "cuda" && !device_report().available) {
    std::printf("SKIPPED: no CUDA device answers\n");
    return 77;
  }
  if (command == "check") return check(backend, largest);
  for (const MemoryKind kind : {MemoryKind::Host, MemoryKind::Pinned})
    if (backend == "cuda" || kind == MemoryKind::Host)
      for (const bool overlay : {false, true}) bench(backend, overlay, kind);
  if (backend == "cuda" && has_device_frames()) bench_on_device();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was printed stays if the rest takes too long
  constexpr int kLargest = 1080;
  try {
    return run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "cuda",
               argc > 3 ? std::atoi(argv[3]) : kLargest);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "FAILED: %s\n", error.what());
    return 1;
  }
}
