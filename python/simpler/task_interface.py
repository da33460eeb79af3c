"""Arguments of tasks and how calls run."""

from pypto.runtime.call_config import CallConfig, CommBufferSpec, DataType, TaskArgs, TensorArgType

__all__ = ["CallConfig", "CommBufferSpec", "DataType", "TaskArgs", "TensorArgType"]
