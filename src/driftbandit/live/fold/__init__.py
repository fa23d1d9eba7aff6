"""What happened, and what follows from it: one experiment as a pure fold over records."""
