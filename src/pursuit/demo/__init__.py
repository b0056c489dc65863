"""``pursuit demo``: two real data sets, each from the data to a comparison, a model file and a picture."""
