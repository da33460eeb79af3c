"""Reads args_dump.json and its bytes (pypto.runtime.dumps).

python -m pto_mlir.pypto -m simpler_setup.tools.dump_viewer FOLDER
"""

import json
import sys
from pathlib import Path

import numpy as np


def read_arg_data(path, offset, size) -> bytes:
    """The bytes of one entry. ValueError where the file ends before."""
    with open(path, "rb") as file:
        file.seek(offset)
        data = file.read(size)
    if len(data) != size:
        raise ValueError(f"{path}: has {len(data)} bytes at {offset}, not {size}")
    return data


def decode_elements(data, dtype, count) -> list:
    """The first `count` elements as numbers; `dtype` as the manifest says it. ValueError for what is no such type, and
    for fewer bytes."""
    if dtype == "bfloat16":
        return (np.frombuffer(data, np.uint16, count).astype(np.uint32) << 16).view(np.float32).tolist()
    try:
        kind = np.dtype(dtype)
    except TypeError as error:
        raise ValueError(f"elements of type {dtype} are not shown") from error
    return np.frombuffer(data, kind, count).tolist()


def main(folder) -> None:
    """Prints a line for each entry: task, kernel, argument, stage, shape and the first elements."""
    manifest = json.loads((Path(folder) / "args_dump.json").read_text())
    for each in manifest["args"]:
        data = read_arg_data(Path(folder) / manifest["bin_file"], each["bin_offset"], each["bin_size"])
        first = ", ".join(
            f"{value:g}" for value in decode_elements(data, each["dtype"], min(4, np.prod(each["shape"])))
        )
        shape = "x".join(map(str, each["shape"]))
        print(f"{each['task_id']} {each['kernel']} {each['arg_name']} {each['stage']} {shape} {each['dtype']}: {first}")


if __name__ == "__main__":
    main(sys.argv[1])
