"""Networks on ONNX Runtime."""
