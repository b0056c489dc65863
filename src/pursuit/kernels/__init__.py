"""The Python side of calls into the C++ core."""
