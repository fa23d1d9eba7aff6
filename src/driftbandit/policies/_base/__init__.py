"""What all policies share: the policy itself, its radius, its entry points, decisions, values, saved files."""
