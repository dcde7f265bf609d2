// The places of this person, and what stands there: fetched before they are needed.

import { page, shelf } from "./page.js";

const AHEAD = navigator.connection?.saveData ? 1 : 8;
const known = new Map();
// Pictures that are loaded stay in memory as long as something holds them.
const held = new Map();

export let all = (page.places ?? []).map(([place, revision], n) => ({ place, position: n + 1, answered: revision > 0, revision }));
// A place that was given back is in no list any more; what is noted of it then is noted for nobody.
export const at = (number) => all.find((each) => each.place === number) ?? {};
export const position = (number) => at(number).position;
export const open = () => all.filter((each) => !each.answered);

// Takes the list as the server knows it, and returns the places that were answered anew elsewhere.
export function told(places) {
  const before = new Map(all.map((each) => [each.place, each.revision]));
  if (places) all = places;
  // What is still on its way is answered, whatever the server knows.
  const sent = new Set(shelf.names("send ").map((name) => shelf.get(name)?.place));
  const grown = [];
  for (const each of all) {
    each.answered ||= sent.has(each.place);
    if (each.revision > (before.get(each.place) ?? 0) && known.delete(each.place)) grown.push(each.place);
  }
  return grown;
}

export const remember = (place) => known.set(place.place, place);

export async function get(number) {
  if (!known.has(number)) {
    const reply = await fetch(`/api/places/${number}`, { signal: AbortSignal.timeout(15000) });
    if (!reply.ok) throw Object.assign(new Error(`place ${number}`), { status: reply.status });
    remember(await reply.json());
  }
  return known.get(number);
}

export const after = (number) => open().find((each) => each.position > position(number)) ?? open()[0];
export const before = (number) => all.filter((each) => each.position < (position(number) ?? Infinity)).at(-1);

// What comes next, one after the other, and the pictures of the nearest.
export async function ahead(number) {
  const here = position(number) ?? 0;
  const next = all.filter((each) => each.position > here);
  for (const [n, each] of next.entries()) {
    try {
      const { item } = await get(each.place);
      if (n < AHEAD && item.kind === "image" && !held.has(each.place)) {
        const picture = new Image();
        picture.sizes = `(min-width: 150em) ${2 * page.size}px, ${page.size}px`;
        picture.srcset = sources(item.media);
        held.set(each.place, picture);
        await picture.decode().catch(() => held.delete(each.place));
      }
    } catch {
      return;
    }
  }
  for (const each of held.keys()) if (position(each) < here - 1) held.delete(each);
}

export const sources = (media) => [1, 2].map((times) => `${media}?size=${times * page.size} ${times * page.size}w`).join(", ");
