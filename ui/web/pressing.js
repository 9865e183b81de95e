// Runs once for each list of buttons: a pressed one is told to the server with its data.
element.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-press]");
  if (button) trigger("click", { ...button.dataset });
});
