"""A run of a solver: evaluation log, checkpoint file, sparse recovery."""
