"""End metric of the three PP-OCR networks together: the same text as the package's own pipeline reads."""

from __future__ import annotations

import json
import os
import subprocess
import venv
from pathlib import Path

import onnx
from PIL import Image
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession

from . import samples, zoo
from .measure import command, onnxruntime_session
from .ocr import Reader

WIDTH = 320  # of the recogniser in the zoo
PACKAGES = [
    "rapidocr-onnxruntime==1.4.4",
    "onnxruntime",
    "opencv-python-headless<5",
    "pyclipper",
    "shapely",
    "PyYAML",
    "Pillow",
    "six",
    "tqdm",
]


def pictures(folder: Path, cache: Path) -> tuple[list[Path], str]:
    """A photographed page of print, and rendered ones: straight, turned a little, with a line on its head. Says so when
    there is no photograph."""
    folder.mkdir(parents=True, exist_ok=True)
    images = {
        "rendered": samples.page(0)[0],
        "tilted": samples.tilted_page(1),
        "turned": samples.page_with_turned_line(2),
    }
    _, photograph, reason = samples.photographs(cache)
    if photograph:
        images["photographed"] = samples.photographed_page(photograph)
    paths = [folder / f"{name}.png" for name in images]
    for path, image in zip(paths, images.values()):
        image.save(path)
    return paths, reason


def package_python(cache: Path) -> tuple[Path | None, str]:
    """Python of an environment that holds the package, made when it is not there; or why there is none."""
    folder = cache / "rapidocr-venv"
    python = folder / "bin" / "python"
    if (folder / "complete").is_file():
        return python, ""
    venv.create(folder, with_pip=True, clear=True)
    # Without dependencies: the package asks for OpenCV with a window system, which nothing here needs.
    for packages in (["--no-deps", PACKAGES[0]], PACKAGES[1:]):
        done = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            return None, f"pip install {' '.join(packages)}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}"
    (folder / "complete").touch()
    return python, ""


def package_texts(cache: Path, paths: list[Path]) -> tuple[list[list[str]] | None, str]:
    python, reason = package_python(cache)
    if python is None:
        return None, reason
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run([python, zoo.FOLDER / "reference_ocr.py", *paths], capture_output=True, text=True, env=env)
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or ["failed"])[-1]
    return json.loads(done.stdout.strip().splitlines()[-1]), ""


def characters(model: Path) -> list[str]:
    """The recogniser's classes from 1 on: its metadata lists them, the space comes last."""
    listed = {p.key: p.value for p in onnx.load(str(model)).metadata_props}["character"]
    return [*listed.splitlines(), " "]


def networks(spec: dict):
    """Functions that give a network by name: of our .pmodels, and of onnxruntime."""
    work, zoo_folder = Path(spec["work"]), Path(spec["cache"]) / "zoo"

    def session(name: str, width: int):
        """The .pmodel of this run; a recogniser of another width is made now, since a .pmodel has fixed shapes."""
        stem = zoo.stem(name, spec)
        file = work / f"{stem}.pmodel"
        if name == "rec" and width != WIDTH:
            mlir, file = work / f"rec_{width}.mlir", work / f"{stem}_{width}.pmodel"
            for run in (
                command(
                    "model_transform",
                    "--model_name",
                    "rec",
                    "--model_def",
                    zoo_folder / "rec.onnx",
                    "--input_shapes",
                    f"[[1,3,48,{width}]]",
                    "--mlir",
                    mlir,
                ),
                command(
                    "model_deploy",
                    "--mlir",
                    mlir,
                    "--quantize",
                    spec["mode"],
                    "--processor",
                    spec["processor"],
                    "--num_core",
                    str(spec["cores"]),
                    "--model",
                    file,
                ),
            ):
                if run.problem:
                    raise UserError(run.problem)
        return InferenceSession(str(file), threads=spec["threads"])

    def ours(name: str):
        sessions = {}

        def run(x):
            width = x.shape[3]
            sessions[width] = sessions.get(width) or session(name, width)
            return sessions[width].run(None, {sessions[width].get_inputs()[0].name: x})[0]

        return run

    def theirs(name: str):
        session = onnxruntime_session(zoo_folder / f"{name}.onnx")
        return lambda x: session.run(None, {session.get_inputs()[0].name: x})[0]

    return ours, theirs


def same_text(spec: dict) -> dict:
    """`spec`: cache, work, mode, cores, threads of the job. Beside the package our own pipeline runs with onnxruntime's
    networks."""
    cache = Path(spec["cache"])
    classes = characters(cache / "zoo" / "rec.onnx")
    readers = [Reader(*(make(n) for n in ("det", "cls", "rec")), classes) for make in networks(spec)]
    paths, no_photograph = pictures(Path(spec["work"]) / zoo.stem("pictures", spec), cache)
    texts, same_networks = ([reader.read(Image.open(p)) for p in paths] for reader in readers)
    package, no_package = package_texts(cache, paths)
    wanted = same_networks if package is None else package
    alike = sum(a == b for a, b in zip(texts, wanted))
    notes = [
        f"beside onnxruntime's networks; the package is skipped: {no_package}"
        if package is None
        else "beside the package's own pipeline"
    ]
    notes += [f"no photograph: {no_photograph}"] if no_photograph else []
    notes += [f"{p.name}: {a} instead of {b}" for p, a, b in zip(paths, texts, wanted) if a != b]
    return {
        "passed": alike == len(paths),
        "details": {
            "pictures": [p.name for p in paths],
            "ours": texts,
            "onnxruntime": same_networks,
            "package": package,
        },
        "summary": f"the same text on {alike} of {len(paths)} pictures, {sum(map(len, texts))} lines, "
        + "; ".join(notes),
    }
