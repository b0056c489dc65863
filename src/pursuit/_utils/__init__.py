"""Helpers without a layer of their own: validation, column names, text tables, files, array types, progress."""
