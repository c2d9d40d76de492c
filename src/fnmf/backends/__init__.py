"""Compiled kernels and the memory layout they want. Nothing here knows where rows come from."""
