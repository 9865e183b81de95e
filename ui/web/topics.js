// Runs once, in the map: draws what the server has placed. A point is met by being the nearest one, so thousands
// can be pressed; the lists below the map hold the same papers for the keyboard and for screen readers.
const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, EDGE] = [1000, 640, 16];
const NEAR = 14; // pixels within which a point is meant
const svg = element.querySelector("svg");
const tip = element.querySelector(".tip");
let map = { keys: [], x: [], y: [] };
let by = "topic";
let view = [0, 0, WIDTH, HEIGHT];

const dot = (n) => `M${map.x[n]} ${map.y[n]}h0`; // a line of no length, with round ends
const path = (name, d) => {
  const made = document.createElementNS(SVG, "path");
  made.setAttribute("class", name);
  made.setAttribute("d", d);
  return made;
};

const draw = () => {
  const groups = map[by].names.map(() => []);
  map[by].of.forEach((group, n) => groups[group].push(dot(n)));
  svg.style.setProperty("--dot", `${Math.min(13, Math.max(4, 180 / Math.sqrt(map.keys.length)))}px`);
  svg.setAttribute("aria-label", `Map of ${map.keys.length} papers by ${by}. The lists below hold the same papers.`);
  svg.replaceChildren(
    ...groups.map((dots, group) => path(`c${group}`, dots.join(""))),
    path("chosen", ""),
    path("near", ""),
  );
  for (const button of element.querySelectorAll("[data-by]")) {
    button.setAttribute("aria-pressed", button.dataset.by === by);
  }
  light();
};

// The groups whose lists are open stand out.
const light = () => {
  const open = [...document.querySelectorAll(`#groups .by-${by} details[open]`)].map((one) => one.classList[1]);
  svg.classList.toggle("some", open.length > 0);
  for (const one of svg.children) one.classList.toggle("lit", open.includes(one.classList[0]));
};

const nearest = (event) => {
  const at = svg.getScreenCTM();
  const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(at.inverse());
  let [best, least] = [-1, (NEAR / at.a) ** 2];
  map.x.forEach((one, n) => {
    const far = (one - x) ** 2 + (map.y[n] - y) ** 2;
    if (far < least) [best, least] = [n, far];
  });
  return best;
};

const show = (event, n) => {
  svg.querySelector(".near")?.setAttribute("d", n < 0 ? "" : dot(n));
  svg.classList.toggle("met", n >= 0);
  tip.hidden = n < 0;
  if (n < 0) return;
  tip.textContent = [map.titles[n], map.where[n], map.topic.names[map.topic.of[n]]].filter(Boolean).join("\n");
  const box = svg.parentElement.getBoundingClientRect();
  const [x, y] = [event.clientX - box.x, event.clientY - box.y];
  tip.style.left = `${Math.max(0, Math.min(x + 12, box.width - tip.offsetWidth))}px`;
  tip.style.top = `${y + 16 + tip.offsetHeight > box.height ? y - tip.offsetHeight - 8 : y + 16}px`;
};

const look = (x, y, width) => {
  width = Math.min(WIDTH, Math.max(WIDTH / 32, width));
  const height = (width * HEIGHT) / WIDTH;
  view = [Math.max(0, Math.min(WIDTH - width, x)), Math.max(0, Math.min(HEIGHT - height, y)), width, height];
  svg.setAttribute("viewBox", view.join(" "));
};
const zoom = (times) => {
  const [x, y, width, height] = view;
  look(x + (width - width / times) / 2, y + (height - height / times) / 2, width / times);
};

let held = null; // where the pointer went down, and what was seen then
svg.addEventListener("pointerdown", (event) => {
  held = { x: event.clientX, y: event.clientY, view, moved: false };
});
svg.addEventListener("pointermove", (event) => {
  if (!held || !event.buttons) return show(event, nearest(event));
  const [right, down] = [event.clientX - held.x, event.clientY - held.y];
  held.moved ||= Math.hypot(right, down) > 4;
  const scale = svg.getScreenCTM().a;
  if (held.moved) look(held.view[0] - right / scale, held.view[1] - down / scale, held.view[2]);
});
svg.addEventListener("pointerleave", (event) => show(event, -1));
element.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.by) {
    by = button.dataset.by;
    draw();
  }
  if (button?.dataset.zoom) zoom(Number(button.dataset.zoom));
  if (!svg.contains(event.target) || held?.moved) return;
  const n = nearest(event);
  if (n < 0) return;
  svg.querySelector(".chosen").setAttribute("d", dot(n));
  trigger("click", { press: map.keys[n] });
});
document.addEventListener("toggle", (event) => event.target.closest?.("#groups") && light(), true);

const load = () => {
  map = JSON.parse(props.value);
  map.x = map.x.map((x) => EDGE + (x * (WIDTH - 2 * EDGE)) / map.scale);
  map.y = map.y.map((y) => EDGE + (y * (HEIGHT - 2 * EDGE)) / map.scale);
  element.querySelector("figure").hidden = false;
  look(0, 0, WIDTH);
  draw();
};
watch("value", load);
if (props.value) load(); // it may be there before the map is
