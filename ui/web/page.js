// Runs once, in the source panel: `element` is the panel, `trigger` and `watch` are Gradio's.
// Gradio updates HTML in place (it morphs the nodes), so focus, selection and scroll stay by themselves.
let opener = null;
const folds = new Map(); // what the reader folded or unfolded, by data-fold

const close = () => {
  props.value = "";
  opener?.focus({ preventScroll: true });
};

document.addEventListener("click", (event) => {
  const summary = event.target.closest("details[data-fold] > summary");
  if (summary) folds.set(summary.parentElement.dataset.fold, !summary.parentElement.open);
  const button = event.target.closest("[data-n], [data-paper], [data-ask], [data-close]");
  if (!button) return;
  if (button.dataset.close) return close();
  if (button.dataset.ask) return trigger("submit", { ...button.dataset });
  opener = button;
  trigger("click", { ...button.dataset });
});

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("textarea, input");
  const running = document.querySelector("#answer .running");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    document.querySelector("#question textarea").focus();
  } else if (event.key === "Escape" && running) {
    document.querySelector("#stop").click();
  } else if (event.key === "Escape" && element.querySelector(".panel")) {
    close();
  }
});

watch("value", () => {
  element.querySelector("mark.lit")?.scrollIntoView({ block: "nearest" });
  element.querySelector("h2")?.focus({ preventScroll: true });
});

// A re-rendered <details> takes the server's state: give it back the reader's.
new MutationObserver((changes) => {
  for (const { target } of changes) {
    const open = folds.get(target.dataset.fold);
    if (open !== undefined && target.open !== open) target.open = open;
  }
}).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["open"] });

// A new question goes to the top once; from then on the page scrolls for nobody but the reader.
const answer = document.querySelector("#answer");
let asked = 0;
new MutationObserver(() => {
  const turns = answer.querySelectorAll(".turn");
  if (turns.length > asked && turns.length > 1) turns[turns.length - 1].scrollIntoView({ block: "start" });
  asked = turns.length;
}).observe(answer, { childList: true, subtree: true });
