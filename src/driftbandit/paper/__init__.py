"""The paper's experiments, its claims, its pages."""
