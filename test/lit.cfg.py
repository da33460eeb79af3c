import os

import lit.formats

config.name = "PTO-MLIR"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".pto", ".test", ".vm"]
config.excludes = ["Inputs", "CMakeLists.txt", "python"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.pto_build, "test")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.pto_build, "bin"), "/usr/lib/llvm-19/bin", os.environ["PATH"]]
)
config.environment["PYTHONPATH"] = os.path.join(config.pto_build, "python")
config.substitutions.append(("%python", config.python))
