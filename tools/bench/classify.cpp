// The contorno side of tools/bench/video for the stage classify alone: reads commands from standard input,
// one a line, and answers each with a line, so that it can be timed in turns with other programs.
//   load GRAPH FILE HEIGHT WIDTH CHANNELS THREADS   classes and parameters of a graph; the frames of a film,
//                 uint8, interleaved, one after the other
//   run TIMES     plays the film so many times behind a first one; seconds of the stage for each frame
//   limit TIMES   the same for reading each frame and writing the maps once, with the same threads
// A frame is copied to where the stage reads it before its time begins, as a reader brings it there.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/memory.h"
#include "config/load.h"
#include "pipeline/graph/direct.h"
#include "pipeline/shared/loops.h"
#include "plugins/catalog.h"
#include "tools/bench/commands.h"

namespace contorno {
namespace {

using Clock = std::chrono::steady_clock;

class Bench {
 public:
  Bench(const std::string& graph_file, const std::string& file, const ImageFormat& format, int threads)
      : threads_(threads), frame_memory_(packed_bytes(format), MemoryKind::Host) {
    const Catalog& catalog = full_catalog();
    const GraphSpec graph = config::load_graph(graph_file, catalog);
    const auto node = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                   [](const NodeSpec& one) { return one.type->name == "classify"; });
    if (node == graph.nodes.end()) throw std::runtime_error(graph_file + " has no stage 'classify'");
    stage_ = std::make_unique<DirectStage>(*node->type, node->params, Backend::Cpu, threads, graph.classes);
    film_.resize(std::filesystem::file_size(file) / frame_memory_.size() * frame_memory_.size());
    std::ifstream in(file, std::ios::binary);
    if (!in.read(film_.data(), static_cast<std::streamsize>(film_.size())) || film_.empty())
      throw std::runtime_error("cannot read a frame from " + file);
    const Format planned = format;
    stage_->plan(std::span(&planned, 1), nullptr);
    const auto& maps = std::get<ImageFormat>(stage_->outputs()[0]);
    maps_memory_ = Block(packed_bytes(maps), MemoryKind::Host);
    frame_ = packed_view(frame_memory_.data(), format), maps_ = packed_view(maps_memory_.data(), maps);
  }

  void run(int times) {
    time(times, [&] { stage_->enqueue(std::span(&frame_, 1), std::span(&maps_, 1), nullptr); });
  }

  void limit(int times) {
    const auto& frame = std::get<ImageView>(frame_);
    const auto& maps = std::get<ImageView>(maps_);
    time(times, [&] {
      for_rows(threads_, frame.format.height, [&](int y) {
        const auto* from = frame.row<const unsigned char>(y);
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i + sizeof(sum) <= frame.format.row_bytes(); i += sizeof(sum)) {
          std::uint64_t word = 0;
          std::memcpy(&word, from + i, sizeof(word));
          sum ^= word;
        }
        for (int k = 0; k < maps.format.channels; ++k)
          std::memset(maps.row<unsigned char>(y, k), static_cast<int>(sum & 1U), maps.format.row_bytes());
      });
    });
  }

 private:
  template <class Work>
  void time(int times, const Work& work) {
    for (int run = 0; run <= times; ++run)
      for (std::size_t at = 0; at < film_.size(); at += frame_memory_.size()) {
        std::memcpy(frame_memory_.data(), film_.data() + at, frame_memory_.size());
        const auto start = Clock::now();
        work();
        if (run > 0) std::cout << std::chrono::duration<double>(Clock::now() - start).count() << ' ';
      }
  }

  int threads_;
  std::vector<char> film_;
  Block frame_memory_, maps_memory_;
  std::unique_ptr<DirectStage> stage_;
  Value frame_, maps_;
};

int answer() {
  std::unique_ptr<Bench> bench;
  return answer_commands("bench_classify", [&](const std::string& command, std::istringstream& words) {
    if (command == "load") {
      std::string graph, file;
      ImageFormat format;
      int threads = 1;
      words >> graph >> file >> format.height >> format.width >> format.channels >> threads;
      bench = std::make_unique<Bench>(graph, file, format, threads);
      std::cout << "loaded";
      return true;
    }
    int times = 1;
    words >> times;
    if (bench == nullptr || (command != "run" && command != "limit")) return false;
    command == "run" ? bench->run(times) : bench->limit(times);
    return true;
  });
}

}  // namespace
}  // namespace contorno

int main() {
  return contorno::answer();
}
