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
  const before = new Map(all.map((each) => [each.place, each]));
  if (places) all = places;
  // What is still on its way is answered, whatever the server knows.
  const sent = new Set(shelf.names("send ").map((name) => shelf.get(name)?.place));
  const grown = [];
  for (const each of all) {
    const { revision = 0, answered } = before.get(each.place) ?? {};
    if (each.revision > revision && known.delete(each.place)) grown.push(each.place);
    // What is told may be older than what was acknowledged meanwhile.
    each.revision = Math.max(each.revision, revision);
    each.answered ||= answered || sent.has(each.place);
  }
  return grown;
}

export const remember = (place) => known.set(place.place, place);

async function load(number) {
  const reply = await fetch(`/api/places/${number}`, { signal: AbortSignal.timeout(15000) });
  if (!reply.ok) throw Object.assign(new Error(`place ${number}`), { status: reply.status });
  return reply.json();
}

// One object for each place, however many ask for it at once: what is said is noted in it.
export function get(number) {
  if (!known.has(number)) {
    const loading = load(number);
    known.set(number, loading);
    loading.catch(() => known.delete(number));
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
        Object.assign(picture, sources(item.media));
        held.set(each.place, picture);
        await picture.decode().catch(() => held.delete(each.place));
      }
    } catch {
      return;
    }
  }
  for (const each of held.keys()) if (position(each) < here - 1) held.delete(each);
}

export const sources = (media) => ({
  sizes: `(min-width: 150em) ${2 * page.size}px, ${page.size}px`,
  srcset: [1, 2].map((times) => `${media}?size=${times * page.size} ${times * page.size}w`).join(),
});
