// K. Della Schiava's figures 3 to 5: reading, making and writing the chain of a texture of three sizes by his
// four programs and by contorno.
#include "tools/bench/sources/della_schiava.h"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include "base/memory.h"
#include "cuda/device.h"
#include "pipeline/shared/threads.h"
#include "plugins/files/levels/writer.h"
#include "plugins/files/pictures/decoder.h"
#include "stages/diamond_square/field.h"
#include "stages/mipmap/chain.h"
#include "tools/bench/sources/records.h"
#if CONTORNO_HAVE_CUDA
#include "stages/mipmap/cuda.h"
#endif

namespace contorno::sources {
namespace {

/// Rows [0, height) of `out`, by algorithm 1.
void generate_mipmap(const Level& in, const Level& out, bool parallel) {
#pragma omp parallel for if (parallel)
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      float sums[4] = {0, 0, 0, 0};
      for (int row = 0; row < 2; ++row)
        for (int col = 0; col < 2; ++col) {
          const int at_x = std::min(std::max(2 * x + col, 0), in.width - 1);
          const int at_y = std::min(std::max(2 * y + row, 0), in.height - 1);
          const std::uint8_t* pixel =
              in.pixels + 4 * (static_cast<std::size_t>(at_y) * static_cast<std::size_t>(in.width) +
                               static_cast<std::size_t>(at_x));
          for (int channel = 0; channel < 4; ++channel)
            sums[channel] += 0.25F * static_cast<float>(pixel[channel]);
        }
      std::uint8_t* pixel =
          out.pixels + 4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(out.width) +
                            static_cast<std::size_t>(x));
      for (int channel = 0; channel < 4; ++channel)
        pixel[channel] = static_cast<std::uint8_t>(sums[channel] + 0.5F);
    }
}

}  // namespace

void mipmaps_serial(const std::vector<Level>& levels) {
  for (std::size_t to = 1; to < levels.size(); ++to) generate_mipmap(levels[to - 1], levels[to], false);
}

void mipmaps_openmp(const std::vector<Level>& levels) {
  for (std::size_t to = 1; to < levels.size(); ++to) generate_mipmap(levels[to - 1], levels[to], true);
}

