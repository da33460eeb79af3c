"""A task graph that the host builds and a DeviceRunner executes, any number of times."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from enum import IntEnum


class CoreType(IntEnum):
    CUBE = 0
    VECTOR = 1
    AI_CPU = 2
    ACCELERATOR = 3


@dataclass
class Task:
    args: list
    func_id: int
    core_type: CoreType
    name: str
    blocks: int
    successors: list[int] = field(default_factory=list)


class Graph:
    """Tasks are numbered from 0. The edges are exactly those that `add_successor` adds; they may go either way."""

    def __init__(self, name: str = "graph"):
        self.name = name
        self.tasks: list[Task] = []

    def add_task(
        self, args, func_id: int, core_type: CoreType | int = CoreType.VECTOR, name: str = "", blocks: int = 1
    ) -> int:
        """`args` are numpy arrays, DeviceBuffers and numbers, in the order in which the kernel reads them; `func_id` is
        what DeviceRunner.register_kernel returned. Returns the task's number."""
        if not isinstance(func_id, int) or isinstance(func_id, bool) or func_id < 0:
            raise ValueError(f"func_id is what register_kernel returned, got {func_id!r}")
        if not isinstance(blocks, int) or blocks < 1:
            raise ValueError(f"a task has at least one block, got {blocks!r}")
        self.tasks.append(Task(list(args), func_id, CoreType(core_type), str(name), blocks))
        return len(self.tasks) - 1

    def add_successor(self, from_task: int, to_task: int) -> None:
        """`to_task` starts after `from_task` has ended."""
        for task in (from_task, to_task):
            if not isinstance(task, int) or not 0 <= task < len(self.tasks):
                raise ValueError(f"there is no task {task!r}, {self.name} has {len(self.tasks)}")
        if from_task == to_task:
            raise ValueError(f"task {self.describe(from_task)} cannot wait for itself")
        if to_task not in self.tasks[from_task].successors:
            self.tasks[from_task].successors.append(to_task)

    def describe(self, task: int) -> str:
        name = self.tasks[task].name
        return f"{task} ('{name}')" if name else str(task)

    def order(self) -> list[int]:
        """The tasks in an order that the edges allow, lowest number first. ValueError names a cycle."""
        waiting = [0] * len(self.tasks)
        for task in self.tasks:
            for successor in task.successors:
                waiting[successor] += 1
        ready = [task for task, count in enumerate(waiting) if count == 0]
        order = []
        while ready:
            order.append(heapq.heappop(ready))
            for successor in self.tasks[order[-1]].successors:
                waiting[successor] -= 1
                if waiting[successor] == 0:
                    heapq.heappush(ready, successor)
        if len(order) < len(self.tasks):
            raise ValueError(
                f"{self.name} has a cycle: " + self._cycle({task for task, count in enumerate(waiting) if count})
            )
        return order

    def _cycle(self, left: set[int]) -> str:
        # Every task that is left waits for another one that is left: going backwards meets one twice.
        before = {successor: task for task in left for successor in self.tasks[task].successors if successor in left}
        path, task = [], next(iter(sorted(left)))
        while task not in path:
            path.append(task)
            task = before[task]
        cycle = [task, *reversed(path[path.index(task) :])]
        return " -> ".join(self.describe(member) for member in cycle)

    def __str__(self) -> str:
        lines = [f"graph {self.name}: {len(self.tasks)} tasks"]
        for number, task in enumerate(self.tasks):
            after = " -> " + ", ".join(map(str, task.successors)) if task.successors else ""
            lines.append(
                f"  task {self.describe(number)}: kernel {task.func_id} on {task.core_type.name}, "
                f"{len(task.args)} args{after}"
            )
        return "\n".join(lines)
