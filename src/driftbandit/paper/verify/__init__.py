"""Every statement of the paper, tested."""
