// What was said so far: the bar, what becomes of the open part, the probabilities, and what is wrong.

import { counted, left, stated, whole } from "./answer.js";
import { $, make, page, round, say } from "./page.js";
import { hearSlider, level, made } from "./rows.js";

const RANKS = ["top", "second"].filter((rank) => $(`rate-${rank}`));
const usual = Object.fromEntries(RANKS.map((rank) => [rank, $(`${rank}-label`).firstElementChild.textContent]));
// More pieces than this cannot be told apart.
const PIECES = 40;

function bar(told, { open, sharing }) {
  if (!$("bar")) return;
  const total = Math.max(whole, whole - open);
  const parts = told.filter(([, value]) => value > 0).map(([name, value], n) => {
    const part = make("span", { className: counted ? "more" : `rank-${RANKS[n]}`, textContent: name });
    part.style.setProperty("--share", `${(100 * value) / total}%`);
    return part;
  });
  if (open > 0) {
    const rest = make("span", { className: "open" });
    const shared = page.mode !== "chips" && !(page.mode === "sliders" && page.exact);
    if (shared && sharing <= PIECES) rest.append(...Array.from({ length: sharing }, () => make("i")));
    parts.push(rest);
  }
  $("bar").replaceChildren(...parts);
  $("bar").classList.toggle("over", open < 0);
}

export function leftWords(told, { open, sharing }) {
  if (page.mode === "chips") return open < 0 ? "" : say("left.chips", { open });
  if (open < 0) return say("left.over", { over: -open });
  // A class without its probability: the panel asks for it.
  if (!told.some(([, value]) => value > 0)) return (told.length && $("top-label")?.lastElementChild.textContent) || say("left.begin");
  if (!open) return say(page.words.share && sharing ? "share" : "left.nothing", { n: sharing });
  if (page.mode === "sliders" && page.exact) return say("left.sliders", { open });
  return sharing ? say(`left.${page.rule}`, { open, n: sharing }) : "";
}

export const words = (answer) => {
  const told = stated(answer);
  const key = page.mode === "chips" ? "left.stated_chips" : "left.stated";
  const parts = told.map(([name, value]) => (page.mode === "hard" || value === null ? name : say(key, { name, percent: round(value) })));
  if (answer.impossible?.length) parts.push(say("item.ruled_out", { n: answer.impossible.length }));
  if ($("left")) parts.push(leftWords(told, left(answer)));
  return parts.filter(Boolean).join(", ");
};

export function draw(answer, problems) {
  const told = stated(answer);
  const rest = left(answer);
  bar(told, rest);
  if ($("left")) {
    $("left").textContent = leftWords(told, rest);
    $("left").classList.toggle("over", rest.open < 0);
  }
  for (const rank of RANKS) {
    const box = $(`rate-${rank}`);
    const name = answer[rank];
    $(`${rank}-label`).firstElementChild.textContent = name ?? usual[rank];
    box.classList.toggle("said", Boolean(name));
    box.hidden = !name && answer[`${rank}_percent`] === null;
    level($(`${rank}-slider`), $(`${rank}-percent`), answer[`${rank}_percent`]);
  }
  if ($("others")) Object.assign($("others"), { checked: Boolean(answer.others), disabled: !answer.top });
  wrong(problems);
}

function wrong(problems) {
  for (const each of document.querySelectorAll("#answer [aria-invalid]")) {
    each.removeAttribute("aria-invalid");
    each.removeAttribute("aria-describedby");
  }
  for (const { field, name } of problems) {
    for (const each of inputs(field, name)) {
      each.setAttribute("aria-invalid", "true");
      each.setAttribute("aria-describedby", "problems");
    }
  }
  const list = $("problems");
  const told = problems.map(({ message }) => message).join("\n");
  // Said again only where it has changed.
  if (list.innerText.trim() !== told) list.replaceChildren(...problems.map(({ message }) => make("p", { textContent: message })));
}

function inputs(field, name) {
  const rank = field.replace("_percent", "");
  if (field.endsWith("_percent")) return [$(`${rank}-slider`), $(`${rank}-percent`)];
  if (field === "impossible") return [made.get(name)?.impossible].filter(Boolean);
  return [made.get(name)?.number].filter(Boolean);
}

// Where a person goes to put it right.
export function lead({ field, name }) {
  const first = document.querySelector("#classes input:not([type=hidden])") ?? $("search");
  const target = inputs(field, name)[0] ?? first;
  target?.focus({ preventScroll: true });
  $("problems").scrollIntoView({ block: "nearest" });
}

export function hear(input) {
  for (const rank of RANKS) hearSlider($(`rate-${rank}`), (value, how) => input(`${rank}_percent`, value, undefined, how));
  $("others")?.addEventListener("change", ({ target }) => input("others", target.checked, undefined, "control"));
  $("undo").addEventListener("click", input.undo);
}
