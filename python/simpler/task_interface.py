"""Arguments of tasks and how calls run."""

from pypto.runtime.call_config import CallConfig, TaskArgs, TensorArgType

__all__ = ["CallConfig", "TaskArgs", "TensorArgType"]
