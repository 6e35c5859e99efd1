#include "stages/network/onnx_forms.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "stages/network/wire.h"

namespace contorno {
namespace {
using Kind = WireMessage::Kind;

constexpr std::int64_t kFloat = 1, kInt64 = 7;
constexpr std::size_t kMostInputs = 4096;

/// Numbers that lie one after the other in raw_data, little-endian.
template <class T>
void add_raw(std::string_view raw, OnnxConstant& to) {
  to.count = raw.size() / sizeof(T);
  if (to.count > OnnxConstant::kMostNumbers) return;
  for (std::size_t i = 0; i < to.count; ++i) {
    T one;
    std::memcpy(&one, raw.data() + i * sizeof(T), sizeof(T));
    to.numbers.push_back(static_cast<double>(one));
  }
}

void add_number(double number, OnnxConstant& to) {
  if (++to.count <= OnnxConstant::kMostNumbers) to.numbers.push_back(number);
}

/// float_data (4) or int64_data (7), packed or one by one.
void add_typed(const WireMessage& field, OnnxConstant& to) {
  if (field.is(4, Kind::Fixed32)) add_number(static_cast<double>(field.single()), to);
  if (field.is(4, Kind::Bytes)) add_raw<float>(field.bytes(), to);
  if (field.is(7, Kind::Varint)) add_number(static_cast<double>(field.number()), to);
  if (!field.is(7, Kind::Bytes)) return;
  WireMessage list(field.bytes());
  for (std::int64_t one = 0; list.next_packed(one);) add_number(static_cast<double>(one), to);
}

void read_attribute(std::string_view message, OnnxAttributes& all) {
  std::string_view name;
  std::vector<std::int64_t> list;
  bool has_list = false;
  for (WireMessage reader(message); reader.next();)
    if (reader.is(1, Kind::Bytes)) name = reader.bytes();
  for (WireMessage reader(message); reader.next();) {
    if (reader.is(3, Kind::Varint)) all.integers[name] = reader.number();
    if (reader.is(4, Kind::Bytes)) all.texts[name] = reader.bytes();
    if (reader.is(5, Kind::Bytes)) all.tensors[name] = reader.bytes();
    if (reader.is(6, Kind::Bytes) || reader.is(11, Kind::Bytes)) all.has_graph = true;
    if (reader.is(8, Kind::Varint)) list.push_back(reader.number()), has_list = true;
    if (reader.is(8, Kind::Bytes)) {
      has_list = true;
      WireMessage packed(reader.bytes());
      for (std::int64_t one = 0; packed.next_packed(one) && list.size() < kMostInputs;) list.push_back(one);
    }
    if (list.size() >= kMostInputs) WireMessage::damaged("an attribute is a list of too many numbers");
  }
  if (has_list) all.lists[name] = std::move(list);
}

/// Words of a form.
class Words {
 public:
  Words& add(std::string_view word) {
    if (!text_.empty()) text_ += ',';
    for (const char c : word) text_ += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return *this;
  }
  Words& add_if(bool so, std::string_view word) { return so ? add(word) : *this; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class FormMaker {
 public:
  FormMaker(const OnnxNodeFields& node, int opset, const OnnxConstants& constants)
      : node_(node), at_(node.attributes), opset_(opset), constants_(constants) {}

  std::string make() {
    const std::string_view op = node_.op;
    if (op == "Resize") return resize();
    if (op == "Upsample") return Words().add(at_.text("mode", "nearest")).take();
    if (op == "Conv" || op == "ConvTranspose" || op == "MaxPool" || op == "AveragePool") return window();
    if (op == "Add" || op == "Sub" || op == "Mul" || op == "Div" || op == "Min" || op == "Max" || op == "Pow")
      return arithmetic();
    if (op == "Clip")
      return has_input(1) || has_input(2) ? (all_constant(1) ? "constant" : "computed") : "attributes";
    if (op == "Pad")
      return Words().add(at_.text("mode", "constant")).add_if(!all_constant(1), "computed").take();
    if (op == "BatchNormalization") return at_.integer("training_mode", 0) != 0 ? "training" : "";
    if (op == "Concat")
      return at_.integer("axis", 1) == 1 || at_.integer("axis", 1) == -3 ? "" : "other_axis";
    if (op == "Reshape" || op == "Slice" || op == "Split") return all_constant(1) ? "" : "computed";
    if (op.starts_with("Reduce"))
      return Words()
          .add_if(at_.integer("keepdims", 1) == 0, "sides_removed")
          .add_if(!all_constant(1), "computed")
          .take();
    return {};
  }

 private:
  bool has_input(std::size_t index) const {
    return index < node_.inputs.size() && !node_.inputs[index].empty();
  }
  const OnnxConstant* constant(std::size_t index) const {
    if (!has_input(index)) return nullptr;
    const auto found = constants_.find(node_.inputs[index]);
    return found == constants_.end() ? nullptr : &found->second;
  }
  /// Whether the inputs from `first` on that are there are part of the model.
  bool all_constant(std::size_t first) const {
    for (std::size_t i = first; i < node_.inputs.size(); ++i)
      if (has_input(i) && constant(i) == nullptr) return false;
    return true;
  }
  bool has_numbers(std::size_t index) const {
    const OnnxConstant* const found = constant(index);
    return found != nullptr && found->count > 0;
  }

  std::string arithmetic() const {
    if (constant(0) != nullptr) return "constant_first";
    for (std::size_t i = 1; i < node_.inputs.size(); ++i)
      if (constant(i) != nullptr) return "constant";
    return {};
  }
  std::string window() const {
    const std::string_view pad = at_.text("auto_pad", "NOTSET");
    const bool pool = node_.op == "AveragePool" || node_.op == "MaxPool", average = node_.op == "AveragePool";
    const bool padded = at_.has_other_than("pads", 0);
    const bool transposed = node_.op == "ConvTranspose";
    return Words()
        .add_if(pad != "NOTSET" && pad != "VALID", pad)
        .add_if(average && padded, at_.integer("count_include_pad", 0) != 0 ? "counted" : "padded")
        .add_if(pool && at_.integer("ceil_mode", 0) != 0, "ceil")
        .add_if((pool || transposed) && at_.has_other_than("dilations", 1), "dilated")
        .add_if(transposed && at_.integer("group", 1) != 1, "grouped")
        .add_if(transposed && at_.has_list("output_shape"), "output_shape")
        .add_if(node_.op == "MaxPool" && node_.outputs.size() > 1, "indices")
        .take();
  }
  std::string_view scaling() const {
    const std::size_t scales = opset_ >= 11 ? 2 : 1;
    if (has_numbers(3)) return "sizes";
    if (!has_numbers(scales) || has_input(3)) return "computed";
    const std::vector<double>& all = constant(scales)->numbers;
    const bool whole =
        std::ranges::all_of(all, [](double scale) { return scale >= 1 && scale == std::floor(scale); });
    return whole ? "whole" : "fraction";
  }
  std::string resize() const {
    const std::string_view mode = at_.text("mode", "nearest");
    const std::string_view usual = opset_ >= 11 ? "half_pixel" : "asymmetric";
    return Words()
        .add(mode)
        .add(at_.text("coordinate_transformation_mode", usual))
        .add_if(opset_ >= 11 && mode == "nearest", at_.text("nearest_mode", "round_prefer_floor"))
        .add(scaling())
        .add_if(at_.integer("antialias", 0) != 0, "antialias")
        .add_if(at_.has_list("axes"), "axes")
        .take();
  }

  const OnnxNodeFields& node_;
  const OnnxAttributes& at_;
  int opset_;
  const OnnxConstants& constants_;
};

}  // namespace

OnnxConstant read_constant(std::string_view tensor) {
  OnnxConstant constant;
  std::string_view raw;
  for (WireMessage reader(tensor); reader.next();) {
    if (reader.is(2, Kind::Varint)) constant.type = reader.number();
    if (reader.is(8, Kind::Bytes)) constant.name = reader.bytes();
    if (reader.is(9, Kind::Bytes)) raw = reader.bytes();
    if (reader.is(13, Kind::Bytes) || (reader.is(14, Kind::Varint) && reader.number() != 0))
      constant.outside = true;
    add_typed(reader, constant);
  }
  if (!raw.empty() && constant.type == kFloat) add_raw<float>(raw, constant);
  if (!raw.empty() && constant.type == kInt64) add_raw<std::int64_t>(raw, constant);
  return constant;
}

std::int64_t OnnxAttributes::integer(std::string_view name, std::int64_t otherwise) const {
  const auto found = integers.find(name);
  return found == integers.end() ? otherwise : found->second;
}
std::string_view OnnxAttributes::text(std::string_view name, std::string_view otherwise) const {
  const auto found = texts.find(name);
  return found == texts.end() ? otherwise : found->second;
}
std::string_view OnnxAttributes::tensor(std::string_view name) const {
  const auto found = tensors.find(name);
  return found == tensors.end() ? std::string_view() : found->second;
}
bool OnnxAttributes::has_other_than(std::string_view name, std::int64_t usual) const {
  const auto found = lists.find(name);
  return found != lists.end() &&
         std::ranges::any_of(found->second, [&](std::int64_t one) { return one != usual; });
}

OnnxNodeFields read_node_fields(std::string_view message) {
  OnnxNodeFields node;
  for (WireMessage reader(message); reader.next();) {
    if (reader.is(1, Kind::Bytes)) node.inputs.push_back(reader.bytes());
    if (reader.is(2, Kind::Bytes)) node.outputs.push_back(reader.bytes());
    if (reader.is(3, Kind::Bytes)) node.name = reader.bytes();
    if (reader.is(4, Kind::Bytes)) node.op = reader.bytes();
    if (reader.is(5, Kind::Bytes)) read_attribute(reader.bytes(), node.attributes);
    if (reader.is(7, Kind::Bytes)) node.domain = reader.bytes();
    if (node.inputs.size() > kMostInputs || node.outputs.size() > kMostInputs)
      WireMessage::damaged("a node has too many inputs or outputs");
  }
  return node;
}

std::string form_of(const OnnxNodeFields& node, int opset, const OnnxConstants& constants) {
  return FormMaker(node, opset, constants).make();
}

}  // namespace contorno
