// The dialog of what is done with a session: its resume command is copied, and it
// is exported.
import { byID, typing } from "./util.js";

export function startActions() {
  const dialog = byID("actions");
  const open = () => {
    byID("copied").textContent = "";
    dialog.showModal();
  };
  // The header is renewed, and its button with it.
  byID("header").addEventListener("click", (event) => event.target.closest("#actions-button") && open());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) return;
    if (event.key !== "a" || document.querySelector("dialog[open]")) return;
    open();
    event.preventDefault();
  });
  // The dialog closes itself on Escape, which must not close the session too.
  dialog.addEventListener("keydown", (event) => event.key === "Escape" && event.stopPropagation());
  for (const [button, field] of [["copy", "command"], ["copy-onward", "onward"]]) byID(button)?.addEventListener("click", () => copy(byID(field)));
  byID("redact").addEventListener("change", (event) => redact(event.target.checked));
  redact(byID("redact").checked);
}

// copy copies the command of a field. Where the browser refuses that, it selects the text.
async function copy(field) {
  let told = "Copied.";
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    field.focus();
    field.select();
    told = "The browser does not copy. The command is selected: copy it by Ctrl+C or the menu.";
  }
  byID("copied").textContent = told;
}

// redact makes the links ask for exports without secrets, or with them.
function redact(on) {
  for (const link of byID("exports").querySelectorAll("a")) {
    const address = new URL(link.href);
    if (on) address.searchParams.set("redact", "1");
    else address.searchParams.delete("redact");
    link.href = address.pathname + address.search;
  }
}
