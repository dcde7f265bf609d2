// An answer: what was said of one item, never more, and what contradicts itself in it.
// The server checks the same again, in the same words.

import { page, round, say } from "./page.js";

const { mode, chips, exact, rule, classes } = page;
// What is as near to the whole as this is the whole: thirds are 33.33 (see answers.py).
const ROUNDING = 0.010001;
const shapes = {
  hard: { top: null },
  top1: { top: null, top_percent: null },
  top2: { top: null, top_percent: null, second: null, second_percent: null, impossible: [] },
  chips: { chips: {} },
  sliders: { percents: {} },
};
const amounts = mode === "chips" ? "chips" : "percents";
const ranks = mode === "top2" ? ["top", "second"] : ["top"];

export const counted = mode === "chips" || mode === "sliders";
export const whole = mode === "chips" ? chips : 100;
// A rule that was told as its classes is the rule again, but of two classes, where ruling out one says nothing of the other.
export const full = (told) => {
  const answer = { mode, ...structuredClone(shapes[mode]), ...told };
  if (mode === "top2" && classes.length > 2 && allOut(answer)) answer.others = true;
  return answer;
};
// What travels and is stored: the classes that are ruled out, one by one, and not the rule that they come from.
export const told = ({ others, ...answer }) => answer;
export const amount = (answer, name) => answer[amounts][name] ?? null;

// The answer after one input; nothing else in it changes.
export function changed(answer, what, value, name) {
  const next = structuredClone(answer);
  if (what === "amount") {
    if (value === null) delete next[amounts][name];
    else next[amounts][name] = value;
  } else if (what === "impossible") {
    next.impossible = next.impossible.filter((each) => each !== name);
    if (value) next.impossible.push(name);
    delete next.others;
  } else if (what === "others") {
    // Before a choice, everything else would be everything.
    if (!next.top) return next;
    const rest = new Set(others(next));
    next.impossible = next.impossible.filter((each) => !rest.has(each));
    if (value) Object.assign(next, { impossible: [...next.impossible, ...rest], others: true });
    else delete next.others;
  } else {
    next[what] = value;
    // A choice that is taken back takes its probability with it.
    if (what === "second" && value === null) next.second_percent = null;
    if (next.others) next.impossible = others(next);
  }
  return next;
}

const others = (answer) => classes.filter((name) => name !== answer.top && name !== answer.second);
function allOut(answer) {
  const out = new Set(answer.impossible);
  return Boolean(answer.top) && others(answer).every((name) => out.has(name));
}

// The classes that were said, with what was said of them: null where that is still to come.
export function stated(answer) {
  if (counted) return Object.entries(answer[amounts]);
  return ranks.filter((rank) => answer[rank]).map((rank) => [answer[rank], mode === "hard" ? 100 : answer[`${rank}_percent`]]);
}

// What is open, and how many classes would share it.
export function left(answer) {
  const told = stated(answer);
  const rest = whole - told.reduce((sum, [, percent]) => sum + (Number(percent) || 0), 0);
  const open = Math.abs(rest) < ROUNDING ? 0 : round(rest);
  const taken = new Set(told.filter(([, percent]) => percent > 0).map(([name]) => name));
  // Who says 0 % of a class rules it out.
  const ruled = mode === "sliders" ? told.filter(([, percent]) => percent === 0).map(([name]) => name) : answer.impossible ?? [];
  const out = rule === "clamp" ? ruled : [];
  return { open, sharing: classes.filter((name) => !taken.has(name) && !out.includes(name)).length };
}

const within = (number, most = 100) => typeof number === "number" && number >= 0 && number <= most;

// What contradicts itself now (*sharp*), and what is only missing yet.
export function problems(answer) {
  const found = [];
  const tell = (key, field, holes = {}, sharp = true, name = null) =>
    found.push({ field, name, sharp, message: say(`problems.${key}`, holes) });
  const { open } = left(answer);
  if (counted) {
    for (const [name, value] of stated(answer)) {
      const right = mode === "chips" ? within(value, Infinity) && Number.isInteger(value) : within(value);
      if (!right) tell(mode === "chips" ? "amount_chips" : "amount", amounts, { name }, true, name);
    }
    if (found.length) return found;
    if (mode === "chips") {
      if (open > 0) tell("chips", amounts, { open }, false);
      if (open < 0) tell("chips_over", amounts, { over: -open });
      return found;
    }
    const some = stated(answer).some(([, percent]) => percent > 0);
    if (!some) tell("top", amounts, {}, false);
    else if (open < 0) tell(exact ? "sliders" : "over", amounts, { total: round(100 - open) });
    else if (open > 0 && exact) tell("sliders", amounts, { total: round(100 - open) }, false);
    else if (open > 0 && stated(answer).length === classes.length) tell("nowhere", amounts, { open });
    return found;
  }
  if (!answer.top) tell("top", "top", {}, false);
  if (mode === "hard") return found;
  if (answer.second && answer.second === answer.top) tell("second", "second");
  for (const rank of ranks) {
    const value = answer[`${rank}_percent`];
    const needed = answer[rank] || value !== null;
    if (needed && !(within(value) && value > 0)) tell(`${rank}_percent`, `${rank}_percent`, { name: answer[rank] ?? say("class") }, value !== null);
  }
  if (mode === "top1") return found;
  for (const name of new Set([answer.top, answer.second])) {
    if (answer.impossible.includes(name)) tell("impossible", "impossible", { name }, true, name);
  }
  if (found.length) return found;
  if (answer.second_percent > answer.top_percent) tell("order", "second_percent");
  if (open < 0) tell("over", "second_percent", { total: round(100 - open) });
  const ruled = classes.every((name) => name === answer.top || name === answer.second || answer.impossible.includes(name));
  if (open > 0 && ruled) tell("nowhere", "top_percent", { open });
  return found;
}
