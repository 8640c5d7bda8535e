// Help for keys: "?" lists them, "/" goes to the search of the view, and the skip
// link goes past the list.
import { byID, typing } from "./util.js";

export function startHelp() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) return;
    if (event.key === "?") byID("keys")?.showModal();
    else if (event.key === "/" && field()) field().focus();
    else return;
    event.preventDefault();
  });
  // The dialog closes itself on Escape, which must not close the session too.
  byID("keys")?.addEventListener("keydown", (event) => event.key === "Escape" && event.stopPropagation());
  const skip = document.querySelector(".skip");
  skip?.addEventListener("click", (event) => {
    event.preventDefault(); // the address names the view
    byID(skip.dataset.to).focus();
  });
}

// field returns the field of the view that is shown.
const field = () => document.querySelector(".pane:not([hidden]) .tools input[type=search]") ?? byID("search") ?? document.querySelector("input[type=search]");
