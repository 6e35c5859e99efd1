// How long openings take on the device, of an RGB image in device memory, beside NVIDIA's NPP where its
// library is found. Prints one line an element: microseconds by events, the median of many.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "cuda/stream.h"
#include "stages/morphology/stage.h"
#include "stages/shared/device_table.h"

namespace contorno {
namespace {

constexpr int kWidth = 3264, kHeight = 2448;
constexpr ImageFormat kFormat{.width = kWidth, .height = kHeight, .channels = 3};

/// One stage on the device with its memory.
class Bench final : public PlanContext {
 public:
  explicit Bench(const std::vector<std::uint8_t>& pixels)
      : in_(packed_bytes(kFormat), MemoryKind::Device), out_(packed_bytes(kFormat), MemoryKind::Device) {
    copy_async(in_.data(), pixels.data(), pixels.size(), stream_.get());
    stream_.synchronize();
    inputs_.emplace_back(packed_view(in_.data(), kFormat));
    outputs_.emplace_back(packed_view(out_.data(), kFormat));
  }

  double opening(const std::string& operation, const std::string& shape, int size) {
    ParamSet params(morphology_stage().params);
    params.set("operation", operation);
    params.set("element", shape);
    params.set("size", std::vector<double>{static_cast<double>(size), static_cast<double>(size)});
    blocks_.clear(), scratches_.clear();
    stage_ = morphology_stage().make_cuda(params);
    stage_->plan(*this);
    const RunContext context{
        .inputs = inputs_, .outputs = outputs_, .scratches = scratches_, .stream = stream_.get()};
    stage_->run(context);
    stream_.synchronize();
    CapturedGraph::begin_capture(stream_);
    stage_->run(context);
    const CapturedGraph graph = CapturedGraph::end_capture(stream_);
    return median([&] { graph.launch(stream_); });
  }

  template <class F>
  double median(const F& once, int times = 30) {
    std::vector<double> all;
    const Event from = Event::create(), to = Event::create();
    for (int i = 0; i < times; ++i) {
      from.record(stream_.get());
      once();
      to.record(stream_.get());
      to.synchronize();
      if (i > 3 || times < 5) all.push_back(Event::elapsed_us(from, to));
    }
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }

  const ImageView& in() const { return std::get<ImageView>(inputs_[0]); }
  const ImageView& out() const { return std::get<ImageView>(outputs_[0]); }
  void* stream() const { return stream_.get(); }

  const Format& input(std::size_t) const override { return format_; }
  void set_output(std::size_t, const Format&) override {}
  Scratch scratch(std::size_t bytes, MemoryKind kind) override {
    blocks_.emplace_back(std::max<std::size_t>(bytes, 1), kind);
    scratches_.push_back(blocks_.back().data());
    return {scratches_.size() - 1};
  }
  std::span<const ClassSpec> classes() const override { return {}; }
  std::uint64_t capacity(std::uint64_t first_guess) const override { return first_guess; }
  int threads() const override { return 1; }
  const TextRasteriser* text() const override { return nullptr; }

 private:
  Stream stream_ = Stream::create();
  Block in_, out_;
  Format format_ = kFormat;
  std::vector<Block> blocks_;
  std::vector<std::byte*> scratches_;
  std::vector<Value> inputs_, outputs_;
  std::unique_ptr<Stage> stage_;
};

/// NPP, loaded by name: what it needs is its older interface, which takes no context.
class Npp {
 public:
  struct Size {
    int width, height;
  };
  struct Point {
    int x, y;
  };
  using Function = int (*)(const unsigned char*, int, unsigned char*, int, Size, const unsigned char*, Size,
                           Point);
  /// The newer interface takes a stream's description by value; its size and fields are NPP's.
  struct StreamContext {
    void* stream;
    int device, multiprocessors, threads, threads_block;
    std::size_t shared;
    int major, minor;
    unsigned flags;
    int reserved;
  };
  using ContextFunction = int (*)(const unsigned char*, int, unsigned char*, int, Size, const unsigned char*,
                                  Size, Point, StreamContext);

