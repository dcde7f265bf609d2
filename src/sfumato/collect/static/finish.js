// Handing in: only when the last answer has been acknowledged, however long that takes.

import { flush, keep } from "./draft.js";
import { $, post, say, shelf } from "./page.js";
import * as queue from "./queue.js";

const form = $("hand-in");
let wanted = false;
let busy = false;

const tell = (text) => (form.querySelector(".problems").textContent = text);

export async function proceed() {
  if (!wanted || busy) return;
  if (queue.waiting().length) return tell(say("finish.wait"));
  busy = true;
  try {
    await flush();
    const reply = await post("/api/finish", {}, { signal: AbortSignal.timeout(20000) });
    const { next, error } = await reply.json();
    if (next ?? error?.next) {
      for (const name of shelf.names("draft ")) shelf.remove(name);
      return location.assign(next ?? error.next);
    }
    if (reply.status === 409) {
      wanted = false;
      // Changed and not confirmed: the page of the item says so.
      if (error.code === "unkept") return location.assign(`/item?place=${error.details[0].place}`);
      return tell(say("finish.missing", { places: error.details.map((each) => each.position).join(", ") }));
    }
    tell([401, 403].includes(reply.status) ? say("saving.reload") : error.message);
  } catch {
    tell(say("finish.wait"));
  } finally {
    busy = false;
  }
  setTimeout(proceed, 2000);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  wanted = true;
  queue.now();
  proceed();
});

// On a page of its own: what the server refuses is open again, and that is where the person goes.
function refused({ place, answer, events, seconds, shown_at }) {
  keep(place, { answer, events, clock: 1000 * seconds, shown: shown_at });
  location.assign(`/item?place=${place}`);
}

if (!$("work")) queue.watch({ changed: proceed, taken() {}, refused });
