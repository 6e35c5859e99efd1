// The contorno side of tools/bench/contours: reads commands from standard input, one a line, and answers each
// with a line, so that it can be timed in turns with other programs.
//   load FILE HEIGHT WIDTH CLASSES LAYOUT THREADS   float32 maps, planar or interleaved; level 0.5
//   run TIMES                                        nanoseconds: stages, marking alone, find_contours, plain
//   read
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/memory.h"
#include "pipeline/shared/loops.h"
#include "stages/contours/cpu/assemble.h"
#include "stages/contours/cpu/mark_samples.h"
#include "stages/contours/find_contours.h"
#include "tools/bench/commands.h"

namespace contorno {
namespace {

using Clock = std::chrono::steady_clock;

class Bench {
 public:
  Bench(const std::string& file, const ImageFormat& format, int threads)
      : threads_(threads), map_memory_(packed_bytes(format), MemoryKind::Host) {
    map_ = packed_view(map_memory_.data(), format);
    std::ifstream in(file, std::ios::binary);
    for (int plane = 0; plane < format.planes(); ++plane)
      for (int row = 0; row < format.height; ++row)
        in.read(map_.row<char>(row, plane), static_cast<std::streamsize>(format.row_bytes()));
    if (!in) throw std::runtime_error("cannot read " + file);
    const std::vector<double> levels(static_cast<std::size_t>(format.channels), 0.5);
    marker_ = std::make_unique<SampleMarker>(format, levels, SampleScale{});
    assembler_ = std::make_unique<Assembler>(format, levels, AssemblyOptions{.threads = threads});
    crossings_ = Block(crossings_bytes(format), MemoryKind::Host);
    const std::uint64_t samples = static_cast<std::uint64_t>(format.width) *
                                  static_cast<std::uint64_t>(format.height) *
                                  static_cast<std::uint64_t>(format.channels);
    room_contours_ = samples / 4;
    room_points_ = 2 * samples;
    scratch_ = Block(assembler_->scratch_bytes(room_contours_, room_points_), MemoryKind::Host);
    marker_->mark(map_, crossings_.data(), threads_);
    counts_ = assembler_->link(map_, crossings_.data(), scratch_.data(), room_contours_, room_points_);
    contours_format_ = {format.width, format.height, format.channels, counts_.points, counts_.contours, {}};
    contours_memory_ = Block(packed_bytes(contours_format_), MemoryKind::Host);
  }

  const AssemblyCounts& counts() const { return counts_; }

  /// What a frame costs in the pipeline: both stages, memory kept from frame to frame.
  double stages(double* marking) {
    const auto start = Clock::now();
    marker_->mark(map_, crossings_.data(), threads_);
    const auto middle = Clock::now();
    const ContoursView out = packed_view(contours_memory_.data(), contours_format_);
    assembler_->link(map_, crossings_.data(), scratch_.data(), room_contours_, room_points_);
    assembler_->emit(map_, crossings_.data(), scratch_.data(), room_contours_, room_points_,
                     {.points = out.points, .offsets = out.offsets, .closed = out.closed}, out.class_begin);
    const auto end = Clock::now();
    *marking = seconds(start, middle);
    return seconds(start, end);
  }

  /// The function for everybody: float64 points, memory allocated anew, one class after the other.
  double find() {
    const auto start = Clock::now();
    if (map_.format.layout == Layout::Interleaved && map_.format.channels > 1) return 0;
    for (int k = 0; k < map_.format.channels; ++k) {
      ImageView plane = map_;
      plane.format.channels = 1;
      plane.data = map_.row<char>(0, k);
      sink_ += find_contours(plane, {.level = 0.5, .threads = threads_}).count();
    }
    return seconds(start, Clock::now());
  }

  /// Reads the same bytes and does next to nothing with them.
  double read() {
    const auto start = Clock::now();
    constexpr int kParts = 64;
    const std::size_t words = map_memory_.size() / sizeof(std::uint64_t);
    std::uint64_t sums[kParts] = {};
    for_rows(threads_, kParts, [&](int part) {
      const auto* data = reinterpret_cast<const std::uint64_t*>(map_memory_.data());
      const std::size_t begin = words * static_cast<std::size_t>(part) / kParts;
      const std::size_t end = words * (static_cast<std::size_t>(part) + 1) / kParts;
      std::uint64_t sum = 0;
      for (std::size_t i = begin; i < end; ++i) sum ^= data[i];
      sums[part] = sum;
    });
    for (const std::uint64_t sum : sums) sink_ += sum;
    return seconds(start, Clock::now());
  }

  std::uint64_t sink() const { return sink_; }

 private:
  static double seconds(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  }

  int threads_;
  Block map_memory_, crossings_, scratch_, contours_memory_;
  ImageView map_;
  std::unique_ptr<SampleMarker> marker_;
  std::unique_ptr<Assembler> assembler_;
  std::uint64_t room_contours_ = 0, room_points_ = 0, sink_ = 0;
  AssemblyCounts counts_;
  ContoursFormat contours_format_;
};

int answer() {
  std::unique_ptr<Bench> bench;
  std::uint64_t sink = 0;
  const int status =
      answer_commands("bench_contours", [&](const std::string& command, std::istringstream& words) {
        if (command == "load") {
          std::string file, layout;
          ImageFormat format{.type = ElementType::F32};
          int threads = 1;
          words >> file >> format.height >> format.width >> format.channels >> layout >> threads;
          format.layout = layout == "planar" ? Layout::Planar : Layout::Interleaved;
          bench = std::make_unique<Bench>(file, format, threads);
          std::cout << bench->counts().points << ' ' << bench->counts().contours << ' '
                    << name_of(best_simd());
        } else if (command == "run" && bench != nullptr) {
          int times = 1;
          words >> times;
          for (int i = 0; i < times; ++i) {
            double marking = 0;
            const double stages = bench->stages(&marking);
            std::cout << stages << ' ' << marking << ' ' << bench->find() << ' ' << bench->read() << ' ';
          }
          sink += bench->sink();
        } else {
          return false;
        }
        return true;
      });
  return sink == 1 ? 1 : status;
}

}  // namespace
}  // namespace contorno

int main() {
  return contorno::answer();
}
