"""Small models, one for an operator in each form that segmentation networks use it in, made by python3-onnx.

Each takes an image of 1 x 3 x 12 x 16 samples and gives maps of that size; behind an operator that gives another one stands a
convolution that brings it back. `all_models(opset)` yields their names and the models; names are those that
`contorno_engine_tried` has: "Resize(linear,half_pixel,whole)".
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

HEIGHT, WIDTH, CHANNELS = 12, 16, 3


def constant(name, values, kind=np.float32):
    return numpy_helper.from_array(np.asarray(values, dtype=kind), name)


def weights(*shape, seed=0, scale=0.5):
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def model_of(nodes, constants, opset, out=(1, CHANNELS, HEIGHT, WIDTH), given=(1, CHANNELS, HEIGHT, WIDTH), kind=TensorProto.FLOAT):
    """`nodes` lead from "image" to "maps"."""
    if len(out) == 4 and given == (1, CHANNELS, HEIGHT, WIDTH) and tuple(out[2:]) != (HEIGHT, WIDTH):
        out = brought_back(nodes, constants, out)
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("image", kind, given)],
                              [helper.make_tensor_value_info("maps", kind, out)], constants)
    model = helper.make_model(graph, producer_name="contorno-tests", opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 7 if opset <= 14 else 8
    return model


def brought_back(nodes, constants, out):
    """Adds what makes maps of HEIGHT x WIDTH of those of another size."""
    for node in nodes:
        node.output[:] = ["other" if name == "maps" else name for name in node.output]
    larger = out[2] >= HEIGHT and out[3] >= WIDTH
    size = [out[2] - HEIGHT + 1, out[3] - WIDTH + 1] if larger else [HEIGHT - out[2] + 1, WIDTH - out[3] + 1]
    shape = (3, out[1], *size) if larger else (out[1], 3, *size)
    constants.append(constant("w_back", weights(*shape, seed=9, scale=0.1)))
    nodes.append(helper.make_node("Conv" if larger else "ConvTranspose", ["other", "w_back"], ["maps"], name="back", kernel_shape=size))
    return (1, 3, HEIGHT, WIDTH)


def one(op, opset, constants=(), inputs=(), outputs=("maps",), out=(1, CHANNELS, HEIGHT, WIDTH), **attributes):
    """A model of one node behind a convolution, whose output is not all of one sign."""
    first = helper.make_node("Conv", ["image", "first"], ["x"], name="first", kernel_shape=[1, 1])
    node = helper.make_node(op, ["x", *inputs], list(outputs), name="node", **attributes)
    return model_of([first, node], [constant("first", weights(CHANNELS, CHANNELS, 1, 1)), *constants], opset, out)


def unary(op, **attributes):
    return lambda opset: one(op, opset, **attributes)


def with_constant(op, values):
    return lambda opset: one(op, opset, [constant("c", values)], ["c"])


def between(op):
    """Of two values that both come from the image."""
    def make(opset):
        nodes = [helper.make_node("Conv", ["image", "a"], ["x"], name="a", kernel_shape=[1, 1]),
                 helper.make_node("Conv", ["image", "b"], ["y"], name="b", kernel_shape=[1, 1]),
                 helper.make_node(op, ["x", "y"], ["maps"], name="node")]
        return model_of(nodes, [constant("a", weights(3, 3, 1, 1)), constant("b", weights(3, 3, 1, 1, seed=1))], opset)
    return make


def constant_before(op):
    """A constant and an image, as in 1 - x."""
    def make(opset):
        nodes = [helper.make_node("Sigmoid", ["image"], ["x"], name="first"), helper.make_node(op, ["c", "x"], ["maps"], name="node")]
        return model_of(nodes, [constant("c", 1.0)], opset)
    return make


def concat_rows(opset):
    nodes = [helper.make_node("Relu", ["image"], ["x"], name="a"), helper.make_node("Concat", ["x", "image"], ["maps"], name="node", axis=2)]
    return model_of(nodes, [], opset, (1, 3, 2 * HEIGHT, WIDTH))


def grouped_transpose(opset):
    parts = [constant("w", weights(3, 1, 2, 2)), constant("b", weights(3))]
    return one("ConvTranspose", opset, parts, ["w", "b"], out=DOUBLED, kernel_shape=[2, 2], strides=[2, 2], group=3)


def reduced_away(opset):
    nodes = [helper.make_node("ReduceMean", ["image"], ["x"], name="node", axes=[1], keepdims=0),
             helper.make_node("Reshape", ["x", "s"], ["maps"], name="reshape")]
    return model_of(nodes, [constant("s", [1, 1, HEIGHT, WIDTH], np.int64)], opset, (1, 1, HEIGHT, WIDTH))


def concat(opset):
    nodes = [helper.make_node("Conv", ["image", "a"], ["x"], name="a", kernel_shape=[1, 1]),
             helper.make_node("Concat", ["x", "image"], ["maps"], name="node", axis=1)]
    return model_of(nodes, [constant("a", weights(3, 3, 1, 1))], opset, (1, 6, HEIGHT, WIDTH))


def conv(**attributes):
    group = attributes.get("group", 1)
    size = attributes["kernel_shape"][0]
    out = attributes.pop("out", (1, CHANNELS, HEIGHT, WIDTH))
    return lambda opset: one("Conv", opset, [constant("w", weights(3, 3 // group, size, size)), constant("b", weights(3))], ["w", "b"],
                             out=out, **attributes)


def conv_transpose(**attributes):
    out = attributes.pop("out", (1, 3, 2 * HEIGHT, 2 * WIDTH))
    size = attributes["kernel_shape"][0]
    return lambda opset: one("ConvTranspose", opset, [constant("w", weights(3, 3, size, size)), constant("b", weights(3))], ["w", "b"], out=out,
                             **attributes)


def batch_normalization(opset):
    parts = [constant("g", abs(weights(3)) + 0.5), constant("b", weights(3)), constant("m", weights(3)), constant("v", abs(weights(3)) + 0.5)]
    return one("BatchNormalization", opset, parts, ["g", "b", "m", "v"])


def instance_normalization(opset):
    return one("InstanceNormalization", opset, [constant("g", weights(3)), constant("b", weights(3))], ["g", "b"])


def resize(mode, coordinates, scales=None, sizes=None, nearest=None):
    """Behind opset 10 only: before, scales are the second input."""
    def make(opset):
        attributes = {"mode": mode}
        if opset >= 11:
            attributes["coordinate_transformation_mode"] = coordinates
            if nearest:
                attributes["nearest_mode"] = nearest
        out = sizes or [int(np.floor(side * scale)) for side, scale in zip((1, 3, HEIGHT, WIDTH), scales)]
        if opset < 11:
            return one("Resize", opset, [constant("s", scales)], ["s"], out=out, **attributes)
        parts = [constant("roi", []), constant("s", scales or [])]
        names = ["roi", "s"]
        if sizes:
            parts.append(constant("sizes", sizes, np.int64))
            names.append("sizes")
        return one("Resize", opset, parts, names, out=out, **attributes)
    return make


def upsample(mode):
    return lambda opset: one("Upsample", opset, [constant("s", [1, 1, 2, 2])], ["s"], out=(1, 3, 2 * HEIGHT, 2 * WIDTH), mode=mode)


def pad(mode):
    return lambda opset: one("Pad", opset, [constant("p", [0, 0, 1, 1, 0, 0, 1, 1], np.int64)], ["p"],
                             out=(1, 3, HEIGHT + 2, WIDTH + 2), mode=mode)


def clip(opset):
    if opset < 11:
        return one("Clip", opset, min=0.0, max=6.0)
    return one("Clip", opset, [constant("lo", 0.0), constant("hi", 6.0)], ["lo", "hi"])


def reduce(op, axes):
    def make(opset):
        shape = [1 if axis in axes else side for axis, side in enumerate((1, 3, HEIGHT, WIDTH))]
        if opset >= (13 if op == "ReduceSum" else 18):
            return one(op, opset, [constant("axes", axes, np.int64)], ["axes"], out=shape, keepdims=1)
        return one(op, opset, out=shape, axes=axes, keepdims=1)
    return make


def reshape(opset):
    return one("Reshape", opset, [constant("s", [1, 3, HEIGHT, WIDTH], np.int64)], ["s"])


def there_and_back(opset):
    """Transposed, and transposed back behind a sum."""
    nodes = [helper.make_node("Transpose", ["image"], ["t"], name="there", perm=[0, 2, 3, 1]),
             helper.make_node("Add", ["t", "c"], ["u"], name="add"),
             helper.make_node("Transpose", ["u"], ["maps"], name="back", perm=[0, 3, 1, 2])]
    return model_of(nodes, [constant("c", weights(3))], opset)


def slice_channels(opset):
    parts = [constant("from", [0], np.int64), constant("to", [2], np.int64), constant("axis", [1], np.int64)]
    return one("Slice", opset, parts, ["from", "to", "axis"], out=(1, 2, HEIGHT, WIDTH))


def split(opset):
    attributes = {"axis": 1}
    parts, names = ([constant("n", [1, 2], np.int64)], ["n"]) if opset >= 13 else ([], [])
    if opset < 13:
        attributes["split"] = [1, 2]
    first = helper.make_node("Conv", ["image", "first"], ["x"], name="first", kernel_shape=[1, 1])
    nodes = [first, helper.make_node("Split", ["x", *names], ["a", "b"], name="node", **attributes),
             helper.make_node("Concat", ["b", "a"], ["maps"], name="join", axis=1)]
    return model_of(nodes, [constant("first", weights(3, 3, 1, 1)), *parts], opset)


def gemm_free(op):
    """Each pixel's channels times a matrix, as transformers do."""
    def make(opset):
        return one(op, opset, [constant("w", weights(WIDTH, WIDTH))], ["w"])
    return make


