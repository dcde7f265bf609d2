// The page of an item. Nothing that was said waits for the network: it lies on the shelf first, and travels then.

import * as answers from "./answer.js";
import * as drafts from "./draft.js";
import * as keys from "./keys.js";
import { $, make, page, say, shelf } from "./page.js";
import * as panel from "./panel.js";
import * as places from "./places.js";
import * as queue from "./queue.js";
import * as rows from "./rows.js";
import { element } from "./shown.js";

const BEAT = 60_000;
const LASTING = ["slider", "number"];
// The server takes up to 2000 inputs of one item.
const MOST = 1900;
let place = page.place;
let answer = answers.full({});
let events = [];
let past = [];
let asked = false;
let running = false;
let dirty = false;
let stuck = null;
// An answer that was given, and changed without Next: told until something is done about it.
let unkept = false;
let turn = 0;
let announced = 0;
// The time that the item was in sight, over all visits.
let clock = { before: 0, since: 0 };
let shown = "";

const time = () => Math.round(clock.before + (clock.since ? performance.now() - clock.since : 0));

function note(what, value, how, name) {
  const at = time();
  const last = events.at(-1);
  // One drag of a slider, one number as it is typed, is one input that lasts.
  if (running && last?.what === what && last.name === name && last.how === how) {
    Object.assign(last, { until: at, value });
    return false;
  }
  if (events.length < MOST) events.push({ at, what, ...(name !== undefined && { name }), value, how });
  running = LASTING.includes(how);
  return true;
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const changed = () => !place.answer || !same(answers.told(answers.full(place.answer)), answers.told(answer));

function input(what, value, name, how) {
  const next = answers.changed(answer, what, value, name);
  if ($("work").inert || same(next, answer)) return draw();
  if (note(what, value, how, name)) past.push(answer);
  answer = next;
  said(how);
}
input.answer = () => answer;
input.step = (name, by, how) => {
  const before = answers.amount(answer, name);
  if (before || by > 0) input("amount", (before ?? 0) + by, name, how);
};
input.undo = () => {
  if (!past.length) return;
  answer = past.pop();
  note("undo", null, "undo");
  said("undo");
};

function said(how) {
  dirty = true;
  unkept = false;
  keep();
  draw();
  clearTimeout(announced);
  if (how !== "number") announced = setTimeout(() => ($("live").textContent = panel.words(answer)), 400);
}

const keep = () => drafts.keep(place.place, { answer, events, clock: time(), shown });

// What is missing is told when it is asked for, what contradicts itself at once.
function draw() {
  const found = answers.problems(answer).filter(({ sharp }) => asked || sharp);
  if (unkept) found.unshift({ field: "", message: say("item.unkept") });
  rows.draw(answer);
  panel.draw(answer, found);
  $("undo").disabled = !past.length;
}

// The answer of this place as far as it has come: here, or in another tab or on another device, whichever is later.
function begin() {
  const here = drafts.kept(place.place);
  const sent = queue.waiting().filter((entry) => entry.place === place.place).at(-1);
  const there = !sent && place.draft && { answer: place.draft, events: place.draft_events ?? [], sequence: place.draft_sequence ?? 0 };
  const draft = [here, there].filter(Boolean).sort((one, other) => other.sequence - one.sequence)[0];
  if (sent) place.answer = sent.answer;
  answer = answers.full(draft?.answer ?? place.answer ?? {});
  events = draft?.events ?? [];
  asked = running = false;
  dirty = Boolean(draft);
  unkept = dirty && Boolean(place.answer) && changed();
  past = unkept ? [answers.full(place.answer)] : [];
  shown = draft?.shown ?? new Date().toISOString();
  const last = events.at(-1);
  clock = { before: draft?.clock ?? last?.until ?? last?.at ?? 0, since: document.hidden ? 0 : performance.now() };
  keys.reset();
  note(draft ? "resumed" : "shown", null, "page");
  draw();
}

function adopt({ answer: told, events: before }) {
  if (same(answers.full(told), answer)) return;
  past.push(answer);
  answer = answers.full(told);
  events = before;
  dirty = false;
  draw();
}

async function go(number, { push = true } = {}) {
  // Whoever asked last is who leads.
  const mine = ++turn;
  if (number === undefined) return finish(push);
  $("work").inert = true;
  try {
    const found = await places.get(number);
    if (mine !== turn) return;
    show(found, push);
    stuck = null;
  } catch (error) {
    if (mine !== turn) return;
    // The server has answered, and not with the place: it knows where this person belongs.
    if (error.status) return location.assign("/item");
    stuck = number;
    setTimeout(() => mine === turn && go(number, { push }), 3000);
  }
  $("work").inert = stuck !== null;
  tell();
}

function show(next, push) {
  place = next;
  if (push) history.pushState({}, "", `/item?place=${place.place}`);
  $("finish").hidden = true;
  $("work").hidden = false;
  rows.pick(null);
  rows.long.clear?.();
  $("item").replaceChildren(element(place.item));
  $("note").textContent = place.note;
  $("note").hidden = !place.note;
  begin();
  where();
  scrollTo(0, 0);
  $("item").focus({ preventScroll: true });
  places.ahead(place.place);
}

// Errors of media do not bubble; those from before this script are in the elements.
function broken({ target }) {
  if (target.matches("img, audio, video") && !target.nextElementSibling) target.after(make("p", { className: "problems", role: "alert", textContent: say("item.broken") }));
}

function where() {
  if (page.practice) return;
  const of = places.all.length;
  $("place").textContent = say("place", { place: places.position(place.place) ?? place.position, of });
  $("progress").max = of;
  $("progress").value = of - places.open().length;
  const back = places.before(place.place);
  $("back").hidden = !back;
  if (back) $("back").href = `/item?place=${back.place}`;
}

function finish(push) {
  // A reload comes back here.
  if (push) history.pushState({}, "", "/finish");
  $("work").hidden = true;
  $("finish").hidden = false;
  $("look-again").href = `/item?place=${places.all.at(-1)?.place}`;
  $("finish").querySelector("h1").focus();
  places.told();
  $("progress").value = places.all.length;
  tell();
}

const back = () => {
  const earlier = places.before(place.place);
  if (!page.practice && earlier) leave(earlier.place);
};

// Who goes back from an answer that they gave before and have changed means the change, as far as it is whole.
function leave(number, how) {
  if (place.answer && !answers.problems(answer).length) put();
  return go(number, how);
}

function put() {
  if (changed()) {
    const done = { place: place.place, answer: answers.told(answer), seconds: time() / 1000, events, shown_at: shown };
    queue.put({ key: queue.key(), ...done, sent_at: new Date().toISOString() });
    drafts.forget(place.place);
  } else drafts.settle(place.place);
  dirty = false;
  Object.assign(place, { answer, draft: null });
  places.at(place.place).answered = true;
}

function next() {
  const found = answers.problems(answer);
  if (found.length) {
    asked = true;
    note("refused", found.map(({ message }) => message).join(" "), "page");
    draw();
    return panel.lead(found[0]);
  }
  if (page.practice) return practised();
  put();
  go(places.after(place.place)?.place);
}

function practised() {
  const form = $("answer");
  dirty = false;
  form.append(make("input", { type: "hidden", name: "answer", value: JSON.stringify(answers.told(answer)) }));
  drafts.forget(place.place);
  form.submit();
}

function tell() {
  const text = queue.trouble(stuck !== null);
  $("saving").textContent = text;
  $("saving").classList.toggle("waiting", Boolean(text));
}

// What other tabs and devices have done meanwhile.
async function elsewhere(told) {
  const mine = queue.waiting().some((entry) => entry.place === place.place);
  const grown = places.told(told);
  if (grown.includes(place.place) && !mine && !drafts.kept(place.place)) {
    place = await places.get(place.place);
    begin();
    $("saving").textContent = say("item.take_over");
  }
  if (!$("work").hidden) where();
}

async function beat() {
  if (document.hidden) return;
  try {
    const reply = await fetch("/api/state", { signal: AbortSignal.timeout(15000) });
    if (reply.ok) await elsewhere((await reply.json()).places);
  } catch {
    // The next beat comes by itself.
  }
}

function refused(entry, message) {
  drafts.keep(entry.place, { answer: entry.answer, events: entry.events, clock: 1000 * entry.seconds, shown: entry.shown_at });
  places.at(entry.place).answered = false;
  go(entry.place).then(() => ($("problems").textContent = say("saving.refused", { message })));
}

if ($("answer")) {
  $("item").addEventListener("error", broken, true);
  for (const target of $("item").children) if (target.error || (target.complete && !target.naturalWidth)) broken({ target });
  places.remember(place);
  // Before anything is heard or waited for: whoever is quick is at another address when the rest has come.
  if (!page.practice) {
    history.replaceState({}, "", `/item?place=${place.place}`);
    addEventListener("popstate", () => leave(Number(new URLSearchParams(location.search).get("place")) || undefined, { push: false }));
  }
  begin();
  rows.hear(input, () => (running = false));
  panel.hear(input);
  keys.listen(input, { next, back });
  $("answer").addEventListener("submit", (event) => {
    event.preventDefault();
    next();
  });
  document.addEventListener("visibilitychange", () => {
    clock = { before: time(), since: document.hidden ? 0 : performance.now() };
    note(document.hidden ? "hidden" : "visible", null, "page");
  });
  addEventListener("pagehide", () => dirty && keep());
  if ($("search")) {
    (await import("./search.js")).listen(input);
    draw();
  }
}

if ($("answer") && !page.practice) {
  const { proceed } = await import("./finish.js");
  places.told();
  where();
  const instead = (id, act) => $(id).addEventListener("click", (event) => (event.preventDefault(), act()));
  instead("back", back);
  instead("look-again", () => go(places.all.at(-1).place));
  shelf.watch((name, told) => {
    if (name.startsWith("send ") && told?.place === place.place) {
      place.answer = told.answer;
      adopt(told);
      $("saving").textContent = say("item.take_over");
    } else if (name === `draft ${place.place}` && told) adopt(told);
    if (name.startsWith("send ")) places.told();
  });
  queue.watch({
    taken: (entry, said) => {
      places.at(entry.place).revision = said.revision;
      if (said.places) elsewhere(said.places);
    },
    refused,
    changed: () => {
      tell();
      proceed();
    },
  });
  addEventListener("focus", beat);
  setInterval(beat, BEAT);
  places.ahead(place.place);
}
