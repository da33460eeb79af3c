"""A program as the files of the PTO back end, under the names of March 2026."""

import re
from pathlib import Path

from pypto.backend.output_tree import (
    before_assembler,
    find_ptoas,
    generate_arg_unpacking,
    generate_kernel_wrapper,
    preprocess_ptoas_output,
    run_ptoas,
    tree_files,
)

_run_ptoas = run_ptoas
_preprocess_ptoas_output = preprocess_ptoas_output
_generate_arg_unpacking = generate_arg_unpacking
_generate_kernel_wrapper = generate_kernel_wrapper


def generate(program, output_dir, skip_ptoas=False, *, today=False, processor="", ptoas=None) -> dict:
    """Path -> text of the output tree (pypto.backend.output_tree); with `skip_ptoas` kernels/CORE/F.pto instead of C++,
    and no configuration. What the assembler is given and gives is also written to output_dir/ptoas. PartialCodegenError
    lists kernels that cannot be made; its `files` has the others."""
    from pypto.backend.pto_backend import PartialCodegenError

    files, failed = tree_files(program, today, processor, None if skip_ptoas else find_ptoas(ptoas))
    if skip_ptoas:
        kept = {path: text for path, text in files.items() if re.match(r"orchestration/|kernels/.*pto$", path)}
        files = kept | before_assembler(files)
    for path, text in files.items():
        if path.startswith("ptoas/"):
            target = Path(output_dir) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    if failed:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
        raise PartialCodegenError(f"{program.name}: {reasons}", hint="", files=files, failed=failed)
    return files
