// Handing in: only when the last answer has been acknowledged, however long that takes.

import { $, make, post, say, shelf } from "./page.js";
import * as queue from "./queue.js";

const form = $("hand-in");
const list = form.querySelector(".problems");
let wanted = false;
let busy = false;

const tell = (text) => list.replaceChildren(...(text ? [make("li", { textContent: text })] : []));

export async function proceed() {
  if (!wanted || busy) return;
  if (queue.waiting().length) {
    tell(say("finish.wait"));
    return;
  }
  busy = true;
  try {
    const reply = await post("/api/finish", {}, { signal: AbortSignal.timeout(20000) });
    const said = await reply.json().catch(() => ({}));
    const next = said.next ?? said.error?.next;
    if (reply.ok || next) {
      if (reply.ok) for (const name of shelf.names("draft ")) shelf.remove(name);
      location.assign(next);
      return;
    }
    if (reply.status === 409) {
      wanted = false;
      const open = said.error?.details ?? [];
      tell(say("finish.missing", { places: open.map((each) => each.position).join(", ") }));
    } else {
      tell([401, 403].includes(reply.status) ? say("saving.reload") : said.error?.message || say("finish.wait"));
      setTimeout(proceed, 4000);
    }
  } catch {
    tell(say("finish.wait"));
    setTimeout(proceed, 2000);
  } finally {
    busy = false;
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  wanted = true;
  queue.now();
  proceed();
});

if (!$("work")) queue.watch({ changed: proceed });
