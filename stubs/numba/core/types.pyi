from typing import Any

class BaseNamedTuple:
    instance_class: type

class RawPointer:
    def __init__(self, name: str) -> None: ...

none: Any
int64: Any
