"""What JAX functions are, seen from inside: traced, restricted to few coordinates, compiled once for many closures."""
