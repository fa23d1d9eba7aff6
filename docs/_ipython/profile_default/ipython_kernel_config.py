"""Figures are shown where they are made, as SVG."""

c = get_config()  # noqa: F821, pyright: ignore
c.IPKernelApp.matplotlib = "inline"
c.InlineBackend.figure_formats = {"svg"}
c.InlineBackend.print_figure_kwargs = {"bbox_inches": None}
c.HistoryManager.enabled = False
