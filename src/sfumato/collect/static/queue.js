// Answers on their way. Each lies on the shelf until the server says that it has it; its key makes it count once,
// however often it is sent and from however many tabs.

import { page, post, say, shelf } from "./page.js";

const PAUSES = [1, 2, 4, 8, 15, 30];
// Whom to tell what became of an answer; before there is somebody, nothing is sent.
let told = null;
let failed = 0;
let timer = 0;
let gone = "";

export const waiting = () =>
  shelf.names("send ").map((name) => shelf.get(name)).filter(Boolean).sort((one, other) => one.order - other.order);

export const key = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export function put(entry) {
  const last = waiting().at(-1)?.order ?? 0;
  shelf.set(`send ${entry.key}`, { ...entry, order: Math.max(Date.now(), last + 1) });
  now();
}

export function now() {
  clearTimeout(timer);
  if (!told) return;
  if (navigator.locks) navigator.locks.request(`sfumato ${page.person}`, drain);
  else drain();
}

// In the order in which they were said, so that a changed answer comes after the one it changes.
async function drain() {
  for (const { order, ...entry } of waiting()) {
    let reply, said;
    try {
      reply = await post("/api/answers", entry, { signal: AbortSignal.timeout(20000) });
      said = await reply.json().catch(() => ({}));
    } catch {
      return again("");
    }
    const message = said.error?.message ?? "";
    if (reply.ok) {
      shelf.remove(`send ${entry.key}`);
      failed = 0;
      gone = "";
      told.taken(entry, said);
    } else if ([400, 404, 413, 415, 422].includes(reply.status)) {
      shelf.remove(`send ${entry.key}`);
      told.refused(entry, said.error?.details?.[0]?.message ?? message);
    } else if (said.error?.next) {
      // Handed in elsewhere, or not yet begun: the server knows where this person belongs.
      return location.assign(said.error.next);
    } else {
      return again([401, 403].includes(reply.status) ? say("saving.reload") : message, reply.headers.get("retry-after"));
    }
  }
  told.changed();
}

function again(why, least = 0) {
  gone = why;
  const pause = Math.max(least, PAUSES[Math.min(failed++, PAUSES.length - 1)]);
  clearTimeout(timer);
  // A little apart, so that a hundred people do not come back in the same second.
  timer = setTimeout(now, pause * 1000 * (0.75 + Math.random() / 2));
  told.changed();
}

// What is to be said about it: nothing while all is well.
export function trouble(stuck) {
  const n = waiting().length;
  const lost = shelf.lasting ? "" : ` ${say("saving.memory")}`;
  if (failed && gone) return `${n ? say("saving.paused", { message: gone, n }) : gone}${lost}`;
  if (stuck) return say("saving.stuck", { n }) + lost;
  return failed && n ? say("saving.waiting", { n }) + lost : "";
}

export function watch(listeners) {
  told = listeners;
  addEventListener("online", now);
  addEventListener("pageshow", now);
  document.addEventListener("visibilitychange", () => document.hidden || now());
  now();
}
