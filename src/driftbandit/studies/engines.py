"""Where replicates run: threads or processes here, Dask or Ray beyond one machine, all through joblib."""

import importlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from joblib import Parallel, delayed, parallel_config

from driftbandit.core.extras import needed_for

Task = TypeVar("Task")
Done = TypeVar("Done")

ENGINES = ("threads", "processes", "dask", "ray")


def run_all(
    function: Callable[[Task], Done],
    tasks: Sequence[Task],
    engine: str = "threads",
    workers: int | None = None,
    address: str | None = None,
) -> Iterator[Done]:
    """Every task's result, in the order in which they finish. ``address``: a running Dask or Ray cluster.

    What all tasks share, such as a large table, is bound to ``function`` with ``functools.partial``.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    if address is not None and engine == "dask" and workers is not None:
        raise ValueError("workers cannot be set for a running Dask cluster: set it where the cluster is started")
    if address is not None and engine not in ("dask", "ray"):
        raise ValueError(f"address is for the engines dask and ray, not {engine}")
    count = workers or os.cpu_count() or 1
    if engine == "threads":
        with parallel_config(backend="threading", n_jobs=count):
            yield from _as_finished(function, tasks)
    elif engine == "processes":
        with parallel_config(backend="loky", n_jobs=count, initializer=end_with_parent):
            yield from _as_finished(function, tasks)
    elif engine == "dask":
        with _dask(address, count), parallel_config(backend="dask", wait_for_workers_timeout=60):
            yield from _as_finished(function, tasks)
    else:
        with _ray(address, count) as cpus, parallel_config(backend="ray", n_jobs=workers or cpus):
            # Ray's backend returns only whole lists: waves keep what is lost by a crash small.
            size = 4 * (workers or cpus)
            for start in range(0, len(tasks), size):
                wave = tasks[start : start + size]
                yield from Parallel(batch_size=1)(_calls(function, wave))


def _as_finished(function: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[Done]:
    results: Iterator[Done] = Parallel(return_as="generator_unordered", batch_size=1)(_calls(function, tasks))
    yield from results


def end_with_parent() -> None:
    """In a worker: exit when the process that started it is gone, which if killed cannot stop its workers itself."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _calls(function: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[Any]:
    """Bound values are passed as arguments: processes share large ones through a file, and Dask sends each once."""
    bound = partial(function)
    return (delayed(bound.func)(*bound.args, task, **bound.keywords) for task in tasks)


@contextmanager
def _dask(address: str | None, workers: int) -> Iterator[None]:
    distributed = _need("distributed", "dask")
    if address is not None:
        with distributed.Client(address):
            yield
        return
    # Without an address it would take one fixed port, and warn wherever two studies run at a time.
    cluster = distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    with cluster, distributed.Client(cluster):
        yield


@contextmanager
def _ray(address: str | None, workers: int) -> Iterator[int]:
    """How many processors the cluster has."""
    ray = _need("ray", "ray")
    options = {"address": address} if address else {"num_cpus": workers, "include_dashboard": False}
    ray.init(ignore_reinit_error=True, log_to_driver=False, **options)
    _need("ray.util.joblib", "ray").register_ray()
    try:
        yield int(ray.cluster_resources().get("CPU", workers))
    finally:
        ray.shutdown()


def _need(module: str, engine: str) -> Any:
    with needed_for(f"engine={engine!r}"):
        return importlib.import_module(module)
