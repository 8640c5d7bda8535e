// The heading of a turn, with the button that forks the session after it where
// the viewer may write.
import { ask, byID, el } from "./util.js";
import { tokenHeader } from "./token.js";

export class TurnMark {
  constructor(api) {
    this.api = api;
    this.title = el("span", { role: "heading", "aria-level": "2" });
    this.node = el("div", { class: "turn-mark" }, this.title);
    if (!byID("panel").hasAttribute("data-write")) return;
    this.button = el("button", { type: "button", class: "fork" }, "Fork");
    this.button.addEventListener("click", () => this.fork());
    this.node.append(this.button);
  }

  update(turn) {
    this.turn = turn;
    this.title.textContent = "Turn " + turn;
    this.button?.setAttribute("aria-label", "Fork after turn " + turn);
    this.button?.setAttribute("title", turn === 1 ? "Make a new session of turn 1" : "Make a new session of the turns 1 to " + turn);
  }

  // fork makes the new session and opens it, or tells what is wrong.
  async fork() {
    this.button.disabled = true;
    this.failed?.remove();
    try {
      const options = { method: "POST", headers: { ...tokenHeader(), "Content-Type": "application/json" }, body: JSON.stringify({ turn: this.turn }) };
      location.assign((await ask(this.api + "/fork", options)).path + "#transcript");
      addEventListener("pagehide", () => (this.button.disabled = false), { once: true }); // for a reader who comes back
    } catch (failure) {
      this.failed = el("span", { class: "error", role: "alert" }, failure.message);
      this.node.append(this.failed);
      this.button.disabled = false;
      if (document.activeElement === document.body) this.button.focus({ preventScroll: true });
    }
  }
}
