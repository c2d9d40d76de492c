"""How one iteration runs over the data: sweeps over row blocks, kernels, data views."""
