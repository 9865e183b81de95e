"use strict";
// Without this script the page is a plain list of everything.
const byId = (id) => document.getElementById(id);
// The evidence is left out: it holds words of papers that have nothing to do with the question.
const SEARCHED = ":scope > summary, .gold, .answer > :not(details)";
const wordsOf = (element) =>
  [...element.querySelectorAll(SEARCHED)].map((part) => part.textContent.toLowerCase()).join(" ");
const questions = [...document.querySelectorAll(".question")].map((element) => ({
  element,
  text: wordsOf(element),
  verdicts: JSON.parse(element.dataset.verdicts),
}));

function filter() {
  const wanted = byId("text").value.toLowerCase().split(/\s+/).filter(Boolean);
  const kind = byId("kind").value;
  const verdict = byId("verdict").value;
  let shown = 0;
  for (const { element, text, verdicts } of questions) {
    const fits =
      (!kind || element.dataset.kind === kind) &&
      (!verdict || verdicts.includes(verdict)) &&
      wanted.every((word) => text.includes(word));
    element.hidden = !fits;
    shown += fits;
  }
  byId("shown").textContent = `${shown} of ${questions.length} questions`;
}

function openAll(open) {
  for (const { element } of questions) if (!element.hidden) element.open = open;
}

for (const id of ["text", "kind", "verdict"]) byId(id).addEventListener("input", filter);
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("open").addEventListener("click", () => openAll(true));
byId("close").addEventListener("click", () => openAll(false));
byId("filters").hidden = false;
filter();
