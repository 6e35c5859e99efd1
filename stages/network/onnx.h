// What has to be known of a model in ONNX's format before an engine is given it: operators in their forms,
// opset, tensors that come in and go out (ONNX IR, onnx.proto). Weights are not read, but for the few numbers
// that say how an operator works.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace contorno {

/// A node of a graph; `form` tells apart what engines compute differently (docs/reference/network.md).
struct OnnxNode {
  std::string name, op, domain, form;
  bool has_graph = false;  ///< a graph inside, as If and Loop have
  /// "node 'up1' (Resize, linear,half_pixel,whole)"
  std::string description() const;
};

/// A tensor that comes in or goes out. A side that is not fixed is kAnySide.
struct OnnxValue {
  static constexpr std::int64_t kAnySide = -1;
  std::string name;
  std::int64_t type = 0;  ///< TensorProto.DataType
  bool has_sides = false;
  std::vector<std::int64_t> sides;
};

struct OnnxModel {
  static constexpr std::int64_t kFloat32 = 1, kFloat16 = 10, kBfloat16 = 16;

  std::int64_t ir_version = 0;
  int opset = 0;  ///< of ONNX's own domain; 0: none
  std::string producer;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxValue> inputs, outputs;  ///< inputs without weights
  std::string half_weights;                ///< a weight of 16 bits; empty: there is none
  std::string outside_weights;             ///< a weight that lies in another file; empty: there is none
  bool has_functions = false;
};

/// The most nodes of a model, and sides of a tensor.
inline constexpr std::size_t kMaxOnnxNodes = 100'000, kMaxOnnxSides = 16;

/// Reads a file that is in memory. Throws Error(BadData), "it is damaged ...", for what is no model, or has
/// more than it may. Takes memory for names and nodes, never more than a few times the file.
OnnxModel read_onnx(std::string_view file);

/// "float32", for messages.
std::string onnx_type_name(std::int64_t type);

}  // namespace contorno
