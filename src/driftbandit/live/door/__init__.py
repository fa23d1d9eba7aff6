"""The service over HTTP: routes, tokens, limits, and what its page is told."""
