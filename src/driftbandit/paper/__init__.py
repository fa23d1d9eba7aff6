"""The paper's experiments, claims and pages."""
