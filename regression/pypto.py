"""Runs the programs of a checkout of PyPTO's public repository with our package, files unmodified.

    python -m regression.pypto --checkout DIR [--group examples|st|ut] [--checked] [--jobs N] [--python EXE] [--json F]

examples: a row for each file and mode: whether it was parsed, compiled and run, its own check, seconds, and the reason
where it failed. st, ut: how many tests of each family passed, failed with which reasons, were skipped by themselves
(regression.pypto_tests). The interpreter needs what the files import (torch, pytest). With --checked what says no mode
runs in the checked mode, where races and reads of what nobody wrote are failures.
"""

from __future__ import annotations

import ast
import concurrent.futures
import gc
import json
import os
import runpy
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROG = "regression.pypto"
GROUPS = {"examples": "examples", "st": "tests/st", "ut": "tests/ut"}


def modes(text: str) -> list[list[str]]:
    """Arguments of each run: one for each choice of `--mode`, literal or the keys of `_MODES`; with and without a
    switch `--use-..`; on two and on four devices where the help of `--device` takes any count."""
    tree = ast.parse(text)
    found = chosen_modes(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") != "add_argument":
            continue
        names = [each.value for each in node.args if isinstance(each, ast.Constant)]
        keywords = {each.arg: getattr(each.value, "value", None) for each in node.keywords}
        if keywords.get("action") == "store_true":
            found += [[*mode, name] for name in names if name.startswith("--use-") for mode in found]
        if "--device" in names and "any count" in str(keywords.get("help")):
            found += [[*mode, "--device", "0,1,2,3"] for mode in found]
    return found


def chosen_modes(tree: ast.AST) -> list[list[str]]:
    """What `--mode` may be."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            if any(isinstance(target, ast.Name) and target.id == "_MODES" for target in node.targets):
                names = [key.value for key in node.value.keys if isinstance(key, ast.Constant)]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not any(
            isinstance(each, ast.Constant) and each.value == "--mode" for each in node.args
        ):
            continue
        for keyword in node.keywords:
            if keyword.arg == "choices":
                if isinstance(keyword.value, (ast.List, ast.Tuple)):
                    names = [each.value for each in keyword.value.elts if isinstance(each, ast.Constant)]
                return [["--mode", str(name)] for name in names] or [[]]
    return [[]]


def programs(checkout: Path, group: str) -> list[tuple[Path, list[str], bool]]:
    """(file, arguments, whether it checks numbers) of each run. Files without `__main__` are no programs."""
    found = []
    for file in sorted((checkout / GROUPS[group]).rglob("*.py")):
        text = file.read_text()
        if "__main__" not in text:
            continue
        checks = any(word in text for word in ("allclose", "assert ", "assert_", "validate", "max_diff"))
        found += [(file, arguments, checks) for arguments in modes(text)]
    return found


def run_checked() -> None:
    """From now on the mode of a RunConfig is checked where the program names none; of several ranks there is none."""
    from pypto.runtime import RunConfig

    made = RunConfig.__post_init__

    def checked(config):
        made(config)
        if config.distributed_config is None:
            config.mode = "checked"

    RunConfig.__post_init__ = checked


def run(checkout: Path, file: Path, arguments: list[str], args) -> dict:
    """Runs one file in a process of its own; the row's fields but `file`, `mode`, `check`."""
    from pto_mlir import pypto

    package = Path(pypto.__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder) / "events"
        paths = [str(package), pypto.PATH, str(checkout)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYPTO_PROG_BUILD_DIR": folder}
        environment |= {"PYPTO_TESTS_CHECKED": "1"} if args.checked else {}
        command = [args.python, str(Path(__file__).resolve()), "--probe", str(events), str(file), *arguments]
        begin = time.monotonic()
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=args.timeout,
            )
            code, output, errors = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            code, output, errors = -1, "", f"longer than {args.timeout:g} s"
        seconds = time.monotonic() - begin
        seen = set(events.read_text().split()) if events.exists() else set()
    last = (errors.strip() or output.strip() or f"exit code {code}").splitlines()[-1]
    stages = {stage: stage in seen for stage in ("parsed", "compiled", "ran")}
    reason = last if code != 0 or "SKIPPED" in last else ""
    return {**stages, "passed": code == 0, "seconds": round(seconds, 2), "reason": reason}


def index_as_newer_torch() -> None:
    """torch 1 takes no int32 index, and lacks names, which programs written for torch 2 use in their own references."""
    try:
        import torch
    except ImportError:
        return
    if int(torch.__version__.split(".")[0]) > 1:
        return
    torch.Tensor.untyped_storage = lambda tensor: tensor.storage()
    # torch.dtype takes no attributes, but its dictionary does.
    gc.get_referents(torch.dtype.__dict__)[0]["itemsize"] = property(
        lambda kind: torch.empty((), dtype=kind).element_size()
    )
    held = torch.Tensor.__getitem__

    def get(tensor, index):
        is_int32 = isinstance(index, torch.Tensor) and index.dtype == torch.int32
        return held(tensor, index.long() if is_int32 else index)

    torch.Tensor.__getitem__ = get
    eye = torch.eye
    torch.eye = lambda *args, dtype=None, **others: eye(*args, **others).to(dtype or torch.get_default_dtype())
    for name in (
        "relu",
        "log",
        "sqrt",
        "prod",
        "exp",
        "rsqrt",
        "reciprocal",
        "clamp",
        "sin",
        "cos",
        "cumsum",
        "matmul",
    ):
        setattr(torch, name, in_float(getattr(torch, name)))
        if hasattr(torch.Tensor, name):
            setattr(torch.Tensor, name, in_float(getattr(torch.Tensor, name)))


def in_float(held):
    """A function of torch that computes half precision in single precision where the CPU has no other way."""
    import torch

    def call(*args, **keywords):
        try:
            return held(*args, **keywords)
        except RuntimeError as error:
            if "'Half'" not in str(error):
                raise
        wide = [each.float() if isinstance(each, torch.Tensor) else each for each in args]
        return held(*wide, **keywords).half()

    return call


def probe(events: str, file: str, arguments: list[str]) -> None:
    """In the process of a program: notes which stages it reaches."""
    import functools

    sys.path[0] = str(Path(file).parent)  # not this file's folder, where its name hides the package
    from pypto.ir.compiled_program import CompiledProgram
    from pypto.jit.specialise import JitParser
    from pypto.language.parser import entry

    def note(owner, name, stage):
        held = getattr(owner, name)

        @functools.wraps(held)
        def wrapped(*args, **keywords):
            result = held(*args, **keywords)
            with open(events, "a") as out:
                out.write(stage + "\n")
            return result

        setattr(owner, name, wrapped)

    note(JitParser, "specialise", "parsed")
    note(entry, "_build_program", "parsed")
    note(CompiledProgram, "__init__", "compiled")
    note(CompiledProgram, "launch", "ran")
    index_as_newer_torch()
    if os.environ.get("PYPTO_TESTS_CHECKED"):
        run_checked()
    sys.argv = [file, *arguments]
    if "\nfrom ." in Path(file).read_text():  # a module of a package, as `python -m` runs it
        root = next(each for each in Path(file).parents if not (each / "__init__.py").exists())
        sys.path.append(str(root))
        runpy.run_module(".".join(Path(file).relative_to(root).with_suffix("").parts), run_name="__main__")
    else:
        runpy.run_path(file, run_name="__main__")


def shown(held: bool) -> str:
    return "yes" if held else "-"


def work(argv) -> int:
    from pto_mlir import cli
    from pto_mlir.errors import UserError

    p = cli.Parser(PROG, "Runs the programs of a checkout of PyPTO's public repository.")
    p.add_argument("--checkout", required=True, help="its folder")
    p.add_argument("--group", choices=sorted(GROUPS), default="examples")
    p.add_argument("--only", default="", help="files whose path holds this text")
    p.add_argument("--jobs", type=int, default=1, help="programs at a time")
    p.add_argument("--python", default=sys.executable, help="an interpreter with what the programs import")
    p.add_argument("--timeout", type=float, default=240, help="seconds for each program or test")
    p.add_argument("--platform", choices=("a2a3", "a5"), default="a2a3", help="whose tests of st are counted")
    p.add_argument("--checked", action="store_true", help="run in the checked mode what says no mode")
    p.add_argument("--json", default="", help="write the rows here")
    args = p.parse_args(argv)
    checkout = Path(args.checkout).resolve()
    if not (checkout / GROUPS[args.group]).is_dir():
        raise UserError(f"{args.checkout}: --checkout: has no folder {GROUPS[args.group]}")
    if args.group != "examples":
        from regression import pypto_tests

        return pypto_tests.main_of(args)
    todo = [each for each in programs(checkout, args.group) if args.only in str(each[0])]
    with concurrent.futures.ThreadPoolExecutor(max(1, args.jobs)) as pool:
        done = list(pool.map(lambda each: run(checkout, each[0], each[1], args), todo))
    for (_, _, checks), row in zip(todo, done, strict=True):
        row["passed"] &= not (checks and "SKIPPED" in row["reason"])
    rows = [
        {
            "file": str(file.relative_to(checkout)),
            "mode": " ".join(arguments).removeprefix("--mode "),
            "checks": checks,
            **result,
        }
        for (file, arguments, checks), result in zip(todo, done, strict=True)
    ]
    cells = []
    for row in rows:
        check = "passed" if row["passed"] else "failed"
        stages = [shown(row[stage]) for stage in ("parsed", "compiled", "ran")]
        own = check if row["checks"] else f"({check})"
        cells.append([row["file"], row["mode"], *stages, own, f"{row['seconds']:.2f}", row["reason"][:200]])
    head = ["file", "mode", "parsed", "compiled", "ran", "own check", "seconds", "reason"]
    cli.table(head, cells, left=(0, 1, 2, 3, 4, 5, 7), marked=[i for i, row in enumerate(rows) if not row["passed"]])
    checked = [row for row in rows if row["checks"]]
    others = [row for row in rows if not row["checks"]]
    print(f"{sum(row['passed'] for row in checked)} of {len(checked)} runs that check numbers pass", end=", ")
    print(f"{sum(row['passed'] for row in others)} of {len(others)} others")
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0


def main(argv=None) -> int:
    from pto_mlir import cli

    return cli.run(PROG, work, argv)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--probe"]:
        probe(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        sys.exit(main())
