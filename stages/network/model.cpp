#include "stages/network/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/error.h"
#include "pipeline/shared/printable.h"
#include "stages/network/sha256.h"
#include "stages/network/used.h"

namespace contorno {
namespace {
namespace fs = std::filesystem;

[[noreturn]] void refuse_model(const std::string& path, const std::string& why,
                               ExitCode code = ExitCode::BadConfig) {
  throw Error(code, fmt::format("network: {}: {}", model_name(path), why));
}

struct FileState {
  std::uintmax_t bytes = 0;
  fs::file_time_type changed;
  bool operator==(const FileState&) const = default;
};

FileState state_of(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) refuse_model(path, "there is no such file", ExitCode::MissingInput);
  if (!fs::is_regular_file(status)) refuse_model(path, "it is no file", ExitCode::MissingInput);
  FileState state{.bytes = fs::file_size(path, error)};
  if (!error) state.changed = fs::last_write_time(path, error);
  if (error) refuse_model(path, error.message(), ExitCode::Io);
  if (state.bytes > kMaxModelBytes)
    refuse_model(path, fmt::format("it has {} bytes, allowed are up to {} ({} MiB)", state.bytes,
                                   kMaxModelBytes, kMaxModelBytes >> 20));
  return state;
}

std::shared_ptr<LoadedModel> read_model(const std::string& path, std::uintmax_t bytes) {
  auto model = std::make_shared<LoadedModel>();
  model->path = path;
  model->bytes.resize(static_cast<std::size_t>(bytes));
  std::ifstream file(path, std::ios::binary);
  if (!file.read(model->bytes.data(), static_cast<std::streamsize>(bytes)))
    refuse_model(path, "it cannot be read", ExitCode::Io);
  try {
    model->onnx = read_onnx(model->bytes);
  } catch (const Error& error) {
    refuse_model(path, error.what());
  }
  model->sha256 = sha256(model->bytes);
  return model;
}

/// "opencv 4.6.0"
std::string engine_name(const contorno_engine_facts& engine) {
  return fmt::format("{} {}", printable(engine.name), printable(engine.version));
}

class ModelCheck {
 public:
  ModelCheck(const LoadedModel& model, const contorno_engine_facts& engine)
      : path_(model.path),
        onnx_(model.onnx),
        engine_(engine),
        tried_(engine.tried, engine.tried + engine.tried_count) {}

  void check() const {
    check_opset();
    if (onnx_.has_functions)
      refuse("it has functions of its own, allowed are operators of ONNX; export it without");
    if (!onnx_.outside_weights.empty())
      refuse(fmt::format("the weight '{}' lies in another file; save the model as one file",
                         printable(onnx_.outside_weights)));
    if (!onnx_.half_weights.empty())
      refuse(fmt::format("the weight '{}' has 16 bits, allowed are 32; export the model as float32",
                         printable(onnx_.half_weights)));
    for (const OnnxNode& node : onnx_.nodes) check_node(node);
    check_ends();
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { refuse_model(path_, why); }

  void check_opset() const {
    int first = 10'000, last = 0;
    for (const contorno_engine_tried& one : tried_)
      first = std::min(first, one.first_opset), last = std::max(last, one.last_opset);
    if (onnx_.opset < first || onnx_.opset > last)
      refuse(fmt::format("its opset is {}, tried with {} are {} to {}; export it with opset_version={}",
                         onnx_.opset, engine_name(engine_), first, last, std::min(17, last)));
  }
  void check_node(const OnnxNode& node) const {
    if (!node.domain.empty())
      refuse(fmt::format("{}: it is an operator of '{}', allowed are those of ONNX", node.description(),
                         printable(node.domain)));
    if (node.has_graph)
      refuse(fmt::format(
          "{}: it has a graph inside, which is not supported; export the model without branches and loops",
          node.description()));
    if (node.op == "Constant") return;  // a part of the model, as a weight
    const auto fits = [&](const contorno_engine_tried& one) {
      return node.op == one.op && (one.form == nullptr || node.form == one.form) &&
             onnx_.opset >= one.first_opset && onnx_.opset <= one.last_opset;
    };
    const auto found = std::ranges::find_if(tried_, fits);
    if (found == tried_.end())
      refuse(fmt::format(
          "{}: an operator of this form, in opset {}, is not among those that were tried with {}; export the "
          "model without it, or take another engine",
          node.description(), onnx_.opset, engine_name(engine_)));
    if (found->wrong != nullptr)
      refuse(fmt::format("{}: with {} {}", node.description(), engine_name(engine_),
                         printable_sentence(found->wrong)));
  }
  void check_ends() const {
    if (onnx_.inputs.size() != 1 || onnx_.outputs.size() != 1)
      refuse(fmt::format("it has {} inputs and {} outputs, allowed is one of each", onnx_.inputs.size(),
                         onnx_.outputs.size()));
    for (const OnnxValue* end : {&onnx_.inputs[0], &onnx_.outputs[0]}) {
      const char* const what = end == &onnx_.inputs[0] ? "input" : "output";
      if (end->type != OnnxModel::kFloat32)
        refuse(fmt::format("its {} '{}' is {}, allowed is float32", what, printable(end->name),
                           onnx_type_name(end->type)));
      if (!end->has_sides)
        refuse(fmt::format("its {} '{}' says nothing of its shape; run onnx.shape_inference on the model",
                           what, printable(end->name)));
      if (end->sides.size() != 4)
        refuse(fmt::format("its {} '{}' has {} sides, allowed are 4: one image, channels, height and width",
                           what, printable(end->name), end->sides.size()));
      if (end->sides[0] != 1 && end->sides[0] != OnnxValue::kAnySide)
        refuse(fmt::format("its {} '{}' takes {} images at a time, allowed is one", what,
                           printable(end->name), end->sides[0]));
    }
  }

  const std::string& path_;
  const OnnxModel& onnx_;
  const contorno_engine_facts& engine_;
  std::vector<contorno_engine_tried> tried_;
};

struct Used {
  std::mutex mutex;
  std::vector<NetworkUsed> networks;
};
Used& used_networks() {
  static Used used;
  return used;
}

}  // namespace

std::string model_name(const std::string& path) {
  return fmt::format("model '{}'", printable(path, 200));
}

std::shared_ptr<LoadedModel> load_model(const std::string& path) {
  struct Known {
    FileState state;
    std::weak_ptr<LoadedModel> model;
  };
  static std::mutex mutex;
  static std::map<std::string, Known> models;
  const FileState state = state_of(path);
  const std::lock_guard lock(mutex);
  Known& known = models[path];
  if (auto model = known.model.lock(); model && known.state == state) return model;
  auto model = read_model(path, state.bytes);
  known = {state, model};
  return model;
}

std::string check_file_of(const std::string& model_path) {
  return fs::path(model_path).replace_extension(".check.npz").string();
}

void check_model(const LoadedModel& model, const contorno_engine_facts& engine) {
  ModelCheck(model, engine).check();
}

std::vector<NetworkUsed> networks_used() {
  const std::lock_guard lock(used_networks().mutex);
  return used_networks().networks;
}

void note_network(const NetworkUsed& used) {
  const std::lock_guard lock(used_networks().mutex);
  std::vector<NetworkUsed>& all = used_networks().networks;
  if (std::ranges::find(all, used) == all.end()) all.push_back(used);
}

}  // namespace contorno
