// Runs once, for the menu of collections at the top.
const menu = () => element.querySelector(".collections");
const shut = () => menu().open && menu().querySelector("summary").click(); // a click, so that page.js knows of it
const make = () => trigger("submit", { name: element.querySelector(".name").value });

element.addEventListener("click", (event) => {
  const link = event.target.closest("a.row");
  const tab = document.querySelector("#tabs [role=tab][aria-selected=true]");
  if (link && tab) link.hash = tab.textContent.trim(); // the other collection opens on the same tab
  if (event.target.closest("[data-make]")) make();
});

element.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches(".name")) make();
  if (event.key === "Escape" && menu().open) {
    event.stopPropagation();
    shut();
    menu().querySelector("summary").focus();
  }
});

document.addEventListener("click", (event) => {
  if (!element.contains(event.target)) shut();
});
