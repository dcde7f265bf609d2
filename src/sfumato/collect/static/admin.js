// Numbers that stay fresh: the page is fetched again, and its parts that have changed are put in place.

const EVERY = 5000;
const fresh = document.getElementById("fresh");
let order = null;

async function renew() {
  if (document.hidden) return;
  try {
    const reply = await fetch(location.href, { signal: AbortSignal.timeout(15000) });
    if (!reply.ok || reply.redirected) throw new Error(String(reply.status));
    const told = new DOMParser().parseFromString(await reply.text(), "text/html");
    for (const part of document.querySelectorAll("[data-live]")) {
      const next = told.querySelector(`[data-live="${part.dataset.live}"]`);
      if (!next || next.innerHTML === part.dataset.told || part.contains(document.activeElement)) continue;
      if (part.innerHTML !== next.innerHTML) part.innerHTML = next.innerHTML;
      part.dataset.told = next.innerHTML;
    }
    sortable();
    say("These numbers are live.");
  } catch {
    say("The server cannot be reached; these numbers may be old.");
  }
}

const say = (text) => fresh.textContent !== text && (fresh.textContent = text);

const value = (row, n) => {
  const cell = row.cells[n];
  const text = cell.dataset.value ?? cell.textContent.trim();
  const number = parseFloat(text.replace(/,/g, ""));
  return Number.isNaN(number) ? text : number;
};

function sort() {
  const body = document.querySelector(".list tbody");
  if (!body || !order) return;
  const compare = (one, other) => {
    const [a, b] = [value(one, order.n), value(other, order.n)];
    const sign = typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
    return order.up ? sign : -sign;
  };
  body.append(...[...body.rows].sort(compare));
  document.querySelectorAll(".list thead th").forEach((head, n) => {
    if (n === order.n) head.setAttribute("aria-sort", order.up ? "ascending" : "descending");
    else head.removeAttribute("aria-sort");
  });
}

function sortable() {
  document.querySelectorAll(".list thead th").forEach((head, n) => {
    if (head.querySelector("button")) return;
    const button = Object.assign(document.createElement("button"), { textContent: head.textContent });
    button.addEventListener("click", () => {
      order = { n, up: order?.n === n ? !order.up : true };
      sort();
    });
    head.replaceChildren(button);
  });
  sort();
}

sortable();
setInterval(renew, EVERY);
document.addEventListener("visibilitychange", renew);
renew();
