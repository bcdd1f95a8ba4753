"""Load weights into memory: device, precision, quantisation, LoRA layers."""
