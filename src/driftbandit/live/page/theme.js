// Before anything is painted, so that no page flashes white. The same key as in the reports' pages.
{
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  let kept = null;
  try {
    kept = localStorage.getItem("theme");
  } catch {
    // no storage here: the theme follows the system
  }
  const follow = () => (root.dataset.theme = kept === "light" || kept === "dark" ? kept : system.matches ? "dark" : "light");
  follow();
  system.addEventListener("change", follow);
  document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme").addEventListener("click", () => {
      kept = root.dataset.theme === "dark" ? "light" : "dark";
      follow();
      try {
        localStorage.setItem("theme", kept);
      } catch {
        // not remembered
      }
    });
  });
}
