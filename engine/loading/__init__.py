"""Weights brought into memory: device, precision, quantisation, LoRA layers."""
