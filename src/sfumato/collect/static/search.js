// Many classes: a field that finds them by a part of their name, instead of a wall of buttons.

import { counted } from "./answer.js";
import { $, make, page, say } from "./page.js";
import { list as rows, long, made, pick, take } from "./rows.js";

const SHOWN = 50;
const field = $("search");
const list = $("matches");
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const known = page.classes.map((name) => [name, plain(name)]);
let at = -1;

long.reveal = (name) => {
  if (!name || made.has(name)) return;
  const safe = new Option(name).innerHTML.replaceAll('"', "&quot;");
  const row = $("row").innerHTML.replaceAll("{n}", page.classes.indexOf(name)).replaceAll("{name}", () => safe);
  rows.insertAdjacentHTML("beforeend", row);
  take(rows.lastElementChild);
};

long.clear = () => {
  rows.replaceChildren();
  made.clear();
};

// The very name comes first, then names that begin with what was typed, then words that do, then the rest; each as listed.
function matches(typed) {
  const rank = (text) => [text === typed, text.startsWith(typed), text.includes(` ${typed}`), text.includes(typed), true].indexOf(true);
  return known.map(([name, text]) => [rank(text), name]).filter(([n]) => n < 4).sort((one, other) => one[0] - other[0]).map(([, name]) => name);
}

function close() {
  list.hidden = true;
  at = -1;
  field.setAttribute("aria-expanded", "false");
  field.removeAttribute("aria-activedescendant");
}

function mark(n) {
  const options = [...list.children];
  if (!options.length) return;
  at = (n + options.length) % options.length;
  options.forEach((each, k) => each.setAttribute("aria-selected", String(k === at)));
  field.setAttribute("aria-activedescendant", options[at].id);
  options[at].scrollIntoView({ block: "nearest" });
}

function open() {
  const typed = plain(field.value.trim());
  if (!typed) return close();
  const found = matches(typed);
  const options = found.slice(0, SHOWN).map((name, n) => {
    const option = make("li", { id: `match-${n}`, textContent: name, dir: "auto", role: "option" });
    option.dataset.name = name;
    // For a finger or a mouse what Shift + Enter is for the keys.
    if (page.mode === "top2") {
      const out = make("span", { className: "not", ariaHidden: "true" });
      out.dataset.word = say("item.impossible_short");
      option.append(out);
    }
    return option;
  });
  list.replaceChildren(...options);
  list.hidden = !options.length;
  field.setAttribute("aria-expanded", String(!list.hidden));
  $("found").textContent = found.length ? say("item.found", { n: found.length }) : say("item.not_found");
  if (options.length) mark(0);
}

export function listen(input) {
  function choose(name, out) {
    const answer = input.answer();
    field.value = "";
    $("found").textContent = "";
    close();
    long.reveal(name);
    if (out && page.mode === "top2") input("impossible", !answer.impossible.includes(name), name, "search");
    else if (counted) {
      pick(name);
      if (page.mode === "chips") input.step(name, 1, "search");
      else made.get(name).range.focus();
    } else if (page.mode !== "top2" || !answer.top) input("top", name, undefined, "search");
    else if (!answer.second && name !== answer.top) input("second", name, undefined, "search");
    else made.get(name).top.focus();
  }
  field.addEventListener("input", open);
  open();
  field.addEventListener("blur", () => setTimeout(close, 150));
  field.addEventListener("keydown", (event) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move && !list.hidden) mark(at + move);
    else if (event.key === "Enter" && !list.hidden) choose(list.children[at].dataset.name, event.shiftKey);
    else if (event.key === "Enter" && field.value) open();
    else if (event.key === "Escape" && !list.hidden) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("click", ({ target }) => {
    const name = target.closest("li")?.dataset.name;
    if (name) choose(name, target.matches(".not"));
  });
}
