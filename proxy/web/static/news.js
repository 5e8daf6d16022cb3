// Tells that new requests came since the page was made. It is not loaded anew by itself: somebody may be reading.
"use strict";

const EVERY = 5000;
const news = document.getElementById("news");

async function look() {
  if (document.hidden) {
    return;
  }
  try {
    const reply = await fetch(`/palimpsest/news?since=${encodeURIComponent(news.dataset.since)}`);
    const told = reply.ok ? await reply.json() : { new: 0 };
    if (told.new > 0) {
      const link = news.querySelector("a");
      link.textContent = told.new === 1 ? "A new request came: show it" : `${told.new} new requests came: show them`;
      news.hidden = false;
    }
  } catch {
    // The server is gone for a moment; the next look tells.
  }
}

if (news) {
  setInterval(look, EVERY);
}
