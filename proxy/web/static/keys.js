// Keys on a candidate that has the focus: each presses the button or follows the link that is marked with it. Nothing
// listens while somebody types, or while no candidate has the focus.
"use strict";

const candidates = [...document.querySelectorAll("[data-candidate]")];

function marked(key, within) {
  return within.querySelector(`[data-key="${key}"]`) ?? (key === "u" ? document.querySelector('[data-key="u"]') : null);
}

function moved(from, by) {
  const next = candidates[candidates.indexOf(from) + by];
  if (next) {
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }
  return Boolean(next);
}

function pressed(event) {
  const at = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || at.matches("input, textarea, select")) {
    return;
  }
  const candidate = at.closest("[data-candidate]") ?? at.closest(".undo");
  if (!candidate) {
    return;
  }
  const key = event.key.toLowerCase();
  if (key === "j" || key === "k") {
    if (moved(candidate, key === "j" ? 1 : -1)) {
      event.preventDefault();
    }
    return;
  }
  const button = "aerdu123456789".includes(key) && key.length === 1 ? marked(key, candidate) : null;
  if (button) {
    event.preventDefault();
    button.click();
  }
}

const asked = new WeakSet();

// A candidate that comes into the focus is shown with what stands behind its link. The answer is a document: text is
// never made to markup here, which the page's policy refuses. It waits while the link itself has the focus, which would
// be lost with it; where none comes, the next focus asks again.
function entered(event) {
  const link = event.target.closest?.("[data-candidate]")?.querySelector("a[data-more]");
  if (!link || asked.has(link)) {
    return;
  }
  asked.add(link);
  const request = new XMLHttpRequest();
  request.open("GET", link.href);
  request.responseType = "document";
  request.onloadend = () => {
    const more = request.status === 200 ? request.response?.querySelector(".weighed") : null;
    const show = () => link.parentElement.replaceWith(document.adoptNode(more));
    if (!more) {
      asked.delete(link);
    } else if (link.matches(":focus")) {
      link.addEventListener("blur", show, { once: true });
    } else {
      show();
    }
  };
  request.send();
}

document.addEventListener("keydown", pressed);
document.addEventListener("focusin", entered);
const told = document.getElementById("keys");
if (told) {
  told.hidden = candidates.length === 0;
}
// The first of where one came from, else the first, else what was decided last, so that a key is enough.
const section = location.hash ? document.getElementById(location.hash.slice(1)) : null;
(section?.querySelector("[data-candidate]") ?? candidates[0] ?? document.querySelector('.undo [data-key="u"]'))?.focus({ preventScroll: true });
