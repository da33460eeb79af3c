"""Builds, compiles and runs task graphs.

from pto_runtime import BinaryCompiler, CoreType, DeviceRunner, Graph

runner = DeviceRunner()
runner.init(cube=1, vector=2)
add = runner.register_kernel(lambda a, b, c: numpy.add(a, b, out=c), name="add")
graph = Graph("diamond")
first = graph.add_task([a, b, c], add)
second = graph.add_task([c, b, d], add, CoreType.VECTOR)
graph.add_successor(first, second)
runner.run(graph)
runner.finalize()
"""

from .compiler import Binary, BinaryCompiler
from .graph import CoreType, Graph, Task
from .runner import DeviceBuffer, DeviceError, DeviceRunner

__all__ = ["Binary", "BinaryCompiler", "CoreType", "DeviceBuffer", "DeviceError", "DeviceRunner", "Graph", "Task"]
