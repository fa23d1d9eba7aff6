"""What AdaptiveUCB and DetectUCB share: the bank, what refutes it, the archive, late rewards, their history."""
