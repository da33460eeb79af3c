"""The quickstart's demonstration: convert the classifier, deploy it in F32 and F16, and ask both and onnxruntime about
two pictures.

classify.py FOLDER      FOLDER holds cls.onnx, upright.png, turned.png (scripts/fetch_cls.py); the .pmodel files go
                        there too
"""

import sys
from pathlib import Path

from pto_mlir.preprocess import Preprocess
from pto_mlir.reference import run_onnx
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_deploy, model_transform
from pto_mlir.tools.native import run_native

SHAPE = [1, 3, 48, 192]
PICTURES = {"upright": 0, "turned": 1}
LABELS = ["0 degrees", "180 degrees"]
# As the package's own pipeline does it: height 48, right side padded with the mean, (x / 255 - 0.5) / 0.5, BGR.
PREPROCESS = Preprocess([48, 192], True, 127.5, "normal", [127.5] * 3, [1 / 127.5] * 3, "bgr")


def join(values) -> str:
    return ",".join(repr(v) for v in values)


def show(command: str, arguments: list[str]) -> None:
    print(f"\n$ {command} {' '.join(arguments)}", flush=True)


def step(tool, arguments: list[str]) -> None:
    show(tool.PROG, arguments)
    if tool.main(arguments) != 0:
        sys.exit(f"error: {tool.PROG} failed")


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(f"usage: {Path(__file__).name} FOLDER")
    folder = Path(sys.argv[1])
    model, mlir = str(folder / "cls.onnx"), str(folder / "cls.mlir")
    step(
        model_transform,
        [
            "--model_name",
            "cls",
            "--model_def",
            model,
            "--input_shapes",
            "[[1,3,48,192]]",
            "--resize_dims",
            "48,192",
            "--keep_aspect_ratio",
            "--pad_type",
            "normal",
            "--pad_value",
            "127.5",
            "--mean",
            join(PREPROCESS.mean),
            "--scale",
            join(PREPROCESS.scale),
            "--pixel_format",
            "bgr",
            "--test_input",
            str(folder / "upright.png"),
            "--test_result",
            str(folder / "cls_ref.npz"),
            "--mlir",
            mlir,
        ],
    )
    for mode in ("F32", "F16"):
        step(
            model_deploy,
            [
                "--mlir",
                mlir,
                "--quantize",
                mode,
                "--processor",
                "a3",
                "--test_input",
                str(folder / "cls_in_f32.npz"),
                "--test_reference",
                str(folder / "cls_ref.npz"),
                "--model",
                str(folder / f"cls_{mode.lower()}.pmodel"),
            ],
        )
    show("pmodel_tool", ["--info", str(folder / "cls_f32.pmodel")])
    if run_native("pmodel_tool", ["--info", str(folder / "cls_f32.pmodel")]) != 0:
        sys.exit("error: pmodel_tool failed")

    sessions = {mode: InferenceSession(str(folder / f"cls_{mode.lower()}.pmodel")) for mode in ("F32", "F16")}
    print(f"\n{'picture':<10} {'':<20} {'answer':<12} {'p(0 degrees)':>14} {'p(180 degrees)':>15}")
    wrong = 0
    for picture, truth in PICTURES.items():
        x = PREPROCESS.load(folder / f"{picture}.png", SHAPE)
        answers = {"onnxruntime": next(iter(run_onnx(model, {"x": x}).values()))}
        answers |= {f"cmodel, {mode}": session.run(None, {"x": x})[0] for mode, session in sessions.items()}
        for who, probabilities in answers.items():
            answer = int(probabilities[0].argmax())
            wrong += answer != truth
            print(
                f"{picture:<10} {who:<20} {LABELS[answer]:<12} {probabilities[0][0]:>14.8f} "
                f"{probabilities[0][1]:>15.8f}"
            )
    if wrong:
        sys.exit(f"error: {wrong} wrong answers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
