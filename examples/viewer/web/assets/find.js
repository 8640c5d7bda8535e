// The search inside a session.
import { ask, byID, plural } from "./util.js";

export class Find {
  constructor(api, go) {
    this.api = api;
    this.go = go; // shows where a text was found
    this.text = "";
    this.hits = [];
    this.at = -1;
    const field = byID("find");
    byID("find-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.step(1, field.value);
    });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !event.shiftKey) return;
      event.preventDefault();
      this.step(-1, field.value);
    });
    field.addEventListener("input", () => field.value || this.clear());
    byID("find-next").addEventListener("click", () => this.step(1, field.value));
    byID("find-before").addEventListener("click", () => this.step(-1, field.value));
  }

  clear() {
    this.text = "";
    this.hits = [];
    this.at = -1;
    byID("find-count").textContent = "";
  }

  // step goes to the next message in which the text stands, and asks where it
  // stands when the text is another one.
  async step(by, text) {
    if (!text) return this.clear();
    try {
      if (text !== this.text) {
        const found = await ask(`${this.api}/find?q=${encodeURIComponent(text)}`);
        this.text = text;
        this.hits = found.hits;
        this.more = found.more;
        this.at = by > 0 ? -1 : 0;
      }
      const count = this.hits.length;
      if (!count) return (byID("find-count").textContent = "not found");
      this.at = (this.at + by + count) % count;
      byID("find-count").textContent = `${this.at + 1} of ${plural(count, "message", "messages")}${this.more ? ", or more" : ""}`;
      await this.go(this.hits[this.at], text);
    } catch (failure) {
      byID("find-count").textContent = failure.message;
    }
  }

  // stale forgets where the text stands: the transcript has changed.
  stale() {
    this.text = "";
  }
}