  Npp() {
    for (const char* name : {"libnppim.so", "libnppim.so.13", "libnppim.so.12", "libnppim.so.11",
                             "/usr/local/cuda/lib64/libnppim.so", "/usr/local/cuda/lib64/libnppim.so.13",
                             "/usr/local/cuda/lib64/libnppim.so.12"}) {
      library_ = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
      if (library_ != nullptr) break;
    }
    if (library_ == nullptr) return;
    erode_ = reinterpret_cast<ContextFunction>(dlsym(library_, "nppiErode_8u_C3R_Ctx"));
    dilate_ = reinterpret_cast<ContextFunction>(dlsym(library_, "nppiDilate_8u_C3R_Ctx"));
  }
  bool found() const { return erode_ != nullptr && dilate_ != nullptr; }

  /// The interior only: NPP reads beyond the edges.
  double opening(Bench& bench, const StructuringElement& element) const {
    std::vector<std::uint8_t> mask;
    for (int y = 0; y < element.height(); ++y)
      for (int x = 0; x < element.width(); ++x) mask.push_back(element.member(x, y) ? 1 : 0);
    const Block on_device = device_table(mask);
    Block between(packed_bytes(kFormat), MemoryKind::Device);
    const int margin = 2 * element.width();
    const auto pitch = static_cast<int>(bench.in().row_pitch);
    const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(margin) * pitch + 3 * margin;
    const Size roi{kWidth - 2 * margin, kHeight - 2 * margin}, size{element.width(), element.height()};
    const Point anchor{element.anchor_x(), element.anchor_y()};
    StreamContext context{.stream = bench.stream(),
                          .device = 0,
                          .multiprocessors = 132,
                          .threads = 2048,
                          .threads_block = 1024,
                          .shared = 49152,
                          .major = 9,
                          .minor = 0};
    int status = 0;
    const double us = bench.median(
        [&] {
          status |= erode_(bench.in().row<const unsigned char>(0) + offset, pitch,
                           reinterpret_cast<unsigned char*>(between.data()) + offset, pitch, roi,
                           table_at<unsigned char>(on_device), size, anchor, context);
          status |= dilate_(reinterpret_cast<const unsigned char*>(between.data()) + offset, pitch,
                            bench.out().row<unsigned char>(0) + offset, pitch, roi,
                            table_at<unsigned char>(on_device), size, anchor, context);
        },
        element.width() > 30 ? 4 : 12);
    return status == 0 ? us : -1;
  }

 private:
  void* library_ = nullptr;
  ContextFunction erode_ = nullptr, dilate_ = nullptr;
};

}  // namespace
}  // namespace contorno

int main() {
  using namespace contorno;
  std::vector<std::uint8_t> pixels(packed_bytes(kFormat));
  std::mt19937 random(1);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::uint8_t>((i / 37 % 256 + random() % 60) & 255);
  Bench bench(pixels);
  const Npp npp;
  if (!npp.found()) std::puts("NPP is not here");
  for (const char* shape : {"rectangle", "ellipse"})
    for (const int size : {3, 11, 21, 51, 101, 301, 501, 1001, 2001}) {
      if (size > 301 && std::string(shape) == "ellipse") continue;
      const double ours = bench.opening("opening", shape, size);
      const StructuringElement element = std::string(shape) == "ellipse"
                                             ? StructuringElement::ellipse(size, size)
                                             : StructuringElement::rectangle(size, size);
      const double peer = npp.found() && size <= 51 ? npp.opening(bench, element) : -1;
      std::printf("opening RGB %dx%d %s %dx%d: %.1f us", kWidth, kHeight, shape, size, size, ours);
      if (peer > 0) std::printf(", NPP %.1f us, %.1f x", peer, peer / ours);
      std::puts("");
    }
  std::printf("opening by reconstruction, rectangle 15x15: %.1f us\n",
              bench.opening("opening_by_reconstruction", "rectangle", 15));
  return 0;
}
