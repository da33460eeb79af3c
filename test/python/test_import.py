"""The ONNX importer, top-fold and top-fuse against onnxruntime, op by op, and models that the importer rejects."""

import os
import re
import struct
import subprocess

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import top_text
from onnx import TensorProto, helper, numpy_helper
from onnx_cases import CASES, F, N, X, i64, rand
from pto_mlir.tools.native import _program


def pto_opt(*arguments):
    done = subprocess.run([_program("pto-opt"), *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def make(path, nodes, inputs, outputs, weights=None, opset=13, ir=8, domains=()):
    """`inputs`: name -> shape (float) or (type, shape); `weights`: name -> array."""

    def info(name, spec):
        kind, shape = spec if isinstance(spec, tuple) else (F, spec)
        return helper.make_tensor_value_info(name, kind, shape)

    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in (weights or {}).items()]
    graph = helper.make_graph(
        nodes,
        "g",
        [info(*i) for i in inputs.items()],
        [helper.make_tensor_value_info(o, F, None) for o in outputs],
        initializers,
    )
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=ir), str(path))
    return path


def random_input(spec, seed):
    """Floats, or (for an index input) integers from -2 to 2."""
    if isinstance(spec, tuple):
        return np.random.default_rng(seed).integers(-2, 3, spec[1])
    return rand(*spec, seed=seed)


@pytest.mark.parametrize("case", CASES)
def test_against_onnxruntime(case, tmp_path):
    nodes, inputs, weights, opset = CASES[case]
    path = make(tmp_path / "m.onnx", nodes, inputs, ["y"], weights, opset)
    feed = {name: random_input(spec, seed=7 + i) for i, (name, spec) in enumerate(inputs.items())}
    expected = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, feed)

    mlir = tmp_path / "m.mlir"
    code, out, err = pto_opt("--import-onnx", path, "-o", mlir)
    assert (code, out, err) == (0, "", "")
    stored = tmp_path / "m_top_weights.safetensors"
    code, text, err = pto_opt(f"--top-load-weights=file={stored}", mlir)
    assert code == 0, err
    got = top_text.run(text, top_text.read_safetensors(stored), feed)
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-5, atol=1e-5)
    assert got[0].dtype == expected[0].dtype

    fused = tmp_path / "fused.safetensors"
    code, text, err = pto_opt(
        f"--top-load-weights=file={stored}",
        "--top-infer-shapes",
        "--top-fold",
        "--top-fuse",
        f"--top-save-weights=file={fused}",
        mlir,
    )
    assert code == 0, err
    if "batch_norm" in case and case != "batch_norm":
        assert text.count("= top.batch_norm") == text.count("= top.add") == 0
    if case in ("layer_norm_spelled", "rms_norm_spelled"):
        assert set(re.findall(r"= top\.(\w+)", text)) <= {"reshape", "layer_norm"}
    if case == "scaled_queries":
        assert "top.div" not in text and "top.mul" not in text
    if case == "attention":
        assert text.count("= top.permute") == 4 and "transpose_b = true" in text
    got = top_text.run(text, top_text.read_safetensors(fused), feed)
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-5, atol=2e-5)


def test_names_are_locations(tmp_path):
    path = make(tmp_path / "m.onnx", [N("Relu", "in:0", "mid/1"), N("Exp", "mid/1", "out")], {"in:0": [2]}, ["out"])
    _, text, _ = pto_opt("--import-onnx", path, "--print-locs")
    assert 'top.name = "in:0"' in text and 'top.name = "out"' in text
    assert 'loc("mid/1")' in text and 'loc("out")' in text


def test_output_names_cut_the_graph(tmp_path):
    path = make(
        tmp_path / "m.onnx",
        [N("Relu", "x", "a"), N("Bad", "a", "y", domain="acme")],
        {"x": [2]},
        ["y"],
        domains=["acme"],
    )
    code, text, err = pto_opt("--import-onnx", path, "--output-names", "a")
    assert code == 0 and 'top.name = "a"' in text, err
    code, _, err = pto_opt("--import-onnx", path, "--output-names", "nowhere")
    assert code == 1 and "nowhere" in err


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float64, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.bool_]
)
@pytest.mark.parametrize("raw", [True, False])
def test_element_types(dtype, raw, tmp_path):
    values = np.array([0, 1, 1, 0, 3, 100]).astype(dtype)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    tensor = helper.make_tensor("w", kind, [6], values.tobytes() if raw else values.tolist(), raw=raw)
    graph = helper.make_graph(
        [N("Cast", "w", "f", to=F), N("Add", "x f")],
        "g",
        [helper.make_tensor_value_info("x", F, [6])],
        [helper.make_tensor_value_info("y", F, [6])],
        [tensor],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(tmp_path / "m.onnx")
    )
    code, text, err = pto_opt("--import-onnx", tmp_path / "m.onnx")
    assert code == 0, err
    x = rand(6)
    np.testing.assert_array_equal(top_text.run(text, {}, {"x": x})[0], x + values.astype(np.float32))


