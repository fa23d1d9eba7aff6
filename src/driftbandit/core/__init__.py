"""The foundation: NumPy and numba, the algebra and the choice; it knows of no policy."""
