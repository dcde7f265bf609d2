// An item as it is shown: the same elements as in shown.html.

import { make, page } from "./page.js";
import { sources } from "./places.js";

export function element({ kind, media, text, alt }) {
  const name = alt || page.words.item[kind];
  if (kind === "text") return make("blockquote", { textContent: text, dir: "auto", tabIndex: 0 });
  if (kind === "image") return make("img", { alt: name, width: page.size, ...sources(media) });
  const player = make(kind, { controls: true, preload: "auto", src: media, playsInline: true });
  player.setAttribute("aria-label", name);
  return player;
}