def test_external_data(tmp_path):
    path = make(tmp_path / "m.onnx", [N("MatMul", "x w")], {"x": [3, 40]}, ["y"], {"w": rand(40, 50)})
    model = onnx.load(str(path))
    onnx.save(model, str(path), save_as_external_data=True, location="w.bin", size_threshold=0)
    assert (tmp_path / "w.bin").stat().st_size == 8000
    code, _, err = pto_opt("--import-onnx", path, "-o", tmp_path / "m.mlir")
    assert code == 0, err
    np.testing.assert_array_equal(top_text.read_safetensors(tmp_path / "m_top_weights.safetensors")["w"], rand(40, 50))


@pytest.mark.parametrize(
    "location, offset, reason",
    [
        ("../w.bin", 0, "inside the model's folder"),
        ("/etc/passwd", 0, "inside the model's folder"),
        ("none.bin", 0, "no such file"),
        (".", 0, "no regular file"),
        ("pipe", 0, "no regular file"),
        ("link.bin", 0, "inside the model's folder"),
        ("w.bin", 4, "outside the file"),
        ("w.bin", 2**63, "outside the file"),
    ],
)
def test_bad_external_data(location, offset, reason, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    for where in (tmp_path, folder):
        (where / "w.bin").write_bytes(bytes(24))
    (folder / "link.bin").symlink_to(tmp_path / "w.bin")
    os.mkfifo(folder / "pipe")  # reading it would wait for ever
    tensor = TensorProto(name="w", data_type=F, dims=[6], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", str(offset)), ("length", "24")):
        tensor.external_data.add(key=key, value=value)
    graph = helper.make_graph(
        [N("Add", "x w")],
        "g",
        [helper.make_tensor_value_info("x", F, [6])],
        [helper.make_tensor_value_info("y", F, [6])],
        [tensor],
    )
    (folder / "m.onnx").write_bytes(
        helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()
    )
    refused(folder / "m.onnx", "initializer 'w'", reason)


def test_packed_elements_whose_bytes_overflow(tmp_path):
    """2^63 - 1 elements of 4 bits: their number times the width exceeds 64 bits."""
    tensor = TensorProto(name="w", data_type=TensorProto.UINT4, dims=[2**63 - 1], raw_data=b"")
    output = helper.make_tensor_value_info("y", TensorProto.UINT4, None)
    graph = helper.make_graph([N("Flatten", "w", "y")], "g", [], [output], [tensor])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    refused(tmp_path / "m.onnx", "initializer 'w'", f"has 0 bytes of data, its type and shape need {2**62}")


def test_a_shape_of_very_many_numbers_is_refused_at_once(tmp_path):
    """Each number multiplies the versions of the graph; they are not listed before they are counted."""
    inputs = [
        helper.make_tensor_value_info("x", F, [1]),
        helper.make_tensor_value_info("s", TensorProto.INT64, [10**6]),
    ]
    graph = helper.make_graph(
        [N("Reshape", "x s", "y")], "g", inputs, [helper.make_tensor_value_info("y", F, None)], []
    )
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    refused(tmp_path / "m.onnx", "'s' is known at run time only", "more than 512 versions")


def test_outputs_that_the_operator_lacks_are_refused(tmp_path):
    path = make(tmp_path / "m.onnx", [helper.make_node("Min", ["x"], ["y", "z"])], {"x": X}, ["y", "z"])
    refused(path, "output 'z' is no output of the operator")


@pytest.mark.parametrize("perm", [[0, 1, 2, 4], [0, 1, 2, -1], [0, 0, 1, 2], [0]])
def test_a_transposition_that_is_no_permutation_is_refused(tmp_path, perm):
    path = make(tmp_path / "m.onnx", [helper.make_node("Transpose", ["x"], ["y"], perm=perm)], {"x": X}, ["y"])
    refused(path, "Transpose", "permutation of the 4 dimensions")


def test_an_equation_with_bytes_that_are_no_letters_is_refused(tmp_path):
    path = make(tmp_path / "m.onnx", [helper.make_node("Einsum", ["x"], ["y"], equation=b"\xff")], {"x": X}, ["y"])
    refused(path, "'equation'", "another sign than a letter")


def test_an_einsum_with_a_missing_operand_is_refused(tmp_path):
    path = make(tmp_path / "m.onnx", [helper.make_node("Einsum", ["x", ""], ["y"], equation="ab,ab")], {"x": X}, ["y"])
    refused(path, "input 1 is missing")


def test_a_normalisation_over_very_many_channels_is_refused_at_once(tmp_path):
    path = make(
        tmp_path / "m.onnx", [helper.make_node("LRN", ["x"], ["y"], size=3)], {"x": [1, 2**31 - 1, 1, 1]}, ["y"]
    )
    refused(path, "over 2147483647 channels is not supported; 8192 are")


def refused(path, *words, arguments=()):
    code, out, err = pto_opt("--import-onnx", path, *arguments)
    assert code == 1 and out == "", (code, out, err)
    for word in words:
        assert word in err, err
    assert all(str(path) in line for line in err.splitlines()), err
    return err.splitlines()


def test_every_problem_is_listed(tmp_path):
    nodes = [
        N("Relu", "x", "a"),
        N("Foo", "a", "b", domain="acme"),
        N("NonMaxSuppression", "a a", "c"),
        N("Relu", "b", "d"),
        N("Conv", "x w", "e"),
        N("Add", "c d", "f"),
        N("Add", "e f", "y"),
        N("Softmax", "x", "y2", axis=9),
        N("Relu", "x", "y3", slope=1.0),
        N("Conv", "x w2", "y4", group="two"),
    ]
    path = make(
        tmp_path / "m.onnx",
        nodes,
        {"x": X},
        ["y", "y2", "y3", "y4"],
        {"w": rand(4, 5, 3, 3), "w2": rand(4, 3, 3, 3)},
        domains=["acme"],
    )
    lines = refused(
        path,
        "node 'Foo:b' (acme.Foo, opset 1): is not supported",
        "node 'NonMaxSuppression:c' (NonMaxSuppression, opset 13): expects boxes [B, N, 4] and scores [B, C, N]",
        "node 'Conv:e' (Conv, opset 13): input has 3 channels, but the filter takes 5 in each of 1 group",
        "node 'Softmax:y2' (Softmax, opset 13): axis 9",
        "has no attribute 'slope'",
        "attribute 'group' must be of type INT",
    )
    assert len(lines) == 6, lines


@pytest.mark.parametrize(
    "shapes, reason",
    [
        (None, "shape [?, 3] is not fixed"),
        ("[[2,4]]", "dimension 1 is 3 in the model, 4 is given"),
        ("[[2]]", "has 2 dimensions in the model"),
        ("[[2,3],[1]]", "has 1 inputs, but 2 input shapes are given"),
    ],
)
def test_input_shapes(shapes, reason, tmp_path):
    path = make(tmp_path / "m.onnx", [N("Relu", "x")], {"x": ["n", 3]}, ["y"])
    refused(path, reason, arguments=["--input-shapes", shapes] if shapes else [])
    assert pto_opt("--import-onnx", path, "--input-shapes", "[[2,3]]")[0] == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[[1,3",
        "1,3",
        "[[1,-3]]",
        "[[0,3]]",
        "[[1.5]]",
        "[[-a]]",
        "[[1,3]]]",
        "[1,[3]]",
        "[[99999999999999999999]]",
        "__import__('os').system('true')",
        "[[1,3],]",
        "[[1,,3]]",
    ],
)
def test_shape_syntax(text, tmp_path):
    path = make(tmp_path / "m.onnx", [N("Relu", "x")], {"x": ["n", 3]}, ["y"])
    code, _, err = pto_opt("--import-onnx", path, "--input-shapes", text)
    assert code == 1 and len(err.splitlines()) == 1 and "list of lists of positive integers" in err


@pytest.mark.parametrize("op, more", [("Expand", [2**40]), ("Tile", [2**40]), ("Expand", [2**20, 2**20, 1])])
def test_tensors_larger_than_any_memory(op, more, tmp_path):
    path = make(tmp_path / "m.onnx", [N(op, "x s")], {"x": [1]}, ["y"], {"s": i64(*more)})
    refused(path, "takes more than 1 TiB, which is the most")


@pytest.mark.parametrize(
    "node, inputs, weights, reason",
    [
        (N("Pad", "x p"), {"x": [1, 3]}, {"p": i64(0, 2**31 - 1, 2**31 - 1, 0)}, "takes more than 1 TiB"),
        (N("ReduceMin", "x a"), {"x": [0, 2**31 - 1, 4]}, {"a": i64(0)}, "builds a constant of shape"),
        (N("Dropout", "x", "y m"), {"x": [2**31 - 1, 4]}, {}, "builds a constant of shape"),
        (N("EyeLike", "x"), {"x": [2**13, 2**13 + 1]}, {}, "more than 67108864 elements"),
        (N("Trilu", "x"), {"x": [2**13, 2**13 + 1]}, {}, "more than 67108864 elements"),
        (N("Range", "a b c"), {}, {"a": i64(0), "b": i64(2**63 - 1), "c": i64(1)}, "more than 67108864 elements"),
        (
            N("Range", "a b c"),
            {},
            {"a": np.float32([0]), "b": np.float32([-np.inf]), "c": np.float32([-1])},
            "more than 67108864 elements",
        ),
        (
            N("OneHot", "x d v"),
            {"x": [2]},
            {"d": i64(2**26 + 1), "v": np.float32([0, 1])},
            "more than 67108864 elements",
        ),
        (
            N("Col2Im", "x i b"),
            {"x": [1, 2**14, 1]},
            {"i": i64(128, 128), "b": i64(128, 128)},
            "more than 67108864 elements",
        ),
        (
            N("MelWeightMatrix", "n d r l u"),
            {},
            {"n": i64(2**62), "d": i64(2**62), "r": i64(9), "l": np.float32(0), "u": np.float32(4)},
            "more than 67108864 elements",
        ),
        (N("Conv", "x w b"), {"x": [1, 4, 8], "w": [4, 4, 3], "b": [0]}, {}, "bias"),
        (N("CenterCropPad", "x s"), {"x": [20, 10]}, {"s": i64(-(2**63), 5)}, "a size of -9223372036854775808"),
        (N("Resize", ["x", "", "", "s"], axes=[1]), {"x": [1, 0]}, {"s": i64(5)}, "which is empty"),
        (
            N("Resize", ["x", "", "", "s"], keep_aspect_ratio_policy="not_smaller"),
            {"x": [0, 4]},
            {"s": i64(2, 5)},
            "is empty",
        ),
    ],
)
def test_extents_that_cannot_be(node, inputs, weights, reason, tmp_path):
    path = make(tmp_path / "m.onnx", [node], inputs, list(node.output), weights, opset=18)
    refused(path, reason)


def test_sizes_that_a_matrix_decides_are_refused(tmp_path):
    """Of more than one dimension it decides nothing; the first way's problem must not be lost with the second's."""
    nodes = [N("Shape", "x", "d"), N("Max", "d s", "m"), N("Sub", "m d", "n"), N("Pad", ["x", "n"], "y")]
    path = make(tmp_path / "m.onnx", nodes, {"x": [20, 8], "s": (TensorProto.INT64, [2, 1])}, ["y"], opset=18)
    refused(path, "'Pad:y' (Pad, opset 18)")


def test_attributes_that_no_operator_takes(tmp_path):
    node = N("Concat", "x x", axis=0)
    node.attribute.add().CopyFrom(helper.make_attribute("axis", 1))
    refused(make(tmp_path / "a.onnx", [node], {"x": [1]}, ["y"]), "has attribute 'axis' twice")
    node = N("Concat", "x x")
    node.attribute.add(name="axis", type=onnx.AttributeProto.INT, ref_attr_name="a")
    refused(make(tmp_path / "b.onnx", [node], {"x": [1]}, ["y"]), "'axis' refers to a function's attribute outside")


def test_what_is_listed_twice(tmp_path):
    refused(make(tmp_path / "a.onnx", [N("Relu", "x")], {"x": [1]}, ["y", "y"]), "output 'y' is listed twice")
    model = onnx.load(make(tmp_path / "b.onnx", [N("Relu", "x")], {"x": [1]}, ["y"]))
    model.opset_import.append(helper.make_opsetid("ai.onnx", 17))
    (tmp_path / "b.onnx").write_bytes(model.SerializeToString())
    refused(tmp_path / "b.onnx", "imports opsets 13 and 17 of domain 'ai.onnx'")


def test_versions(tmp_path):
    relu = [N("Relu", "x")]
    refused(make(tmp_path / "a.onnx", relu, {"x": [1]}, ["y"], ir=99), "IR version 99 is newer")
    refused(make(tmp_path / "b.onnx", relu, {"x": [1]}, ["y"], opset=99), "opset 99 is newer")
    refused(make(tmp_path / "c.onnx", relu, {"x": [1]}, ["y"], opset=6), "opset 6 is older")
    assert pto_opt("--import-onnx", make(tmp_path / "d.onnx", relu, {"x": [1]}, ["y"], opset=28, ir=13))[0] == 0


def test_broken_graphs(tmp_path):
    refused(make(tmp_path / "a.onnx", [N("Relu", "z")], {"x": [1]}, ["y"]), "input 'z' is defined nowhere")
    refused(make(tmp_path / "b.onnx", [N("Relu", "x"), N("Exp", "x")], {"x": [1]}, ["y"]), "defines 'y' a second time")
    refused(
        make(tmp_path / "c.onnx", [N("Relu", "a"), N("Exp", "x", "a")], {"x": [1]}, ["y"]), "computed later in the file"
    )
    refused(
        make(tmp_path / "e.onnx", [N("Reshape", "x s")], {"x": [2, 3]}, ["y"], {"s": i64(4, -1)}), "cannot give 2x3"
    )
    refused(
        make(tmp_path / "f.onnx", [N("Unsqueeze", "x z")], {"x": [2, 3], "z": (TensorProto.INT64, [1])}, ["y"]),
        "must be constant",
    )


# Found by ONNXFuzz.
@pytest.mark.parametrize("op", ["Max", "Min", "Mean", "Sum", "Concat"])
def test_a_list_of_inputs_has_no_gaps(op, tmp_path):
    attributes = {"axis": 0} if op == "Concat" else {}
    for inputs, gap in ((["x", ""], 1), (["x", "", "x"], 1)):
        path = make(tmp_path / "m.onnx", [N(op, inputs, **attributes)], {"x": [2, 3]}, ["y"])
        refused(path, f"input {gap} is missing")


@pytest.mark.parametrize("count", [-(2**63), -1, 0, 3, 2**63 - 1])
def test_scan_of_more_inputs_than_there_are(count, tmp_path):
    body = helper.make_graph(
        [N("Identity", "a", "b")],
        "body",
        [helper.make_tensor_value_info("a", F, [3])],
        [helper.make_tensor_value_info("b", F, [3])],
    )
    path = make(tmp_path / "m.onnx", [N("Scan", "x x", body=body, num_scan_inputs=count)], {"x": [2, 3]}, ["y"])
    refused(path, f"scans {count} of 2 inputs")


def test_damaged_files(tmp_path):
    good = make(
        tmp_path / "m.onnx", *(lambda c: (c[0], c[1], ["y"], c[2], c[3]))(CASES["conv_batch_norm"])
    ).read_bytes()
    path = tmp_path / "bad.onnx"
    for data, reason in (
        (b"", "the file is empty"),
        (b"this is a text file\n", "is not an ONNX model"),
        (bytes(1000), "is not an ONNX model"),
        (np.random.default_rng(0).bytes(5000), "is not an ONNX model"),
    ):
        path.write_bytes(data)
        assert len(refused(path, reason)) == 1
    refused(tmp_path / "missing.onnx", "cannot open")
    for part in range(1, 20):
        path.write_bytes(good[: len(good) * part // 20])
        refused(path)
    rng = np.random.default_rng(1)
    for _ in range(60):
        data = bytearray(good)
        data[rng.integers(len(data))] = rng.integers(256)
        path.write_bytes(bytes(data))
        code, _, err = pto_opt("--import-onnx", path)
        assert code == 0 or (code == 1 and err.startswith("pto-opt: error: ")), (code, err)


def test_weights_beside_the_module(tmp_path):
    case = CASES["large_weight"]
    path = make(tmp_path / "m.onnx", case[0], case[1], ["y"], case[2], case[3])
    mlir, stored = tmp_path / "m.mlir", tmp_path / "m_top_weights.safetensors"
    assert pto_opt("--import-onnx", path, "-o", mlir)[0] == 0
    assert mlir.stat().st_size < 4000  # 8000 bytes of weights are not in it
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.mlir", "m.onnx", "m_top_weights.safetensors"]
    good = stored.read_bytes()
    (size,) = struct.unpack("<Q", good[:8])
    broken = {
        "truncated": good[:-4],
        "longer": good + b"1234",
        "no header": good[:7],
        "header length": b"\xff" * 8 + good[8:],
        "no JSON": good[:8] + b"x" * size + good[8 + size :],
        "type": good.replace(b'"F32"', b'"F16"'),
        "name": good.replace(b'"w"', b'"v"'),
        "shape": good.replace(b"[40,50]", b"[50,40]"),
    }
    for what, data in broken.items():
        stored.write_bytes(data)
        code, _, err = pto_opt(f"--top-load-weights=file={stored}", mlir)
        assert code == 1 and str(stored) in err, (what, err)
