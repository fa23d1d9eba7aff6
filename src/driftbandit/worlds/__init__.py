"""What is played against: drifts, arms, noise and delays, dealt in blocks."""
