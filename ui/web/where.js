// Runs once: `value` holds the collection and the conversation that are shown. The address names them, so that a
// reload, or a bookmark, opens them again.
let arrived = false;

watch("value", () => {
  const shown = new URLSearchParams(props.value);
  const address = new URL(location.href);
  const { searchParams } = address;
  if (shown.get("c") || searchParams.has("collection")) searchParams.set("collection", shown.get("collection"));
  if (shown.get("c")) searchParams.set("c", shown.get("c"));
  else searchParams.delete("c");
  if (!arrived) {
    arrived = true;
    const tabs = [...document.querySelectorAll("#tabs [role=tab]")];
    tabs.find((tab) => `#${tab.textContent.trim()}` === address.hash)?.click(); // the one that header.js came from
    address.hash = "";
    document.documentElement.classList.remove("arriving");
  }
  history.replaceState(history.state, "", address);
});
