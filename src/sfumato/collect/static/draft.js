// A half-filled item: on the shelf at once, with the server soon after, and back wherever the person comes from.

import { page, post, shelf } from "./page.js";

const SOON = 900;
let late = null;
let timer = 0;
// What is practised stays apart, though its places have the same numbers.
const at = (place) => `draft ${page.practice ? "practice " : ""}${place}`;

export function keep(place, { answer, events, clock, shown }) {
  const sequence = Math.max(Date.now(), (kept(place)?.sequence ?? 0) + 1);
  late = { place, answer, events, sequence };
  shelf.set(at(place), { answer, events, clock, shown, sequence });
  clearTimeout(timer);
  timer = setTimeout(send, SOON);
  return sequence;
}

export const kept = (place) => shelf.get(at(place));

export function forget(place) {
  shelf.remove(at(place));
  if (late?.place === place) late = null;
}

// What lies on the shelf stays there if this fails, so nothing more is tried.
function send() {
  if (late && !page.practice) post("/api/drafts", late, { keepalive: true }).catch(() => {});
  late = null;
}

addEventListener("pagehide", send);
document.addEventListener("visibilitychange", () => document.hidden && send());