namespace {

ImageFormat rgba(int width, int height) {
  return {.width = width, .height = height, .channels = 4};
}

/// Bricks in mortar, rough by Diamond-Square: the author's texture is not part of the document.
Block bricks(const ImageFormat& format) {
  const ImageFormat grey{.width = format.width, .height = format.height, .channels = 1};
  const Block field(packed_bytes(grey), MemoryKind::Host);
  const ImageView rough = packed_view(field.data(), grey);
  diamond_square({.seed = 1, .roughness = 0.6}, rough, decided_threads(0));
  Block picture(packed_bytes(format), MemoryKind::Host);
  const ImageView view = packed_view(picture.data(), format);
  const int brick = format.height / 16, mortar = std::max(1, brick / 12);
  for (int y = 0; y < format.height; ++y)
    for (int x = 0; x < format.width; ++x) {
      const int shifted = x + (y / brick % 2) * brick, wall = rough.row<std::uint8_t>(y)[x];
      const bool joint = y % brick < mortar || shifted % (2 * brick) < mortar;
      std::uint8_t* pixel = view.row<std::uint8_t>(y) + 4 * x;
      pixel[0] = static_cast<std::uint8_t>((joint ? 150 : 110) + wall / 4);
      pixel[1] = static_cast<std::uint8_t>((joint ? 145 : 45) + wall / 5);
      pixel[2] = static_cast<std::uint8_t>((joint ? 140 : 30) + wall / 6);
      pixel[3] = 255;
    }
  return picture;
}

/// A folder that goes with the object.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / fmt::format("contorno-sources-{}", getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

void write_png(const std::string& path, const ImageView& image, int threads) {
  const std::string bytes = encode_png(image, {.threads = threads});
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// A texture of one size, and the memory of its chain.
class Chain {
 public:
  Chain(const ImageFormat& format, const Folder& folder)
      : folder_(folder),
        chain_(format, {.filter = MipmapFilter::Clamp}),
        image_(packed_bytes(format), memory_kind()),
        levels_(chain_.bytes(), memory_kind()),
        scratch_(chain_.scratch_bytes(decided_threads(0)) + 1, MemoryKind::Host) {
    const Block picture = bricks(format);
    write_png(folder_.file("texture.png"), packed_view(picture.data(), format), decided_threads(0));
    views_.push_back(packed_view(image_.data(), format));
    for (int level = 1; level < chain_.levels(); ++level)
      views_.push_back(chain_.level_in(levels_.data(), level));
    // The authors' programs have rows without gaps.
    for (const ImageView& view : views_)
      if (view.row_pitch != view.format.width * 4) throw std::runtime_error("rows with gaps");
    for (const ImageView& view : views_)
      raw_.push_back(
          {view.format.width, view.format.height, static_cast<std::uint8_t*>(static_cast<void*>(view.data))});
  }

  void read() {
    std::string error;
    if (!decoder_.decode(folder_.file("texture.png"), std::uint64_t{1} << 30, picture_, error))
      throw std::runtime_error(error);
    std::memcpy(image_.data(), picture_.pixels.data(), raw_[0].bytes());
  }
  const std::vector<Level>& raw() const { return raw_; }
  void by_contorno() {
    chain_.build(views_[0], std::span(views_).subspan(1), scratch_.data(), decided_threads(0), best_simd());
  }
#if CONTORNO_HAVE_CUDA
  void by_contorno_on_device() {
    if (upload_ == nullptr) upload_ = std::make_unique<MipmapUpload>(chain_, 0);
    upload_->build(views_[0], levels_.data());
  }
#endif
  /// All levels but the first: one after the other, or one a thread, or each by all threads.
  enum class Writing : std::uint8_t { Serial, LevelAThread, StripsAThread };
  void write(Writing how) const {
    const int count = static_cast<int>(views_.size());
#pragma omp parallel for schedule(dynamic, 1) if (how == Writing::LevelAThread)
    for (int level = 1; level < count; ++level)
      write_png(folder_.file(fmt::format("level{}.png", level)), views_[static_cast<std::size_t>(level)],
                how == Writing::StripsAThread ? decided_threads(0) : 1);
  }
  void clear() {
    std::memset(levels_.data(), 0, levels_.size());
  }
  /// The bytes of all levels.
  std::string content() const {
    return {reinterpret_cast<const char*>(levels_.data()), levels_.size()};
  }
  int levels() const {
    return chain_.levels();
  }

 private:
  /// Page-locked where there is a device, so that copies may overlap.
  static MemoryKind memory_kind() {
    return device_report().available ? MemoryKind::Pinned : MemoryKind::Host;
  }
  const Folder& folder_;
  MipmapChain chain_;
  Block image_, levels_, scratch_;
  std::vector<ImageView> views_;
  std::vector<Level> raw_;
  PictureDecoder decoder_;
  Picture picture_;
#if CONTORNO_HAVE_CUDA
  std::unique_ptr<MipmapUpload> upload_;
#endif
};

struct Program {
  std::string name;
  std::function<void(Chain&)> make;
  Chain::Writing writing;
};

std::vector<Program> programs([[maybe_unused]] bool device) {
  using enum Chain::Writing;
  std::vector<Program> all{{"serial", [](Chain& chain) { mipmaps_serial(chain.raw()); }, Serial},
                           {"OpenMP", [](Chain& chain) { mipmaps_openmp(chain.raw()); }, LevelAThread},
                           {"contorno", [](Chain& chain) { chain.by_contorno(); }, StripsAThread}};
#if CONTORNO_HAVE_CUDA
  if (device) {
    all.push_back({"CUDA", [](Chain& chain) { mipmaps_cuda(chain.raw()); }, Serial});
    all.push_back({"OpenMP + CUDA", [](Chain& chain) { mipmaps_streams(chain.raw()); }, LevelAThread});
    all.push_back({"contorno, CUDA", [](Chain& chain) { chain.by_contorno_on_device(); }, StripsAThread});
  }
#endif
  return all;
}

void measure_chain(Records& records, const std::string& size, const ImageFormat& format,
                   const Options& options, bool device) {
  const Folder folder;
  Chain chain(format, folder);
  chain.read();
  chain.by_contorno();
  const std::string expected = chain.content();
  for (const Program& program : programs(device)) {
    std::vector<double> read, generate, write;
    for (int run = 0; run <= options.runs; ++run) {
      const auto once = [&](std::vector<double>& into, const auto& step) {
        const auto start = std::chrono::steady_clock::now();
        step();
        if (run > 0)
          into.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      };
      chain.clear();
      once(read, [&] { chain.read(); });
      once(generate, [&] { program.make(chain); });
      once(write, [&] { chain.write(program.writing); });
    }
    records.check(size, program.name, chain.content() == expected,
                  fmt::format("the bytes of {} levels", chain.levels() - 1));
    records.time(size, program.name + ": read", read);
    records.time(size, program.name + ": generate", generate);
    records.time(size, program.name + ": write", write);
  }
#if CONTORNO_HAVE_CUDA
  if (!device) return;
  for (const bool overlap : {false, true}) {
    std::vector<Bar> bars;
    overlap ? mipmaps_streams(chain.raw(), &bars) : mipmaps_cuda(chain.raw(), &bars);
    nlohmann::json list = nlohmann::json::array();
    for (const Bar& bar : bars) list.push_back({bar.stream, bar.level, bar.what, bar.begin_ms, bar.end_ms});
    records.fact("timeline",
                 {{"case", size}, {"variant", overlap ? "OpenMP + CUDA" : "CUDA"}, {"bars", list}});
  }
#endif
}

}  // namespace

void della_schiava(Records& records, const Options& options) {
  const bool device = has_device(records);
  if (options.small) return measure_chain(records, "M", rgba(256, 128), options, device);
  measure_chain(records, "M", rgba(2048, 1024), options, device);
  measure_chain(records, "L", rgba(4096, 2048), options, device);
  measure_chain(records, "XL", rgba(8192, 4096), options, device);
}

}  // namespace contorno::sources
