"""Every statement of the paper, tried."""
