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

// Numbers are said without the dust of floating point.
export const round = (number) => Math.round(number * 100) / 100;

// The browser's own storage, where all tabs of one person meet; where it is closed to us, memory, and we say so.
const prefix = `sfumato ${page.person} `;
const memory = new Map();
export const shelf = {
  lasting: true,
  get(name) {
    let text = memory.get(name);
    try {
      text ??= localStorage.getItem(prefix + name);
    } catch {
      shelf.lasting = false;
    }
    return text ? JSON.parse(text) : null;
  },
  set(name, value) {
    const text = JSON.stringify(value);
    try {
      localStorage.setItem(prefix + name, text);
      memory.delete(name);
    } catch {
      shelf.lasting = false;
      memory.set(name, text);
    }
  },
  remove(name) {
    memory.delete(name);
    try {
      localStorage.removeItem(prefix + name);
    } catch {
      shelf.lasting = false;
    }
  },
  names(start) {
    let kept = [];
    try {
      kept = Object.keys(localStorage).filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
    } catch {
      shelf.lasting = false;
    }
    return [...new Set([...kept, ...memory.keys()])].filter((name) => name.startsWith(start));
  },
  // What another tab puts on the shelf.
  watch(seen) {
    addEventListener("storage", ({ key, newValue }) => {
      if (key?.startsWith(prefix)) seen(key.slice(prefix.length), newValue && JSON.parse(newValue));
    });
  },
};

export const post = (address, body, options = {}) =>
  fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", "x-csrf-token": page.csrf },
    body: JSON.stringify(body),
    ...options,
  });
