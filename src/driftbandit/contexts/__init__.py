"""From a visitor's fields, by name, to a vector of length at most 1."""
