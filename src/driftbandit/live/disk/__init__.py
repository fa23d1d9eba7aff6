"""Where records are kept: the journal, its snapshots, group commit."""
