// A half-filled item: on the shelf at once, with the server soon after, and back wherever the person comes from.

import { page, post, shelf } from "./page.js";
import { at as known } from "./places.js";
import { waiting } from "./queue.js";

const SOON = 900;
let late = null;
let timer = 0;
// What is practised stays apart, though its places have the same numbers.
const at = (place) => `draft ${page.practice ? "practice " : ""}${place}`;

export function keep(place, { answer, events, clock, shown }) {
  const sequence = Math.max(Date.now(), (kept(place)?.sequence ?? 0) + 1);
  // How often the place was answered before: the server drops what an answer has overtaken.
  const revision = (known(place).revision ?? 0) + waiting().filter((entry) => entry.place === place).length;
  late = { place, answer, events, sequence, revision };
  shelf.set(at(place), { answer, events, clock, shown, sequence, revision });
  clearTimeout(timer);
  timer = setTimeout(send, SOON);
}

export const kept = (place) => shelf.get(at(place));

export function forget(place) {
  shelf.remove(at(place));
  if (late?.place === place) late = null;
}

// A change that was taken back: the server has to hear of it as well.
export function settle(place) {
  if (late?.place === place) send();
  forget(place);
}

// What lies on the shelf stays there if this fails, so nothing more is tried.
function send() {
  if (late && !page.practice) post("/api/drafts", late, { keepalive: true }).catch(() => {});
  late = null;
}

// All that lies here, before the server is asked whether anything is open.
export const flush = () =>
  Promise.all(
    shelf.names("draft ").filter((name) => Number(name.slice(6))).map((name) => {
      const { answer, events, sequence, revision } = shelf.get(name);
      return post("/api/drafts", { place: Number(name.slice(6)), answer, events, sequence, revision });
    }),
  );

addEventListener("pagehide", send);
document.addEventListener("visibilitychange", () => document.hidden && send());
