// Brings Today up to date while it stays open. What came is put in its place only while nobody has a hand on the page:
// no focus, selection or pointer on it, nothing scrolled or typed a moment ago. Until then a line tells what came.
"use strict";

const EVERY = 5000;
const STILL = 3000;
const live = document.getElementById("live");
const news = document.getElementById("news");
let touched = 0;
let told = 0;

function inHand() {
  const selection = getSelection();
  return (
    performance.now() - touched < STILL ||
    live.contains(document.activeElement) ||
    (!selection.isCollapsed && live.contains(selection.anchorNode)) ||
    live.querySelector("a:hover, button:hover, summary:hover") !== null
  );
}

// A request that is answered with a document: text is never made to markup here, which the page's policy refuses.
function asked(path, kind) {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("GET", path);
    request.responseType = kind;
    request.onload = () => (request.status === 200 && request.response ? done(request.response) : failed());
    request.onerror = failed;
    request.send();
  });
}

function ids(list) {
  return new Set([...list.children].map((each) => each.dataset.id).filter(Boolean));
}

function counterpart(part, within) {
  const name = part.dataset.list ? "list" : "part";
  return within.querySelector(`[data-${name}="${part.dataset[name]}"]`);
}

function came(fresh) {
  const number = (name) => {
    const known = ids(live.querySelector(`[data-list="${name}"]`));
    return [...ids(fresh.querySelector(`[data-list="${name}"]`))].filter((id) => !known.has(id)).length;
  };
  const requests = number("requests");
  const learnt = number("learnt");
  const parts = [
    requests && `${requests} new ${requests === 1 ? "request" : "requests"}`,
    learnt && `${learnt} new ${learnt === 1 ? "memory" : "memories"}`,
  ];
  return parts.filter(Boolean).join(" and ") || "something changed";
}

function tell(text, link) {
  const line = document.createElement(link ? "a" : "span");
  line.textContent = text;
  if (link) {
    line.href = location.href;
  }
  if (news.textContent !== text) {
    news.replaceChildren(line);
  }
}

// What stays is not made anew, so that what is open stays open, and what is looked at stays where it is.
function merge(fresh) {
  const items = scrollY > 0 ? [...live.querySelectorAll("[data-id]")] : [];
  const seen = items.find((each) => each.getBoundingClientRect().bottom > 0);
  const before = seen?.getBoundingClientRect().top;
  for (const part of live.querySelectorAll("[data-part], [data-list]")) {
    const other = counterpart(part, fresh);
    const open = part.querySelector("details.plotted")?.open;
    const known = new Map([...part.children].filter((each) => each.dataset.id).map((each) => [each.dataset.id, each]));
    part.replaceChildren(...[...other.childNodes].map((each) => known.get(each.dataset?.id) ?? document.adoptNode(each)));
    if (open) {
      part.querySelector("details.plotted")?.setAttribute("open", "");
    }
  }
  if (seen?.isConnected) {
    scrollBy(0, seen.getBoundingClientRect().top - before);
  }
}

async function look() {
  if (document.hidden) {
    return;
  }
  try {
    const { mark } = await asked(`/palimpsest/news${location.search}`, "json");
    if (mark === live.dataset.mark) {
      if (told && performance.now() - told > STILL) {
        news.replaceChildren();
        told = 0;
      }
      return;
    }
    const page = await asked(`/palimpsest/today${location.search}`, "document");
    const text = came(page);
    if (inHand()) {
      tell(`${text}: show`, true);
    } else {
      merge(page);
      live.dataset.mark = mark;
      tell(`Brought up to date: ${text}`, false);
      told = performance.now();
    }
  } catch {
    // The server is gone for a moment; the next look tells.
  }
}

if (live && news) {
  for (const kind of ["pointermove", "pointerdown", "keydown", "scroll", "touchmove"]) {
    addEventListener(kind, () => { touched = performance.now(); }, { passive: true });
  }
  setInterval(look, EVERY);
}
