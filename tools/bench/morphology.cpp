// The contorno side of tools/bench/morphology: reads commands from standard input, one a line, and answers
// each with a line, so that it can be timed in turns with other programs.
//   load FILE HEIGHT WIDTH CHANNELS THREADS             uint8, interleaved
//   plan OPERATION SHAPE WIDTH HEIGHT [opencv] [HEIGHTS...]   of the morphology stage
//   reconstruct FILE                                    the loaded image under the mask in FILE
//   run TIMES                                           seconds, one number a run
//   save FILE                                           the last result
#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "stages/morphology/stage.h"
#include "tools/bench/commands.h"

namespace contorno {
namespace {

using Clock = std::chrono::steady_clock;

/// One stage with its memory, as a pipeline would run it.
class Bench final : public PlanContext {
 public:
  Bench(const std::string& file, const ImageFormat& format, int threads)
      : threads_(threads), format_(format) {
    inputs_.push_back(read(file));
  }

  void plan(const StageType& type, const ParamSet& params) {
    scratches_.clear(), blocks_.clear();
    stage_ = type.make_cpu(params);
    stage_->plan(*this);
  }
  void reconstruct(const std::string& mask) {
    inputs_.resize(1);
    inputs_.push_back(read(mask));
    plan(reconstruction_stage(), ParamSet(reconstruction_stage().params));
  }
  double run() {
    const RunContext context{
        .inputs = inputs_, .outputs = outputs_, .scratches = scratches_, .threads = threads_};
    const auto start = Clock::now();
    stage_->run(context);
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  void save(const std::string& file) const {
    std::ofstream out(file, std::ios::binary);
    const auto& view = std::get<ImageView>(outputs_[0]);
    for (int y = 0; y < format_.height; ++y)
      out.write(view.row<char>(y), static_cast<std::streamsize>(format_.row_bytes()));
  }

  const Format& input(std::size_t) const override { return input_format_; }
  void set_output(std::size_t, const Format& format) override {
    if (!outputs_.empty()) return;
    output_ = Block(packed_bytes(std::get<ImageFormat>(format)), MemoryKind::Host);
    outputs_.push_back(packed_view(output_.data(), std::get<ImageFormat>(format)));
  }
  Scratch scratch(std::size_t bytes, MemoryKind kind) override {
    blocks_.emplace_back(std::max<std::size_t>(bytes, 1), kind);
    scratches_.push_back(blocks_.back().data());
    return {scratches_.size() - 1};
  }
  std::span<const ClassSpec> classes() const override { return {}; }
  std::uint64_t capacity(std::uint64_t first_guess) const override { return first_guess; }
  int threads() const override { return threads_; }
  const TextRasteriser* text() const override { return nullptr; }

 private:
  Value read(const std::string& file) {
    images_.emplace_back(packed_bytes(format_), MemoryKind::Host);
    const ImageView view = packed_view(images_.back().data(), format_);
    std::ifstream in(file, std::ios::binary);
    for (int y = 0; y < format_.height; ++y)
      in.read(view.row<char>(y), static_cast<std::streamsize>(format_.row_bytes()));
    if (!in) throw std::runtime_error("cannot read " + file);
    return view;
  }

  int threads_;
  ImageFormat format_;
  Format input_format_ = format_;
  std::vector<Block> images_, blocks_;
  std::vector<std::byte*> scratches_;
  Block output_;
  std::vector<Value> inputs_, outputs_;
  std::unique_ptr<Stage> stage_;
};

ParamSet settings(std::istringstream& words) {
  ParamSet params(morphology_stage().params);
  std::string operation, shape;
  double width = 0, height = 0;
  words >> operation >> shape >> width >> height;
  params.set("operation", operation);
  params.set("element", shape);
  params.set("size", std::vector<double>{width, height});
  std::vector<double> heights;
  for (std::string word; words >> word;) {
    if (word == "opencv")
      params.set("opencv_compat", true);
    else
      heights.push_back(std::stod(word));
  }
  params.set("heights", heights);
  return params;
}

int answer() {
  std::unique_ptr<Bench> bench;
  return answer_commands("bench_morphology", [&](const std::string& command, std::istringstream& words) {
    std::string file;
    if (command == "load") {
      ImageFormat format;
      int threads = 1;
      words >> file >> format.height >> format.width >> format.channels >> threads;
      bench = std::make_unique<Bench>(file, format, threads);
    } else if (command == "plan" && bench != nullptr) {
      bench->plan(morphology_stage(), settings(words));
    } else if (command == "reconstruct" && bench != nullptr) {
      words >> file;
      bench->reconstruct(file);
    } else if (command == "run" && bench != nullptr) {
      int times = 1;
      words >> times;
      for (int i = 0; i < times; ++i) std::cout << bench->run() << ' ';
    } else if (command == "save" && bench != nullptr) {
      words >> file;
      bench->save(file);
    } else {
      return false;
    }
    return true;
  });
}

}  // namespace
}  // namespace contorno

int main() {
  return contorno::answer();
}
