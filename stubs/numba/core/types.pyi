class BaseNamedTuple:
    instance_class: type
