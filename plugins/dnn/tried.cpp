// Found by tests/stages/network/operators_test.py, which runs a model for each entry through OpenCV 4.6 and
// through ONNX Runtime: right is what differs by less than 1e-5.
#include "plugins/dnn/tried.h"

#include "plugins/shared/engine_tried.h"

namespace contorno {
namespace {

constexpr const char* kConstantBounds =
    "it is refused; export with an opset below 11, or leave it out: a ReLU without a bound works as well";
constexpr const char* kConstantLimit =
    "it is refused where one of its inputs is a constant; write it as a Relu of a difference";
constexpr const char* kFraction =
    "scales that are no whole numbers give maps that are off by as much as 1.3; export with sizes, or with "
    "scales that are whole";
constexpr const char* kComputed =
    "a shape that is computed is refused; export the model for inputs of a fixed size";
constexpr const char* kQuantized =
    "it gives other numbers, or is refused; export the model before it is quantized, as float32";
constexpr const char* kOldSoftmax =
    "it is computed over another axis below opset 13; export with opset_version=13 or later, or leave it out "
    "and say "
    "output: logits with activation: softmax";
constexpr const char* kLogarithm =
    "it is wrong in some opsets; leave it out, and say output: logits with activation: softmax";
constexpr const char* kNotThere = "it is refused; export the model without it, or take another engine";
constexpr const char* kAxesInput =
    "its axes are not read from opset 18 on, and it reduces all; export with opset_version=17 or before";

constexpr contorno_engine_tried kTried[] = {
    right("Conv"),
    right("Conv", "same_upper"),
    wrong("Conv", "same_lower",
          "with strides it pads on the wrong side, off by as much as 6.7; export with explicit pads"),
    right("ConvTranspose"),
    right("ConvTranspose", "grouped"),
    right("Relu"),
    right("LeakyRelu"),
    right("PRelu"),
    right("Elu"),
    right("Selu"),
    right("Sigmoid"),
    right("Tanh"),
    right("Softplus"),
    right("HardSigmoid"),
    right("HardSwish", "", 14),
    right("Mish", "", 18),
    right("Exp"),
    right("Abs"),
    right("Neg"),
    right("Erf"),
    right("Floor"),
    wrong("Gelu", nullptr, kNotThere),
    right("Identity"),
    right("Dropout"),
    right("Softmax", "", 13),
    wrong("Softmax", nullptr, kOldSoftmax),
    wrong("LogSoftmax", nullptr, kLogarithm),
    right("Add"),
    right("Add", "constant"),
    right("Sub"),
    right("Sub", "constant"),
    right("Mul"),
    right("Mul", "constant"),
    right("Div"),
    right("Div", "constant"),
    right("Pow", "constant"),
    right("Max"),
    right("Min"),
    wrong("Max", nullptr, kConstantLimit),
    wrong("Min", nullptr, kConstantLimit),
    right("Clip", "attributes", kFirstOpset, 10),
    wrong("Clip", nullptr, kConstantBounds),
    right("Add", "constant_first"),
    right("Sub", "constant_first"),
    right("Mul", "constant_first"),
    right("Div", "constant_first"),
    right("Concat"),
    right("Concat", "other_axis"),
    right("BatchNormalization"),
    wrong("InstanceNormalization", nullptr, kNotThere),
    wrong("LayerNormalization", nullptr, kNotThere),
    wrong("GroupNormalization", nullptr, kNotThere),
    right("MaxPool"),
    right("MaxPool", "ceil", 10),
    right("AveragePool"),
    right("AveragePool", "padded"),
    wrong("AveragePool", "counted",
          "count_include_pad is not heeded, off by as much as 0.23; export with count_include_pad=False"),
    right("GlobalAveragePool"),
    right("GlobalMaxPool"),
    right("Resize", "nearest,asymmetric,floor,whole", 11),
    right("Resize", "nearest,asymmetric,round_prefer_floor,whole", 11),
    right("Resize", "nearest,half_pixel,round_prefer_floor,whole", 11),
    right("Resize", "nearest,asymmetric,floor,sizes", 11),
    wrong("Resize", "nearest,half_pixel,round_prefer_floor,sizes",
          "samples are taken from other places, off by as much as 3.3; export with "
          "coordinate_transformation_mode asymmetric",
          11),
    right("Resize", "linear,half_pixel,whole", 11),
    right("Resize", "linear,pytorch_half_pixel,whole", 11),
    right("Resize", "linear,align_corners,whole", 11),
    right("Resize", "linear,asymmetric,whole", 11),
    right("Resize", "linear,half_pixel,sizes", 11),
    right("Resize", "linear,pytorch_half_pixel,sizes", 11),
    right("Resize", "linear,align_corners,sizes", 11),
    right("Resize", "linear,asymmetric,sizes", 11),
    right("Resize", "nearest,asymmetric,whole", 10, 10),
    wrong("Resize", "linear,asymmetric,whole",
          "it is refused below opset 11; export with opset_version=11 or later", 10, 10),
    wrong("Resize", "nearest,asymmetric,floor,fraction", kFraction),
    wrong("Resize", "linear,half_pixel,fraction", kFraction),
    wrong("Resize", "linear,pytorch_half_pixel,fraction", kFraction),
    wrong("Resize", "linear,align_corners,fraction", kFraction),
    wrong("Resize", "cubic,half_pixel,whole", "cubic interpolation is refused; take linear"),
    right("Upsample", "nearest", 9, 9),
    wrong("Upsample", "linear", "it is refused; export with opset_version=11 or later", 9, 9),
    right("Pad", "constant", 11),
    right("Pad", "reflect", 11),
    right("Pad", "edge", 11),
    right("ReduceMean", "", kFirstOpset, 17),
    right("ReduceMean", "sides_removed", kFirstOpset, 17),
    wrong("ReduceMean", nullptr, kAxesInput, 18),
    right("ReduceMax", "", kFirstOpset, 17),
    wrong("ReduceMax", nullptr, kAxesInput, 18),
    right("ReduceSum", "", kFirstOpset, 12),
    wrong("ReduceSum", "", "it is refused from opset 13 on; export with opset_version=12 or before", 13),
    right("Reshape"),
    right("Transpose"),
    right("Slice", "", 10),
    right("Split", "", kFirstOpset, 12),
    wrong("Split", "", "it is refused from opset 13 on; export with opset_version=12 or before, or slice",
          13),
    right("DepthToSpace"),
    right("MatMul"),
    wrong("Reshape", "computed", kComputed),
    wrong("Slice", "computed", kComputed),
    wrong("Shape", nullptr, kComputed),
    wrong("QuantizeLinear", nullptr, kQuantized),
    wrong("DequantizeLinear", nullptr, kQuantized),
    wrong("Cast", nullptr, kNotThere),
    wrong("Einsum", nullptr, kNotThere),
    wrong("GridSample", nullptr, kNotThere),
};

}  // namespace

std::span<const contorno_engine_tried> opencv_tried() {
  return kTried;
}

}  // namespace contorno
