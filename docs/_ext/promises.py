"""``.. promises:: module:NAME``: the checks in that mapping, each with the first line of its docstring."""

from importlib import import_module

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from driftbandit.checks.trial import promise


class Promises(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module, _, name = self.arguments[0].partition(":")
        checks = getattr(import_module(module), name)
        lines = [f"- ``{one}``: {promise(function)}" for one, function in checks.items()]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("promises", Promises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
