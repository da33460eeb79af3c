"""Executes the text of a top module with onnxruntime: an independent implementation of the semantics of its ops."""

import json
import re
import struct
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

DTYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "i64": np.int64,
    "i32": np.int32,
    "i8": np.int8,
    "i1": np.bool_,
    "ui8": np.uint8,
}
SAFETENSORS = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32}

SIMPLE = {
    "add": "Add",
    "sub": "Sub",
    "mul": "Mul",
    "div": "Div",
    "pow": "Pow",
    "max": "Max",
    "min": "Min",
    "relu": "Relu",
    "abs": "Abs",
    "neg": "Neg",
    "sigmoid": "Sigmoid",
    "tanh": "Tanh",
    "exp": "Exp",
    "log": "Log",
    "sqrt": "Sqrt",
    "reciprocal": "Reciprocal",
    "erf": "Erf",
    "hard_swish": "HardSwish",
    "round": "Round",
    "floor": "Floor",
    "ceil": "Ceil",
    "sign": "Sign",
    "sin": "Sin",
    "cos": "Cos",
    "tan": "Tan",
    "asin": "Asin",
    "acos": "Acos",
    "atan": "Atan",
    "asinh": "Asinh",
    "acosh": "Acosh",
    "atanh": "Atanh",
}
LOGIC = {"and": "And", "or": "Or", "xor": "Xor", "not": "Not", "where": "Where"}
COMPARE = {"eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual"}
REDUCE = {"reduce_sum": "ReduceSum", "reduce_mean": "ReduceMean", "reduce_max": "ReduceMax", "reduce_min": "ReduceMin"}


def read_safetensors(path: Path) -> dict:
    data = Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    return {
        name: np.frombuffer(
            data[8 + size + e["data_offsets"][0] : 8 + size + e["data_offsets"][1]], SAFETENSORS[e["dtype"]]
        ).reshape(e["shape"])
        for name, e in header.items()
    }


def tensor_type(text: str):
    *shape, element = re.fullmatch(r"tensor<(.*)>", text.strip()).group(1).split("x")
    return [int(size) for size in shape], DTYPES[element]


def dense(text: str, kind: str) -> np.ndarray:
    shape, dtype = tensor_type(kind)
    if not text:
        return np.zeros(shape, dtype)
    if text.startswith("0x"):  # the bits of what has no digits: infinities and NaN
        bits = np.array(int(text, 16), f"u{np.dtype(dtype).itemsize}")
        return np.ascontiguousarray(np.broadcast_to(bits.view(dtype), shape))
    return np.ascontiguousarray(np.broadcast_to(np.array(json.loads(text)).astype(dtype), shape))


def attributes(text: str) -> dict:
    found = {}
    for name, value in re.findall(r"(\w+) = (array<[if]64[^>]*>|[^,{}]+)", text):
        if value.startswith("array"):
            number = int if value.startswith("array<i") else float
            found[name] = [number(v) for v in re.findall(r"[-+\d.e]+", value[len("array<i64") :])]
        elif value.split(" ")[0] in ("true", "false"):
            found[name] = value.startswith("true")
        elif re.match(r"-?[\d.]", value):
            found[name] = float(value.split(" ")[0])
        else:
            found[name] = value.strip('"')
    return found


