#include "stages/network/onnx.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "pipeline/shared/printable.h"
#include "stages/network/onnx_forms.h"
#include "stages/network/wire.h"

namespace contorno {
namespace {
using Kind = WireMessage::Kind;

[[noreturn]] void refuse_onnx(const std::string& why) {
  throw Error(ExitCode::BadData, why);
}

/// The one message at `field` of another; empty: it is not there. Of several the last, as Protocol Buffers
/// have it.
std::string_view field_of(std::string_view message, int field) {
  std::string_view found;
  for (WireMessage reader(message); reader.next();)
    if (reader.is(field, Kind::Bytes)) found = reader.bytes();
  return found;
}

/// TypeProto.Tensor
void read_tensor_type(std::string_view message, OnnxValue& value) {
  for (WireMessage type(message); type.next();) {
    if (type.is(1, Kind::Varint)) value.type = type.number();
    if (!type.is(2, Kind::Bytes)) continue;
    value.has_sides = true;
    for (WireMessage shape(type.bytes()); shape.next();) {
      if (!shape.is(1, Kind::Bytes)) continue;
      std::int64_t side = OnnxValue::kAnySide;
      for (WireMessage one(shape.bytes()); one.next();)
        if (one.is(1, Kind::Varint)) side = one.number();
      if (value.sides.size() == kMaxOnnxSides) refuse_onnx("a tensor has too many sides");
      value.sides.push_back(side < 1 ? OnnxValue::kAnySide : side);
    }
  }
}

OnnxValue read_value(std::string_view message) {
  OnnxValue value;
  for (WireMessage reader(message); reader.next();) {
    if (reader.is(1, Kind::Bytes)) value.name = reader.bytes();
    if (reader.is(2, Kind::Bytes)) read_tensor_type(field_of(reader.bytes(), 1), value);
  }
  return value;
}

class GraphReader {
 public:
  GraphReader(std::string_view graph, OnnxModel& model) : graph_(graph), model_(model) {}

  void read() {
    read_constants();
    for (WireMessage reader(graph_); reader.next();) {
      if (reader.is(1, Kind::Bytes)) add_node(reader.bytes());
      if (reader.is(11, Kind::Bytes)) add_input(read_value(reader.bytes()));
      if (reader.is(12, Kind::Bytes)) model_.outputs.push_back(read_value(reader.bytes()));
    }
  }

 private:
  /// Weights, and what nodes called Constant make; they may stand behind the nodes that take them.
  void read_constants() {
    for (WireMessage reader(graph_); reader.next();) {
      if (reader.is(5, Kind::Bytes)) add_weight(reader.bytes());
      if (reader.is(15, Kind::Bytes)) refuse_onnx("it has sparse weights, allowed are dense ones");
      if (!reader.is(1, Kind::Bytes)) continue;
      const OnnxNodeFields node = read_node_fields(reader.bytes());
      if (node.op != "Constant" || node.outputs.empty()) continue;
      const std::string_view tensor = node.attributes.tensor("value");
      constants_[std::string(node.outputs[0])] = tensor.empty() ? OnnxConstant{} : read_constant(tensor);
    }
  }
  void add_weight(std::string_view message) {
    OnnxConstant weight = read_constant(message);
    const std::string name(weight.name);
    if (weight.outside) model_.outside_weights = name;
    note_type(weight.type, name);
    constants_[name] = std::move(weight);
  }
  void note_type(std::int64_t type, const std::string& name) {
    if (type == OnnxModel::kFloat16 || type == OnnxModel::kBfloat16) model_.half_weights = name;
  }
  void add_input(OnnxValue value) {
    // Before IR version 4 weights are listed as inputs, too.
    if (!constants_.contains(value.name)) model_.inputs.push_back(std::move(value));
  }
  void add_node(std::string_view message) {
    if (model_.nodes.size() == kMaxOnnxNodes)
      refuse_onnx(fmt::format("it has more than {} nodes, the most that are allowed", kMaxOnnxNodes));
    const OnnxNodeFields fields = read_node_fields(message);
    model_.nodes.push_back({.name = std::string(fields.name.empty() ? fields.first_output() : fields.name),
                            .op = std::string(fields.op),
                            .domain = std::string(fields.domain == "ai.onnx" ? "" : fields.domain),
                            .form = form_of(fields, model_.opset, constants_),
                            .has_graph = fields.attributes.has_graph});
  }

  std::string_view graph_;
  OnnxModel& model_;
  OnnxConstants constants_;
};

}  // namespace

std::string OnnxNode::description() const {
  return fmt::format("node '{}' ({}{})", printable(name), printable(op),
                     form.empty() ? std::string() : ", " + printable(form));
}

OnnxModel read_onnx(std::string_view file) {
  OnnxModel model;
  std::string_view graph;
  for (WireMessage reader(file); reader.next();) {
    if (reader.is(1, Kind::Varint)) model.ir_version = reader.number();
    if (reader.is(2, Kind::Bytes)) model.producer = reader.bytes();
    if (reader.is(7, Kind::Bytes)) graph = reader.bytes();
    if (reader.is(25, Kind::Bytes)) model.has_functions = true;
    if (!reader.is(8, Kind::Bytes)) continue;
    const std::string_view domain = field_of(reader.bytes(), 1);
    std::int64_t version = 0;
    for (WireMessage one(reader.bytes()); one.next();)
      if (one.is(2, Kind::Varint)) version = one.number();
    if (domain.empty() || domain == "ai.onnx")
      model.opset = static_cast<int>(version < 0 || version > 10'000 ? 0 : version);
  }
  if (graph.empty() || model.ir_version == 0)
    refuse_onnx("it is damaged, or no ONNX file: there is no graph in it");
  GraphReader(graph, model).read();
  return model;
}

std::string onnx_type_name(std::int64_t type) {
  constexpr std::array kNames{"undefined", "float32", "uint8",     "int8",       "uint16",  "int16",
                              "int32",     "int64",   "text",      "bool",       "float16", "float64",
                              "uint32",    "uint64",  "complex64", "complex128", "bfloat16"};
  if (type >= 0 && type < static_cast<std::int64_t>(kNames.size()))
    return kNames[static_cast<std::size_t>(type)];
  return fmt::format("type {}", type);
}

}  // namespace contorno
