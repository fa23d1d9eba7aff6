"""Figures are shown where they are made, as SVG."""

c = get_config()  # noqa: F821, pyright: ignore
c.IPKernelApp.matplotlib = "inline"
c.InlineBackend.figure_formats = {"svg"}
c.InlineBackend.print_figure_kwargs = {"bbox_inches": None}
c.HistoryManager.enabled = False
c.IPKernelApp.log_level = 40  # the kernel speaks to this machine alone, which it need not warn of