def dropout(opset):
    return one("Dropout", opset)


def quantized(opset):
    nodes = [helper.make_node("QuantizeLinear", ["image", "s", "z"], ["q"], name="node"),
             helper.make_node("DequantizeLinear", ["q", "s", "z"], ["maps"], name="back")]
    return model_of(nodes, [constant("s", 0.02), constant("z", 0, np.int8)], opset)


def quantized_conv(opset):
    nodes = [helper.make_node("QuantizeLinear", ["image", "s", "z"], ["q"], name="node"),
             helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], name="back"),
             helper.make_node("DequantizeLinear", ["w", "s", "z"], ["dw"], name="weights"),
             helper.make_node("Conv", ["d", "dw"], ["maps"], name="conv", kernel_shape=[1, 1])]
    return model_of(nodes, [constant("s", 0.02), constant("z", 0, np.int8), constant("w", np.arange(9).reshape(3, 3, 1, 1), np.int8)], opset)


def half_weights(opset):
    nodes = [helper.make_node("Cast", ["w"], ["w32"], name="node", to=TensorProto.FLOAT),
             helper.make_node("Conv", ["image", "w32"], ["maps"], name="conv", kernel_shape=[1, 1])]
    return model_of(nodes, [constant("w", weights(3, 3, 1, 1), np.float16)], opset)


