"""NumPy and numba, the algebra and the choice: knows no policy."""
