#include <fmt/format.h>

#include "base/error.h"
#include "stages/network/net.h"
#include "stages/network/self_test.h"
#include "stages/network/stage.h"
#include "stages/network/tensor.h"
#include "stages/network/used.h"

namespace contorno {
namespace {

class NetworkStage final : public Stage {
 public:
  NetworkStage(const ParamSet& params, NetworkParts parts)
      : params_(params.as<NetworkParams>()), parts_(std::move(parts)) {}

  void plan(PlanContext& context) override {
    if (params_.activation != Activation::None && params_.output == NetworkOutput::Probabilities)
      throw Error(ExitCode::BadConfig,
                  "network: activation is given, while output is probabilities; say output: logits, or leave "
                  "activation out");
    open(params_.threads > 0 ? params_.threads : context.threads());
    plan_ = TensorPlan(params_, context.image(0), net_->model().onnx.inputs[0]);
    self_test(*net_, plan_, params_, parts_.read_check);
    const TensorSides out = net_->plan(plan_.sides());
    const int channels = plan_.channels_of(out, net_->name());
    // A stage that is applied on its own has no classes.
    if (!context.classes().empty() && static_cast<std::size_t>(channels) != context.classes().size())
      throw Error(
          ExitCode::BadConfig,
          fmt::format("{}: it makes {} maps, while the graph has {} classes; there is a class for each map",
                      net_->name(), channels, context.classes().size()));
    ImageFormat maps = context.image(0);
    maps.channels = channels, maps.type = ElementType::F32, maps.layout = Layout::Planar;
    context.set_output(0, maps);
    in_ = context.scratch(tensor_count(plan_.sides()) * sizeof(float), MemoryKind::Host);
    out_ = context.scratch(tensor_count(out) * sizeof(float), MemoryKind::Host);
  }

  void run(const RunContext& context) const override {
    auto* const in = context.scratch<float>(in_);
    auto* const out = context.scratch<float>(out_);
    plan_.fill(context.image_in(0), in, context.threads);
    net_->run(in, out);
    plan_.take(out, context.image_out(0), params_.activation, context.threads);
  }

 private:
  /// Once: a stage that is planned again has its net.
  void open(int threads) {
    if (net_) return;
    const contorno_engine& engine = engine_of(params_.engine, parts_);
    net_ = std::make_unique<Net>(load_model(params_.model), engine, threads);
    note_network({.model = params_.model,
                  .engine = net_->facts().name,
                  .version = net_->facts().version,
                  .sha256 = net_->model().sha256});
  }

  NetworkParams params_;
  NetworkParts parts_;
  std::unique_ptr<Net> net_;
  TensorPlan plan_;
  Scratch in_, out_;
};

ParamList<NetworkParams> network_params() {
  using P = NetworkParams;
  ParamList<P> list;
  list.required_text("model", &P::model, "Path of the network, an ONNX file.");
  list.choice("engine", &P::engine,
              {{"auto", NetworkEngine::Auto},
               {"opencv", NetworkEngine::Opencv},
               {"onnxruntime", NetworkEngine::Onnxruntime},
               {"plugin", NetworkEngine::Plugin}},
              "What computes the network; auto is opencv, plugin an engine that was loaded with --load.");
  list.choice("order", &P::order,
              {{"rgb", ChannelOrder::Rgb}, {"bgr", ChannelOrder::Bgr}, {"gray", ChannelOrder::Gray}},
              "Order of the colours that the network takes; gray is one channel.");
  list.number("scale", &P::scale, 0, 1e6, Unit::None,
              "Factor of samples; 0 is 1/255 for uint8, and 1 for float32.");
  list.numbers(
      "mean", &P::mean, 0, 3, -1e6, 1e6, Unit::None,
      "Subtracted after scaling: one number, or one a channel in the network's order; empty means 0.");
  list.numbers("std", &P::std, 0, 3, 0, 1e6, Unit::None,
               "Divides after that: one number above 0, or one a channel; empty means 1.");
  list.numbers("size", &P::size, 0, 2, 1, kMaxSide, Unit::Pixels,
               "Size of the network's input, [width, height], at least that of the image, which is padded by "
               "reflection; empty follows "
               "multiple.");
  list.integer("multiple", &P::multiple, 1, 4096, Unit::Pixels,
               "The sides of the network's input are multiples of this; the image is padded by reflection, "
               "and the maps are cropped.");
  list.choice(
      "layout", &P::layout, {{"nchw", TensorLayout::Nchw}, {"nhwc", TensorLayout::Nhwc}},
      "Order of the sides of the network's input and output: channels before height and width, or behind.");
  list.choice("output", &P::output,
              {{"probabilities", NetworkOutput::Probabilities}, {"logits", NetworkOutput::Logits}},
              "What the network gives: probabilities, from 0 to 1, or logits.");
  list.choice(
      "activation", &P::activation,
      {{"none", Activation::None}, {"softmax", Activation::Softmax}, {"sigmoid", Activation::Sigmoid}},
      "What makes probabilities of logits: softmax over the classes of a pixel, or sigmoid for each class by "
      "itself.");
  list.integer("threads", &P::threads, 0, 256, Unit::None,
               "Threads of the engine; 0 takes those of the pipeline.");
  return list;
}

/// What can be told before anything is planned: the file, and the engine's list.
void try_network(const NetworkParams& params, const ParamTrial& trial, const NetworkParts& parts) {
  const contorno_engine* engine = nullptr;
  if (!trial.run("engine", [&] { engine = &engine_of(params.engine, parts); })) return;
  trial.run("model", [&] {
    contorno_engine_facts facts{};
    engine->describe(&facts);
    check_model(*load_model(params.model), facts);
  });
}

}  // namespace

const contorno_engine& engine_of(NetworkEngine wanted, const NetworkParts& parts) {
  if (wanted == NetworkEngine::Onnxruntime) return parts.onnxruntime();
  if (wanted != NetworkEngine::Plugin) return parts.opencv();
  if (parts.plugin == nullptr)
    throw Error(ExitCode::Unavailable,
                "network: engine is plugin, and no file with an engine was loaded; name one with --load");
  return *parts.plugin;
}

StageType network_with(const NetworkParts& parts) {
  const auto tried = [parts](const NetworkParams& params, const ParamTrial& trial) {
    try_network(params, trial, parts);
  };
  return {
      .name = "network",
      .summary =
          "Computes class maps of an image by a network in ONNX's format; on the host, and may allocate "
          "while it runs.",
      .inputs = {{"image", PortType::Image, "The frame, or what an earlier stage made of it.",
                  From::FrameOrMaps}},
      .outputs = {{"maps", PortType::Image, "A map a class, planar float32."}},
      .params = declare(network_params(), tried),
      .example = "- type: network\n  model: net.onnx\n  multiple: 32\n",
      .make_cpu = [parts](const ParamSet& params) { return std::make_unique<NetworkStage>(params, parts); },
      .classes = ClassUse::Needed,
      .on_host = true,
  };
}

}  // namespace contorno