def layer_normalization(opset):
    return one("LayerNormalization", opset, [constant("g", weights(WIDTH)), constant("b", weights(WIDTH))], ["g", "b"], axis=-1)


def group_normalization(opset):
    return one("GroupNormalization", opset, [constant("g", weights(3)), constant("b", weights(3))], ["g", "b"], num_groups=3)


def einsum(opset):
    return one("Einsum", opset, [constant("w", weights(3, 3))], ["w"], equation="nchw,cd->ndhw")


def grid_sample(opset):
    grid = np.stack(np.meshgrid(np.linspace(-1, 1, WIDTH), np.linspace(-1, 1, HEIGHT)), -1)[None]
    return one("GridSample", opset, [constant("grid", grid)], ["grid"], align_corners=1)


def shape_of_input(opset):
    """What older exports make of `x.view(x.shape)`."""
    nodes = [helper.make_node("Shape", ["image"], ["s"], name="node"), helper.make_node("Reshape", ["image", "s"], ["maps"], name="reshape")]
    return model_of(nodes, [], opset, given=(1, 3, "height", "width"), out=(1, 3, "height", "width"))


DOUBLED = (1, 3, 2 * HEIGHT, 2 * WIDTH)
HALVED = (1, 3, HEIGHT // 2, WIDTH // 2)
UP, DOWN, PART = [1, 1, 2, 2], [1, 1, 0.5, 0.5], [1, 1, 1.5, 1.5]

# (name, first opset of the form, last one, how it is made)
FORMS = [
    ("Conv", 1, 99, conv(kernel_shape=[3, 3], pads=[1, 1, 1, 1])),
    ("Conv:strided", 1, 99, conv(kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2], out=HALVED)),
    ("Conv:dilated", 1, 99, conv(kernel_shape=[3, 3], pads=[2, 2, 2, 2], dilations=[2, 2])),
    ("Conv:depthwise", 1, 99, conv(kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=3)),
    ("Conv(same_upper)", 1, 99, conv(kernel_shape=[3, 3], auto_pad="SAME_UPPER")),
    ("Conv(same_lower):1", 1, 99, conv(kernel_shape=[3, 3], auto_pad="SAME_LOWER")),
    ("Conv(same_upper):strided", 1, 99, conv(kernel_shape=[3, 3], auto_pad="SAME_UPPER", strides=[2, 2], out=HALVED)),
    ("Conv(same_lower)", 1, 99, conv(kernel_shape=[3, 3], auto_pad="SAME_LOWER", strides=[2, 2], out=HALVED)),
    ("ConvTranspose", 1, 99, conv_transpose(kernel_shape=[2, 2], strides=[2, 2])),
    ("ConvTranspose:4", 1, 99, conv_transpose(kernel_shape=[4, 4], strides=[2, 2], pads=[1, 1, 1, 1])),
    ("ConvTranspose:3", 1, 99, conv_transpose(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])),
    ("Relu", 1, 99, unary("Relu")), ("LeakyRelu", 1, 99, unary("LeakyRelu", alpha=0.1)), ("Elu", 1, 99, unary("Elu")),
    ("PRelu", 7, 99, with_constant("PRelu", weights(3, 1, 1))), ("Sigmoid", 1, 99, unary("Sigmoid")), ("Tanh", 1, 99, unary("Tanh")),
    ("Softplus", 1, 99, unary("Softplus")), ("Selu", 1, 99, unary("Selu")), ("HardSigmoid", 1, 99, unary("HardSigmoid")), ("HardSwish", 14, 99, unary("HardSwish")),
    ("Exp", 1, 99, unary("Exp")), ("Abs", 1, 99, unary("Abs")), ("Neg", 1, 99, unary("Neg")), ("Erf", 9, 99, unary("Erf")), ("Floor", 1, 99, unary("Floor")),
    ("Gelu", 20, 99, unary("Gelu")), ("Mish", 18, 99, unary("Mish")),
    ("Identity", 1, 99, unary("Identity")), ("Dropout", 1, 99, dropout),
    ("Softmax", 1, 99, unary("Softmax", axis=1)), ("Softmax:last", 1, 99, unary("Softmax", axis=-1)), ("LogSoftmax", 1, 99, unary("LogSoftmax", axis=1)),
    ("Add", 7, 99, between("Add")), ("Sub", 7, 99, between("Sub")), ("Mul", 7, 99, between("Mul")), ("Div", 7, 99, between("Div")),
    ("Max", 8, 99, between("Max")), ("Min", 8, 99, between("Min")), ("Pow(constant)", 7, 99, with_constant("Pow", 2.0)),
    ("Add(constant)", 7, 99, with_constant("Add", weights(3, 1, 1))), ("Add(constant):one", 7, 99, with_constant("Add", 0.5)),
    ("Sub(constant)", 7, 99, with_constant("Sub", weights(3, 1, 1))), ("Sub(constant):one", 7, 99, with_constant("Sub", 0.5)),
    ("Mul(constant)", 7, 99, with_constant("Mul", weights(3, 1, 1))), ("Mul(constant):one", 7, 99, with_constant("Mul", 0.5)),
    ("Div(constant)", 7, 99, with_constant("Div", weights(3, 1, 1) + 2)), ("Div(constant):one", 7, 99, with_constant("Div", 0.5)),
    ("Max(constant)", 8, 99, with_constant("Max", 0.0)), ("Min(constant)", 8, 99, with_constant("Min", 1.0)),
    ("Concat", 4, 99, concat), ("BatchNormalization", 7, 99, batch_normalization), ("InstanceNormalization", 6, 99, instance_normalization),
    ("MaxPool", 1, 99, unary("MaxPool", kernel_shape=[2, 2], strides=[2, 2], out=HALVED)),
    ("MaxPool:3", 1, 99, unary("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], out=HALVED)),
    ("MaxPool(ceil)", 10, 99, unary("MaxPool", kernel_shape=[5, 5], strides=[2, 2], ceil_mode=1, out=(1, 3, 5, 7))),
    ("AveragePool", 7, 99, unary("AveragePool", kernel_shape=[2, 2], strides=[2, 2], out=HALVED)),
    ("AveragePool(padded)", 7, 99, unary("AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], out=HALVED)),
    ("AveragePool(counted)", 7, 99, unary("AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1, out=HALVED)),
    ("GlobalAveragePool", 1, 99, unary("GlobalAveragePool", out=(1, 3, 1, 1))), ("GlobalMaxPool", 1, 99, unary("GlobalMaxPool", out=(1, 3, 1, 1))),
    ("Resize(nearest,asymmetric,floor,whole)", 11, 99, resize("nearest", "asymmetric", UP, nearest="floor")),
    ("Resize(nearest,half_pixel,round_prefer_floor,whole)", 11, 99, resize("nearest", "half_pixel", UP, nearest="round_prefer_floor")),
    ("Resize(nearest,asymmetric,round_prefer_floor,whole)", 11, 99, resize("nearest", "asymmetric", UP, nearest="round_prefer_floor")),
    ("Resize(nearest,asymmetric,floor,fraction)", 11, 99, resize("nearest", "asymmetric", DOWN, nearest="floor")),
    ("Resize(nearest,asymmetric,floor,fraction):1.5", 11, 99, resize("nearest", "asymmetric", PART, nearest="floor")),
    ("Resize(linear,half_pixel,whole)", 11, 99, resize("linear", "half_pixel", UP)),
    ("Resize(linear,half_pixel,whole):4", 11, 99, resize("linear", "half_pixel", [1, 1, 4, 4])),
    ("Resize(linear,pytorch_half_pixel,whole)", 11, 99, resize("linear", "pytorch_half_pixel", UP)),
    ("Resize(linear,align_corners,whole)", 11, 99, resize("linear", "align_corners", UP)),
    ("Resize(linear,asymmetric,whole)", 11, 99, resize("linear", "asymmetric", UP)),
    ("Resize(linear,half_pixel,fraction)", 11, 99, resize("linear", "half_pixel", DOWN)),
    ("Resize(linear,half_pixel,fraction):1.5", 11, 99, resize("linear", "half_pixel", PART)),
    ("Resize(linear,half_pixel,fraction):1.3", 11, 99, resize("linear", "half_pixel", [1, 1, 1.3, 1.3])),
    ("Resize(linear,align_corners,fraction)", 11, 99, resize("linear", "align_corners", [1, 1, 1.3, 1.3])),
    ("Resize(linear,half_pixel,sizes)", 11, 99, resize("linear", "half_pixel", sizes=DOUBLED)),
    ("Resize(linear,half_pixel,sizes):odd", 11, 99, resize("linear", "half_pixel", sizes=(1, 3, 17, 21))),
    ("Resize(linear,pytorch_half_pixel,sizes)", 11, 99, resize("linear", "pytorch_half_pixel", sizes=(1, 3, 17, 21))),
    ("Resize(linear,align_corners,sizes)", 11, 99, resize("linear", "align_corners", sizes=(1, 3, 17, 21))),
    ("Resize(linear,asymmetric,sizes)", 11, 99, resize("linear", "asymmetric", sizes=(1, 3, 17, 21))),
    ("Resize(nearest,asymmetric,floor,sizes)", 11, 99, resize("nearest", "asymmetric", sizes=DOUBLED, nearest="floor")),
    ("Resize(nearest,asymmetric,floor,sizes):odd", 11, 99, resize("nearest", "asymmetric", sizes=(1, 3, 17, 21), nearest="floor")),
    ("Resize(nearest,half_pixel,round_prefer_floor,sizes)", 11, 99, resize("nearest", "half_pixel", sizes=(1, 3, 17, 21), nearest="round_prefer_floor")),
    ("Resize(cubic,half_pixel,whole)", 11, 99, resize("cubic", "half_pixel", UP)),
    ("Resize(nearest,asymmetric,whole)", 10, 10, resize("nearest", None, UP)), ("Resize(linear,asymmetric,whole)", 10, 10, resize("linear", None, UP)),
    ("Upsample(nearest)", 9, 9, upsample("nearest")), ("Upsample(linear)", 9, 9, upsample("linear")),
    ("Pad(constant)", 11, 99, pad("constant")), ("Pad(reflect)", 11, 99, pad("reflect")), ("Pad(edge)", 11, 99, pad("edge")),
    ("Clip(attributes)", 6, 10, clip), ("Clip(constant)", 11, 99, clip),
    ("ReduceMean", 1, 99, reduce("ReduceMean", [2, 3])), ("ReduceMean:channels", 1, 99, reduce("ReduceMean", [1])), ("ReduceSum", 1, 99, reduce("ReduceSum", [2, 3])),
    ("ReduceMax", 1, 99, reduce("ReduceMax", [1])),
    ("Reshape", 5, 99, reshape), ("Transpose", 1, 99, there_and_back), ("Slice", 10, 99, slice_channels), ("Split", 2, 99, split),
    ("DepthToSpace", 1, 99, lambda opset: helper_depth_to_space(opset)), ("MatMul", 1, 99, gemm_free("MatMul")),
    ("QuantizeLinear", 10, 99, quantized), ("DequantizeLinear", 10, 99, quantized_conv), ("Cast", 9, 99, half_weights),
    ("LayerNormalization", 17, 99, layer_normalization), ("GroupNormalization", 21, 99, group_normalization), ("Einsum", 12, 99, einsum),
    ("GridSample", 16, 99, grid_sample), ("Shape", 1, 99, shape_of_input), ("Sub(constant_first)", 7, 99, constant_before("Sub")), ("Div(constant_first)", 7, 99, constant_before("Div")),
    ("Add(constant_first)", 7, 99, constant_before("Add")), ("Mul(constant_first)", 7, 99, constant_before("Mul")), ("Concat(other_axis)", 4, 99, concat_rows),
    ("ConvTranspose(grouped)", 1, 99, grouped_transpose), ("ReduceMean(sides_removed)", 1, 17, reduced_away),
]


def helper_depth_to_space(opset):
    nodes = [helper.make_node("Conv", ["image", "w"], ["x"], name="first", kernel_shape=[1, 1]),
             helper.make_node("DepthToSpace", ["x"], ["maps"], name="node", blocksize=2)]
    return model_of(nodes, [constant("w", weights(12, 3, 1, 1))], opset, DOUBLED)


def all_models(opset):
    for name, first, last, make in FORMS:
        if first <= opset <= last:
            yield name, make(opset)
