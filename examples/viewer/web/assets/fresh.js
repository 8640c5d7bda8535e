import { byID } from "./util.js";

// Fresh says how many messages came while the reader was elsewhere.
export class Fresh {
  constructor(go) {
    this.count = 0;
    this.button = byID("fresh");
    this.button.addEventListener("click", () => {
      this.seen();
      go();
    });
  }

  add(n) {
    this.count += n;
    this.button.textContent = this.count + " new";
    this.button.hidden = !this.count;
  }

  seen() {
    this.add(-this.count);
  }
}
