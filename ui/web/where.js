// The address names the conversation, so that a reload, or a bookmark, opens it again.
watch("value", () => {
  const address = new URL(location.href);
  if (props.value) address.searchParams.set("c", props.value);
  else address.searchParams.delete("c");
  history.replaceState(history.state, "", address);
});
