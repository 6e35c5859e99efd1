// The form of a node: what of its attributes and constant inputs decides whether an engine computes it right.
// The forms are those of the table in docs/reference/network.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace contorno {

/// A tensor that a model contains: of short ones, as scales and paddings are, the numbers.
struct OnnxConstant {
  static constexpr std::size_t kMostNumbers = 16;
  std::string_view name;
  std::int64_t type = 0;
  bool outside = false;         ///< its numbers lie in another file
  std::size_t count = 0;        ///< how many numbers the tensor has
  std::vector<double> numbers;  ///< none where there are more than kMostNumbers
};
OnnxConstant read_constant(std::string_view tensor);
using OnnxConstants = std::map<std::string, OnnxConstant, std::less<>>;

/// The attributes of a node; views of the file.
struct OnnxAttributes {
  std::map<std::string_view, std::int64_t> integers;
  std::map<std::string_view, std::string_view> texts, tensors;
  std::map<std::string_view, std::vector<std::int64_t>> lists;
  bool has_graph = false;

  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  std::string_view text(std::string_view name, std::string_view otherwise) const;
  std::string_view tensor(std::string_view name) const;
  bool has_list(std::string_view name) const { return lists.contains(name); }
  /// Whether a number of a list is another one than `usual`.
  bool has_other_than(std::string_view name, std::int64_t usual) const;
};

struct OnnxNodeFields {
  std::string_view name, op, domain;
  std::vector<std::string_view> inputs, outputs;
  OnnxAttributes attributes;
  std::string_view first_output() const { return outputs.empty() ? std::string_view() : outputs[0]; }
};
/// NodeProto
OnnxNodeFields read_node_fields(std::string_view message);

/// Words with commas between, in a fixed order; empty: nothing is special about the node.
std::string form_of(const OnnxNodeFields& node, int opset, const OnnxConstants& constants);

}  // namespace contorno
