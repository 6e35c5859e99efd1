// A program with the stage of own_stage.cpp linked in. Without arguments it applies it to one row of samples;
// with GRAPH FOLDER it runs a graph that may have the stage, whose sinks write into the folder.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <contorno/base/error.h>
#include <contorno/config/load.h>
#include <contorno/pipeline/graph/applied.h>
#include <contorno/pipeline/graph/graph.h>
#include <contorno/pipeline/run/runner.h>
#include <contorno/plugins/catalog.h>

const contorno::StageType& steepen_stage();  // own_stage.cpp

namespace {

void apply() {
  contorno::ParamSet params(steepen_stage().params);
  params.set("gain", 4.0);
  contorno::AppliedStage stage(steepen_stage(), params, contorno::Backend::Cpu, 2);
  const std::array<contorno::Format, 1> formats{
      contorno::ImageFormat{.width = 5, .height = 1, .channels = 1, .type = contorno::ElementType::F32}};
  stage.plan(formats);
  const std::array samples{0.3F, 0.45F, 0.5F, 0.6F, 0.9F};
  std::copy(samples.begin(), samples.end(), stage.image_input(0).row<float>(0));
  stage.run();
  const auto* result = std::get<contorno::ImageView>(stage.output(0)).row<const float>(0);
  for (std::size_t x = 0; x < samples.size(); ++x)
    std::printf("%.2f -> %.2f\n", static_cast<double>(samples[x]), static_cast<double>(result[x]));
}

void run_graph(const std::string& path, const std::string& folder) {
  contorno::Catalog catalog = contorno::full_catalog();
  catalog.stages.push_back(&steepen_stage());
  contorno::GraphSpec graph = contorno::config::load_graph(path, catalog);
  const auto [source, notice] = contorno::config::open_source(graph);
  std::vector<std::unique_ptr<contorno::Sink>> sinks;
  std::vector<contorno::SinkBinding> bindings;
  for (const contorno::SinkSpec& spec : graph.sinks) {
    sinks.push_back(spec.type->make(spec.params));
    bindings.push_back(contorno::bind_sink(spec, *sinks.back()));
  }
  contorno::Runner runner(
      graph, *source, bindings,
      {.backend = contorno::choose_backend(graph.settings.backend, graph), .output_root = folder});
  runner.run();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 3)
      run_graph(argv[1], argv[2]);
    else
      apply();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
