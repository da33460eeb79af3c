"""Random ONNX graphs of many operators, compiled, run on the simulator and compared with onnxruntime and float64."""
