// Keys by their place on the keyboard, so that they are the same in every layout: digits choose, the row beneath them
// gives tens of percent, and none of them speaks where text is typed.

import { amount, counted } from "./answer.js";
import { $, page, shelf } from "./page.js";
import { made, pick, picked } from "./rows.js";

const TENS = ["Q", "W", "E", "R", "T", "Y", "U", "I", "O", "P"].map((letter) => `Key${letter}`);
let rank = "top";

export const reset = () => (rank = "top");

function digit(code) {
  const found = /^(?:Digit|Numpad)(\d)$/.exec(code);
  return found && page.classes.length <= 24 ? page.classes[(Number(found[1]) + 9) % 10] : undefined;
}

export function listen(input, { next, back }) {
  const on = $("keys-on");
  if (!on) return;
  on.checked = shelf.get("keys") ?? true;
  on.addEventListener("change", () => shelf.set("keys", on.checked));

  function choose(name, shift) {
    const answer = input.answer();
    if (page.mode === "chips") return pick(name), input.step(name, shift ? -1 : 1, "key");
    if (counted) return pick(name), made.get(name).range.focus();
    rank = shift && page.mode === "top2" ? "second" : "top";
    const again = rank === "second" && answer.second === name;
    input(rank, again ? null : name, undefined, "key");
    if (again) rank = "top";
  }

  function set(value, shift) {
    if (page.mode === "sliders") return picked && input("amount", value(amount(input.answer(), picked) ?? 0), picked, "key");
    if (counted || page.mode === "hard") return;
    const of = shift === undefined ? rank : shift ? "second" : "top";
    if (of === "second" && !input.answer().second) return;
    rank = of;
    input(`${of}_percent`, value(input.answer()[`${of}_percent`] ?? 0), undefined, "key");
  }

  document.addEventListener("keydown", (event) => {
    const { code, key, shiftKey: shift, target } = event;
    if (!on.checked || event.isComposing || event.altKey || !$("finish")?.hidden && $("finish")) return;
    if (event.ctrlKey || event.metaKey) {
      if (key === "z" && !target.matches("input[type=text], textarea")) event.preventDefault(), input.undo();
      return;
    }
    const typing = target.matches("input:not([type=radio], [type=checkbox], [type=range]), textarea, select");
    if (typing) return key === "Escape" && target.blur();
    const name = digit(code);
    const tens = TENS.indexOf(code) + 1;
    const ones = { "+": 1, "=": 1, "-": -1, "−": -1 }[key];
    if (name) choose(name, shift);
    else if (tens) set(() => 10 * tens, shift && page.mode === "top2");
    else if (ones) set((value) => Math.min(100, Math.max(0, value + ones)));
    else if (code === "KeyX" && page.mode === "top2") input("others", !input.answer().others, undefined, "key");
    else if (key === "Backspace") input.undo();
    else if (code === "KeyB") back();
    else if (key === "/" && $("search")) $("search").focus();
    else if (key === "Enter" && !target.closest("a, button, summary, [role=listbox]")) next();
    else return;
    event.preventDefault();
  });
}
