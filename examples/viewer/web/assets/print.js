// What is printed is the whole conversation, and not what is in sight of it.
import { el } from "./util.js";

export function startPrint(api) {
  const box = el("div", { id: "print" });
  addEventListener("beforeprint", () => {
    const asked = new XMLHttpRequest();
    asked.open("GET", api + "/export?format=html", false); // printing waits for no promise
    asked.send();
    if (asked.status !== 200) return;
    const page = new DOMParser().parseFromString(asked.responseText, "text/html");
    page.querySelectorAll("nav").forEach((node) => node.remove());
    page.querySelectorAll("details").forEach((node) => (node.open = true));
    box.replaceChildren(...page.body.children);
    document.body.append(box);
    document.body.classList.add("printed");
  });
  addEventListener("afterprint", () => {
    document.body.classList.remove("printed");
    box.remove();
    box.replaceChildren();
  });
}
