"""Small windows: the panel folds away, so that the stage is seen first.

Only the browser knows how wide its window is, and the viewer's library has no command for its sheet on telephones, so a script
does there what a person would: it clicks the control that folds the panel.
"""

from __future__ import annotations

import viser
from viser import _messages

SMALL = 880  # pixels of a window of which the panel would take half
SHEET = 576  # pixels below which the library shows the panel as a sheet at the foot of the window

# The library keeps its controls where they are between versions less surely than their roles, so what is looked for is what it
# marks by attributes, and the one element that is fixed to the foot of the window. A sheet opens unfolded whenever it is made.
SCRIPT = """
if (!window.panelFolds) {
  window.panelFolds = true;
  const small = matchMedia("(max-width: %dpx)"), tiny = matchMedia("(max-width: %dpx)");
  const column = (open) => document.querySelector(`[data-dock-region] [role="button"][aria-expanded="${open}"]`);
  const sheet = () => {
    const isSheet = (part) => part.style.position === "fixed" && part.style.bottom === "0px" && !part.dataset.folded;
    const found = [...document.querySelectorAll("[style*=fixed]")].find(isSheet);
    const handle = found && [...found.querySelectorAll("div")].find((part) => part.style.cursor === "pointer");
    if (handle) found.dataset.folded = "once";
    return handle;
  };
  let byUs = false;
  const fold = (patience) => {
    const control = small.matches ? (tiny.matches ? sheet() : column(true)) : byUs && column(false);
    if (control) {
      control.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 0 }));
      byUs = small.matches && !tiny.matches;
    } else if (small.matches && patience > 0) setTimeout(fold, 100, patience - 1);
  };
  for (const query of [small, tiny]) query.addEventListener("change", () => fold(50));
  fold(100);
}
""" % (SMALL, SHEET)  # noqa: UP031 - braces are JavaScript's


def fold_if_small(client: viser.ClientHandle) -> None:
    """Fold the panel away while the window is small; whoever unfolds it keeps it so."""
    client.gui._websock_interface.queue_message(_messages.RunJavascriptMessage(SCRIPT))
