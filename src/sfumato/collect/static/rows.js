// The rows of the classes: what they show, and the inputs that they hear.

import { amount, counted, whole } from "./answer.js";
import { $, page, say } from "./page.js";

const list = $("classes");
const made = new Map();
const nameOf = (element) => element.closest(".class").querySelector("input").value;
export const row = (name) => made.get(name);
export let picked = null;

function take(element) {
  const find = (selector) => element.querySelector(selector);
  made.set(nameOf(element), {
    element,
    top: find("[name=top]"),
    second: find("[name=second]"),
    impossible: find("[name=impossible]"),
    number: find(".amount"),
    range: find(".slide"),
    dots: find(".dots"),
  });
}
list.querySelectorAll(".class").forEach(take);

// A long list shows only the classes that something was said of, or that were looked for.
function add(name) {
  const element = $("row").content.firstElementChild.cloneNode(true);
  const n = page.classes.indexOf(name);
  for (const word of element.querySelectorAll(".word")) word.textContent = name;
  for (const input of element.querySelectorAll("[aria-label]")) input.ariaLabel = name + input.ariaLabel;
  for (const input of element.querySelectorAll("[type=radio], [type=checkbox], [type=hidden]")) input.value = name;
  for (const each of element.querySelectorAll("[id], [for], [aria-labelledby]")) {
    for (const key of ["id", "for", "aria-labelledby"]) if (each.hasAttribute(key)) each.setAttribute(key, each.getAttribute(key) + n);
  }
  for (const step of element.querySelectorAll(".step")) step.ariaLabel = say(`item.${step.matches(".more") ? "more_of" : "less_of"}`, { name });
  list.append(element);
  take(element);
}

export const reveal = (name) => made.has(name) || add(name);

export function clear() {
  picked = null;
  if (!$("row")) return;
  for (const { element } of made.values()) element.remove();
  made.clear();
}

// A slider and a number that say the same; a slider that was not touched says nothing.
export function level(range, number, value) {
  if (range) {
    range.value = value ?? 0;
    range.classList.toggle("unsaid", value === null);
    range.style.setProperty("--at", `${value ?? 0}%`);
    range.setAttribute("aria-valuetext", value === null ? say("item.unsaid") : `${value} %`);
  }
  const typed = number.value === "" ? null : Number(number.value);
  if (typed !== value) number.value = value ?? "";
}

export function pick(name) {
  picked = name;
  for (const [each, { element }] of made) element.classList.toggle("picked", each === name);
}

export function draw(answer) {
  const said = counted ? [] : [answer.top, answer.second, ...(answer.impossible?.length < 20 ? answer.impossible : [])];
  if ($("row")) for (const name of [...said, ...Object.keys(answer.chips ?? answer.percents ?? {})]) if (name) reveal(name);
  for (const [name, each] of made) {
    if (each.top) each.top.checked = answer.top === name;
    if (each.second) each.second.checked = answer.second === name;
    if (each.impossible) each.impossible.checked = answer.impossible.includes(name);
    if (each.number) level(each.range, each.number, amount(answer, name));
    if (each.dots) {
      each.dots.hidden = !amount(answer, name);
      each.dots.style.setProperty("--n", Math.min(amount(answer, name), whole));
    }
  }
}

// Hands every input on as what was said, of which class, and how.
export function hear(input, end) {
  const answers = { top: (each) => each.value, second: (each) => each.value || null, impossible: (each) => each.checked };
  document.addEventListener("change", ({ target }) => {
    const said = target.form?.id === "answer" && answers[target.name];
    if (said) input(target.name, said(target), target.name === "impossible" ? target.value : undefined, "pointer");
    else end();
  });
  list.addEventListener("input", ({ target }) => {
    if (target.matches(".slide")) input("amount", Number(target.value), nameOf(target), "slider");
    if (target.matches(".amount")) input("amount", target.value === "" ? null : Number(target.value), nameOf(target), "number");
  });
  list.addEventListener("click", (event) => {
    const { target } = event;
    // A second choice that is chosen again is taken back.
    if (target.name === "second" && input.answer().second === target.value) input("second", null, undefined, "pointer");
    const step = target.closest(".step");
    if (step) input.step(nameOf(step), step.matches(".more") ? 1 : -1, "pointer");
    const label = counted && target.closest("label");
    if (!label) return;
    event.preventDefault();
    pick(nameOf(label));
    if (page.mode === "chips") input.step(nameOf(label), 1, "pointer");
    else row(nameOf(label)).range.focus();
  });
  list.addEventListener("focusin", ({ target }) => counted && target.closest(".class") && pick(nameOf(target)));
  touch(list, (range) => input("amount", Number(range.value), nameOf(range), "slider"));
}

// A slider that was not touched stands at 0, and staying there is no event of its own: a tap or a key says 0 all the same.
export function touch(element, said) {
  const told = ({ target, type, key }) => {
    if (target.matches?.(".slide.unsaid") && (type !== "keyup" || /^(Arrow|Home|End|Page)/.test(key))) said(target);
  };
  for (const type of ["click", "keyup"]) element.addEventListener(type, told);
}