class Rebuilder:
    """Translates the lines of a module to ONNX nodes of opset 18."""

    def __init__(self, text: str, weights: dict):
        self.text, self.weights = text, weights
        self.nodes, self.initializers, self.count = [], [], 0
        self.ranks = {}

    def constant(self, value, name=None) -> str:
        self.count += 1
        name = name or f"c{self.count}"
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def ints(self, values) -> str:
        return self.constant(np.array(values, np.int64))

    def op(self, kind: str, args: list, a: dict, result: str, shape: list, dtype):
        def node(name, inputs, **more):
            self.nodes.append(helper.make_node(name, inputs, [result], **more))

        if kind in SIMPLE:
            return node(SIMPLE[kind], args)
        if kind in LOGIC:
            return node(LOGIC[kind], args)
        if kind == "compare":
            return node(COMPARE[a["mode"]], args)
        if kind == "expand":
            return node("Expand", [args[0], self.ints(a["shape"])])
        if kind == "gather":
            return node("Gather", args, axis=int(a["axis"]))
        if kind == "layer_norm":
            return self.layer_norm(args, a, result, shape)
        if kind in REDUCE:
            return node(REDUCE[kind], [args[0], self.ints(a["axes"])], keepdims=int(a.get("keepdims", True)))
        if kind == "conv":
            return node(
                "Conv",
                args,
                strides=a["strides"],
                pads=a["pads"],
                dilations=a["dilations"],
                group=int(a.get("group", 1)),
            )
        if kind == "conv_transpose":
            return node(
                "ConvTranspose",
                args,
                strides=a["strides"],
                pads=a["pads"],
                dilations=a["dilations"],
                output_padding=a["output_padding"],
                group=int(a.get("group", 1)),
            )
        if kind == "resize":
            return self.resize(args, a, result)
        if kind in ("max_pool", "avg_pool"):
            more = {"count_include_pad": int(a.get("count_include_pad", False))} if kind == "avg_pool" else {}
            return node(
                "MaxPool" if kind == "max_pool" else "AveragePool",
                args,
                kernel_shape=a["kernel"],
                strides=a["strides"],
                pads=a["pads"],
                ceil_mode=int(a.get("ceil_mode", False)),
                **more,
            )
        if kind == "batch_norm":
            return node("BatchNormalization", args, epsilon=a["epsilon"])
        if kind == "softmax":
            return node("Softmax", args, axis=int(a["axis"]))
        if kind == "clip":
            limits = [self.constant(np.array(a[n], dtype)) if n in a else "" for n in ("min", "max")]
            return node("Clip", args + limits)
        if kind == "leaky_relu":
            return node("LeakyRelu", args, alpha=a["alpha"])
        if kind == "hard_sigmoid":
            return node("HardSigmoid", args, alpha=a["alpha"], beta=a["beta"])
        if kind == "cast":
            return node("Cast", args, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
        if kind == "reshape":
            return node("Reshape", [args[0], self.ints(shape)])
        if kind == "permute":
            return node("Transpose", args, perm=a["perm"])
        if kind == "concat":
            return node("Concat", args, axis=int(a["axis"]))
        if kind == "slice":
            ends = [e if e >= 0 else -(2**31) for e in a["ends"]]
            return node(
                "Slice",
                [args[0], self.ints(a["starts"]), self.ints(ends), self.ints(range(len(shape))), self.ints(a["steps"])],
            )
        if kind == "pad":
            return node("Pad", [args[0], self.ints(a["pads"]), self.constant(np.array(a.get("value", 0.0), dtype))])
        if kind == "matmul":
            return self.matmul(args, a, result)
        raise AssertionError(f"unknown op top.{kind}")

    def resize(self, args, a, result):
        roi = self.constant(np.array(a["roi"], np.float32)) if "roi" in a else ""
        nearest = (
            {"nearest_mode": a["nearest_mode"]}
            if a.get("nearest_mode", "simple") != "simple"
            else {"nearest_mode": "floor"}
        )
        more = {name: a[name] for name in ("cubic_coeff_a", "extrapolation_value") if name in a}
        flags = {name: int(a[name]) for name in ("exclude_outside", "antialias") if name in a}
        scales = self.constant(np.array(a["scales"], np.float32))
        self.nodes.append(
            helper.make_node(
                "Resize",
                [args[0], roi, scales],
                [result],
                mode=a["mode"],
                coordinate_transformation_mode=a.get("coordinates", "half_pixel"),
                **nearest,
                **more,
                **flags,
            )
        )

    def layer_norm(self, args, a, result, shape):
        """layer_norm by its definition, in elementary ops."""
        axes = self.ints(range(int(a["axis"]), len(shape)))
        names = iter(range(100))

        def step(op, *inputs, last=False):
            name = result if last else f"{result}_{next(names)}"
            self.nodes.append(helper.make_node(op, list(inputs), [name]))
            return name

        x = args[0]
        if a.get("centered", True):
            x = step("Sub", x, step("ReduceMean", x, axes))
        variance = step("ReduceMean", step("Mul", x, x), axes)
        deviation = step("Sqrt", step("Add", variance, self.constant(np.float32(a["epsilon"]))))
        value = step("Div", x, deviation)
        for op, parameter in zip(("Mul", "Add"), args[1:]):
            value = step(op, value, parameter)
        step("Identity", value, last=True)

    def matmul(self, args, a, result):
        operands = []
        for name, flag in zip(args, ("transpose_a", "transpose_b")):
            if a.get(flag):
                rank = self.ranks[name]
                perm = [*range(rank - 2), rank - 1, rank - 2]
                self.nodes.append(helper.make_node("Transpose", [name], [f"{result}_{flag}"], perm=perm))
                name = f"{result}_{flag}"
            operands.append(name)
        product = result if len(args) == 2 else f"{result}_product"
        self.nodes.append(helper.make_node("MatMul", operands, [product]))
        if len(args) == 3:
            self.nodes.append(helper.make_node("Add", [product, args[2]], [result]))

    def model(self):
        inputs, outputs = [], []
        for line in self.text.splitlines():
            line = line.strip()
            if line.startswith("func.func @main"):
                for name, kind, label in re.findall(r'(%arg\d+): (tensor<[^>]*>) \{top.name = "([^"]*)"', line):
                    shape, dtype = tensor_type(kind)
                    self.ranks[name] = len(shape)
                    inputs.append(
                        (
                            name,
                            label,
                            helper.make_tensor_value_info(
                                name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
                            ),
                        )
                    )
            elif match := re.match(r'(%\w+) = top.weight "([^"]*)"', line):
                self.ranks[match[1]] = self.weights[match[2]].ndim
                self.constant(self.weights[match[2]], match[1])
            elif match := re.match(r"(%\w+) = arith.constant dense<(.*)> : (tensor<.*>)$", line):
                self.constant(dense(match[2], match[3]), match[1])
                self.ranks[match[1]] = len(tensor_type(match[3])[0])
            elif match := re.match(r"(%\w+) = top.(\w+) ([%\w, ]+?)( \{.*\})? : \(.*\) -> (tensor<.*>)$", line):
                shape, dtype = tensor_type(match[5])
                self.ranks[match[1]] = len(shape)
                self.op(match[2], match[3].split(", "), attributes(match[4] or ""), match[1], shape, dtype)
            elif match := re.match(r"return (.*) : (.*)$", line):
                for i, (name, kind) in enumerate(zip(match[1].split(", "), re.findall(r"tensor<[^>]*>", match[2]))):
                    shape, dtype = tensor_type(kind)
                    self.nodes.append(helper.make_node("Identity", [name], [f"out{i}"]))
                    outputs.append(
                        helper.make_tensor_value_info(
                            f"out{i}", helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
                        )
                    )
            else:
                assert line in ("", "}") or line.startswith("module"), line
        graph = helper.make_graph(self.nodes, "g", [i[2] for i in inputs], outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        return model, {label: name for name, label, _ in inputs}


def run(text: str, weights: dict, feed: dict) -> list:
    """The outputs of the module for inputs by ONNX name."""
    model, names = Rebuilder(text, weights).model()
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {names[name]: value for name, value in feed.items() if name in names})
