"""A durable policy in the process: what it has answered, it has written."""


class Learner:
    """To be filled in."""
