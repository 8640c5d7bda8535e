// The button that resumes a session, and what came of it.
import { ask, byID, el, plural } from "./util.js";
import { tokenHeader } from "./token.js";

export function startResume(api) {
  const button = byID("resume");
  const label = button.textContent;
  button.addEventListener("click", async () => {
    button.disabled = true;
    button.textContent = "Resuming...";
    const box = byID("resumed");
    box.hidden = true;
    try {
      show(box, await ask(api + "/resume", { method: "POST", headers: tokenHeader() }));
    } catch (failure) {
      box.replaceChildren(el("p", { class: "error", role: "alert" }, failure.message));
    } finally {
      box.hidden = false;
      box.scrollIntoView({ block: "nearest" });
      button.disabled = false;
      button.textContent = label;
      if (document.activeElement === document.body) button.focus();
    }
  });
}

function show(box, result) {
  const { history, last_completed_phase: last, total_phases: total, completed_phases: done } = result.context;
  box.replaceChildren(
    el("p", { class: "next" }, result.next_phase_id ? "Next phase: " + result.next_phase_id : "The workflow is done: no phase is left."),
    el("p", { class: "counts" }, `${done} of ${plural(total, "phase", "phases")} completed, the last was ${last}; ` + plural(history.length, "message", "messages") + " of history"),
  );
  if (result.started) box.prepend(el("p", { class: "next" }, "The command was started."));
  if (result.damage) box.append(el("p", { class: "error" }, result.damage));
  box.append(el("ol", { class: "history" }, ...history.map((m) => el("li", { class: m.role === "user" ? "user" : "" }, el("strong", {}, m.role), el("pre", {}, m.content)))));
}
