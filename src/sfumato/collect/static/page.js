// What the server put into the page, its words, and a shelf that outlives it.

export const page = JSON.parse(document.body.dataset.page);
export const $ = (id) => document.getElementById(id);

// In the order of this person; the names of a long list are what the browser may suggest.
page.classes = [...document.querySelectorAll("#class-names option")].map((each) => each.value);
if (!page.classes.length) page.classes = [...document.querySelectorAll(".class")].map((row) => row.querySelector("input").value);

// The words of a key such as "left.clamp", their holes filled in.
export const say = (key, holes = {}) => {
  const [section, name] = key.split(".");
  const text = name ? page.words[section][name] : page.words[section];
  return text.replace(/\{(\w+)\}/g, (hole, part) => holes[part] ?? hole);
};

export const make = (tag, values) => Object.assign(document.createElement(tag), values);

// Numbers are said without the dust of floating point.
export const round = (number) => Math.round(number * 1000) / 1000;

// The browser's own storage, where all tabs of one person meet; where it is closed to us, memory, and we say so.
const prefix = `sfumato ${page.person} `;
const memory = new Map();
const attempt = (act) => {
  try {
    return act(localStorage);
  } catch {
    shelf.lasting = false;
  }
};
export const shelf = {
  lasting: true,
  get: (name) => JSON.parse(memory.get(name) ?? attempt((kept) => kept.getItem(prefix + name)) ?? null),
  set(name, value) {
    const text = JSON.stringify(value);
    memory.set(name, text);
    attempt((kept) => kept.setItem(prefix + name, text) ?? memory.delete(name));
  },
  remove(name) {
    memory.delete(name);
    attempt((kept) => kept.removeItem(prefix + name));
  },
  names(start) {
    const kept = attempt((all) => Object.keys(all).filter((name) => name.startsWith(prefix))) ?? [];
    return [...kept.map((name) => name.slice(prefix.length)), ...memory.keys()].filter((name) => name.startsWith(start));
  },
  // What another tab puts on the shelf.
  watch: (seen) =>
    addEventListener("storage", ({ key, newValue }) => key?.startsWith(prefix) && seen(key.slice(prefix.length), JSON.parse(newValue))),
};

export const post = (address, body, options = {}) =>
  fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", "x-csrf-token": page.csrf },
    body: JSON.stringify(body),
    ...options,
  });
