// The rows of the classes: what they show, and the inputs that they hear.

import { amount, counted, whole } from "./answer.js";
import { $, page, say } from "./page.js";

export const list = $("classes");
export const made = new Map();
// A long list has rows only for what was said or looked for; search.js makes them.
export const long = { reveal: () => {} };
export let picked = null;

const nameOf = (element) => element.closest(".class").querySelector("input").value;

export function take(element) {
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

// A slider and a number that say the same; a slider that was not touched says nothing.
export function level(range, number, value) {
  if (range) {
    range.value = value ?? 0;
    range.classList.toggle("unsaid", value === null);
    range.style.setProperty("--at", `${value ?? 0}%`);
    range.ariaValueText = value === null ? say("item.unsaid") : `${value} %`;
  }
  const typed = number.value === "" ? null : Number(number.value);
  if (typed !== value) number.value = value ?? "";
}

export function pick(name) {
  picked = name;
  for (const [each, { element }] of made) element.classList.toggle("picked", each === name);
}

export function draw(answer) {
  const out = answer.impossible?.length < 20 ? answer.impossible : [];
  [answer.top, answer.second, ...out, ...Object.keys(answer.chips ?? answer.percents ?? {})].forEach(long.reveal);
  for (const [name, { top, second, impossible, number, range, dots }] of made) {
    if (top) top.checked = answer.top === name;
    if (second) second.checked = answer.second === name;
    if (impossible) impossible.checked = answer.impossible.includes(name);
    if (number) level(range, number, amount(answer, name));
    if (dots) {
      dots.hidden = !amount(answer, name);
      dots.style.setProperty("--n", Math.min(amount(answer, name), whole));
    }
  }
}

// A slider that was not touched stands at 0, and staying there is no event of its own: a tap or a key says 0 all the same.
export function hearSlider(element, said) {
  const told = ({ target, type, key }) => {
    const moved = type === "input" || (target.matches(".unsaid") && (type === "click" || /^(Arrow|Home|End|Page)/.test(key)));
    if (moved && target.matches(".slide")) said(Number(target.value), "slider", target);
    else if (type === "input" && target.matches(".amount")) said(target.value === "" ? null : Number(target.value), "number", target);
  };
  for (const type of ["input", "click", "keyup"]) element.addEventListener(type, told);
}

// Hands every input on as what was said, of which class, and how.
export function hear(input, end) {
  const said = { top: (each) => each.value, second: (each) => each.value, impossible: (each) => each.checked };
  document.addEventListener("change", ({ target }) => {
    const { name, value } = target;
    if (said[name]) input(name, said[name](target), name === "impossible" ? value : undefined, "control");
    else end();
  });
  hearSlider(list, (value, how, target) => input("amount", value, nameOf(target), how));
  list.addEventListener("click", (event) => {
    const { target } = event;
    // A second choice that is chosen again is taken back.
    if (target.name === "second" && input.answer().second === target.value) input("second", null, undefined, "control");
    const step = target.closest(".step");
    if (step) input.step(nameOf(step), step.matches(".more") ? 1 : -1, "control");
    const label = counted && target.closest("label");
    if (!label) return;
    event.preventDefault();
    const name = nameOf(label);
    pick(name);
    if (page.mode === "chips") input.step(name, 1, "control");
    else made.get(name).range.focus();
  });
  list.addEventListener("focusin", ({ target }) => counted && pick(nameOf(target)));
}
