// Runs once, in the source panel: `element` is the panel, `trigger` and `watch` are Gradio's.
// Gradio updates HTML in place (it morphs the nodes), so focus, selection and scroll stay by themselves.
let opener = null;
const folds = new Map(); // what the reader folded or unfolded, by data-fold

const close = () => {
  props.value = "";
  opener?.focus({ preventScroll: true });
};

// What a button asks for, by its first data-NAME that is known here, and the event that carries it.
const EVENTS = {
  ask: "submit", retry: "submit", edit: "edit", verdict: "select",
  unfilter: "apply", only: "apply", alike: "click", paper: "click", n: "click",
};

const go = (name) => {
  [...document.querySelectorAll("#tabs [role=tab]")].find((tab) => tab.textContent.trim() === name).click();
};

const copy = async (button) => {
  await navigator.clipboard.writeText(button.dataset.copy);
  button.classList.add("copied");
  setTimeout(() => button.classList.remove("copied"), 1500);
};

document.addEventListener("click", (event) => {
  const summary = event.target.closest("details[data-fold] > summary");
  if (summary) folds.set(summary.parentElement.dataset.fold, !summary.parentElement.open);
  const button = event.target.closest("#page button");
  if (!button) return;
  if (button.dataset.close) return close();
  if (button.dataset.copy) return copy(button);
  if (button.dataset.go) return go(button.dataset.go);
  const name = Object.keys(EVENTS).find((name) => name in button.dataset);
  if (!name) return;
  const data = { ...button.dataset };
  if (name === "verdict") data.comment = button.parentElement.querySelector(".comment")?.value ?? "";
  if (EVENTS[name] === "click" && !element.contains(button)) opener = button;
  if (!button.closest("#talk")) go("Chat"); // all this is done there
  trigger(EVENTS[name], data);
  if (name === "edit" || name === "only") {
    setTimeout(() => document.querySelector("#question textarea").focus(), 50); // once its tab is there
  }
});

// From one citation to the next: with the source open the next one opens, else it is only focused.
const walk = (step) => {
  const chips = [...document.querySelectorAll("#answer .pincite")];
  const at = chips.indexOf(opener ?? document.activeElement);
  const next = chips[at + step];
  if (at < 0 || !next) return;
  opener = next;
  next.scrollIntoView({ block: "nearest" });
  if (element.querySelector(".panel")) next.click();
  else next.focus({ preventScroll: true });
};

document.addEventListener("keydown", (event) => {
  if (!element.checkVisibility()) return; // another tab is open
  const typing = event.target.closest("textarea, input, [role=listbox]");
  const running = document.querySelector("#answer .running");
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    document.querySelector("#question textarea").focus();
  } else if (event.key === "Escape" && running) {
    document.querySelector("#stop").click();
  } else if (event.key === "Escape" && element.querySelector(".panel")) {
    close();
  } else if (step && event.target.closest(".pincite, #source")) {
    if (event.target.matches(".pincite")) opener = event.target;
    event.preventDefault();
    walk(step);
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

// A question that was put off holds no connection; it is asked again until there is room for it.
setInterval(() => {
  if (answer.querySelector(".again")) trigger("submit", { retry: "1", again: "1" });
}, 2000);
