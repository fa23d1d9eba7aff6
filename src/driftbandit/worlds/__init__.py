"""The worlds that policies play in: drifts, arms, noise and delays, dealt in blocks."""
