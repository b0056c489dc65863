"""Estimators of graphs: sparse precision matrices and discriminant analysis."""
