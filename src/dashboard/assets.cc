// SPDX-License-Identifier: Apache-2.0
#include "dashboard/assets.h"

namespace pintle::dashboard {

// Each activity has a colour for its text and one for the background of that text.  On the light and on the dark page,
// these two have a contrast of 4.5 to 1 or more; tests/unit/dashboard/assets_test.cc computes it.
const std::string_view kStyle = R"css(:root {
  color-scheme: light dark;
  --page: #ffffff;
  --text: #1b1f24;
  --quiet: #57606a;
  --line: #d0d7de;
  --link: #0550ae;
  --done: #1a5e2a;
  --done-back: #e3f4e6;
  --waiting: #4a5058;
  --waiting-back: #eceef1;
  --draining: #6a3d00;
  --draining-back: #ffeccc;
  --updating: #0a4a94;
  --updating-back: #dcecff;
  --rebooting: #5b2a96;
  --rebooting-back: #efe4fc;
  --not-ready: #7a3200;
  --not-ready-back: #ffe3d1;
  --degraded: #ffffff;
  --degraded-back: #b3202c;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14181d;
    --text: #e6eaef;
    --quiet: #a3adb8;
    --line: #39414a;
    --link: #82b6ff;
    --done: #8fdba0;
    --done-back: #16301c;
    --waiting: #c3cad2;
    --waiting-back: #2a3038;
    --draining: #ffcf87;
    --draining-back: #40290a;
    --updating: #9ecbff;
    --updating-back: #12304f;
    --rebooting: #d7b8ff;
    --rebooting-back: #35204f;
    --not-ready: #ffb48a;
    --not-ready-back: #47230f;
    --degraded: #2b0508;
    --degraded-back: #ff9a9f;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto;
  max-width: 72rem;
  padding: 1rem;
  background: var(--page);
  color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif;
}
h1 { margin: 0; font-size: 1.25rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1.125rem; }
h3 { margin: 0; font-size: 1rem; }
p { margin: .25rem 0; }
a { color: var(--link); }
a:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
code, pre { font: .875rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { margin: 0; max-height: 24rem; overflow: auto; white-space: pre-wrap; }
.skip { position: absolute; left: -100rem; }
.skip:focus { position: static; }
header { border-bottom: 1px solid var(--line); padding-bottom: .5rem; }
#summary { font-size: 1.125rem; }
#connection { color: var(--quiet); }
.attention { margin: 0; padding: 0; list-style: none; }
.attention li { margin: .25rem 0; padding: .5rem .75rem; border-left: 4px solid currentColor; overflow-wrap: anywhere; }
.attention li.degraded { border-color: var(--degraded-back); color: inherit; background: none; }
.attention li.not-ready { border-color: var(--not-ready); color: inherit; background: none; }
.attention .sign { font-weight: bold; }
.rollout { overflow-wrap: anywhere; }
.waves { display: flex; flex-wrap: wrap; gap: .25rem .5rem; margin: .5rem 0 0; padding: 0; list-style: none; font-size: .875rem; }
.waves li { padding: 0 .5rem; border-radius: 3px; overflow-wrap: anywhere; }
.waves li[aria-current] { font-weight: bold; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem .5rem; margin: 0 0 1rem; padding: 0; list-style: none; font-size: .875rem; }
.legend li { padding: 0 .5rem; border-radius: 3px; }
article { margin: 0 0 1.5rem; padding: .75rem 0 0; border-top: 1px solid var(--line); }
.paused { font-weight: normal; color: var(--quiet); }
progress { width: 100%; height: .5rem; accent-color: var(--updating); }
.nodes { display: grid; gap: 3px; margin: .5rem 0 0; padding: 0; list-style: none; }
.few .nodes { grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr)); }
.many .nodes { grid-template-columns: repeat(auto-fill, 1.5rem); }
.nodes li { border-radius: 3px; content-visibility: auto; }
.many .nodes li { contain-intrinsic-size: 1.5rem 1.5rem; }
.nodes a { display: flex; gap: .5rem; color: inherit; text-decoration: none; }
.few .nodes a { padding: .25rem .5rem; }
.few .nodes a:hover .name { text-decoration: underline; }
.many .nodes a { justify-content: center; line-height: 1.5rem; }
.name { overflow-wrap: anywhere; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.done { color: var(--done); background: var(--done-back); }
.waiting { color: var(--waiting); background: var(--waiting-back); }
.draining { color: var(--draining); background: var(--draining-back); }
.updating { color: var(--updating); background: var(--updating-back); }
.rebooting { color: var(--rebooting); background: var(--rebooting-back); }
.not-ready { color: var(--not-ready); background: var(--not-ready-back); }
.degraded { color: var(--degraded); background: var(--degraded-back); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th, td { padding: .25rem 1rem .25rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: normal; }
thead th { color: var(--quiet); }
.number { text-align: right; font-variant-numeric: tabular-nums; }
time { font-variant-numeric: tabular-nums; }
.timeline { margin: 0; padding: 0; list-style: none; font-size: .875rem; }
.timeline li { padding: .125rem 0; overflow-wrap: anywhere; }
.timeline time { color: var(--quiet); margin-right: .5rem; }
#details { margin-top: 1rem; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: 4px; color: inherit; background: none; }
#details h2 { margin: 0 0 .5rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0; }
dt { color: var(--quiet); }
dd { margin: 0; min-width: 0; }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
@media (forced-colors: active) { .nodes li, .legend li, .waves li { border: 1px solid; } }
)css";

// The script replaces pieces of the page by HTML that the server has made and escaped.  If the keyboard focus is in a
// replaced piece, the focus stays at the same place of that piece.
const std::string_view kScript = R"js("use strict";
const connection = document.getElementById("connection");

function report(text) {
  connection.textContent = text;
  connection.hidden = text === "";
}

function replacePiece([id, html]) {
  const old = document.getElementById(id);
  if (!old) return;
  const focused = old.contains(document.activeElement) ? [...old.querySelectorAll("a, [tabindex]")] : [];
  const place = focused.indexOf(document.activeElement);
  old.outerHTML = html;
  if (place < 0) return;
  const links = document.getElementById(id).querySelectorAll("a, [tabindex]");
  if (links[place]) links[place].focus({ preventScroll: true });
}

async function replacePage() {
  const answer = await fetch(location.href, { cache: "no-store" });
  if (!answer.ok) throw new Error("status " + answer.status);
  const next = new DOMParser().parseFromString(await answer.text(), "text/html");
  const focused = document.activeElement.closest("[id]");
  document.getElementById("summary").replaceWith(next.getElementById("summary"));
  document.querySelector("main").replaceWith(next.querySelector("main"));
  const again = focused && document.getElementById(focused.id);
  const link = again && again.querySelector("a, [tabindex]");
  if (link) link.focus({ preventScroll: true });
  return next.documentElement.dataset.version;
}

function follow(version) {
  const source = new EventSource("events?from=" + encodeURIComponent(version));
  source.onopen = () => report("");
  const restart = () => {
    source.close();
    begin();
  };
  source.onmessage = (event) => {
    const pieces = JSON.parse(event.data);
    // The details are no piece; they change together with the cell of their node.
    const cell = document.getElementById("details")?.dataset.cell;
    if (pieces.some(([id]) => id === cell)) return restart();
    pieces.forEach(replacePiece);
  };
  source.onerror = () => {
    report("The connection is lost; trying again.");
    // After an answer that is not a stream, such as 503, the browser does not try again by itself.
    if (source.readyState === EventSource.CLOSED) setTimeout(begin, 5000);
  };
  source.addEventListener("reload", restart);
}

function begin() {
  replacePage().then(follow, () => {
    report("The connection is lost; trying again.");
    setTimeout(begin, 5000);
  });
}

follow(document.documentElement.dataset.version);
)js";

const std::string_view kIcon =
    R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#0a4a94" d="M7 0h2v7h4v3H9v6H7v-6H3V7h4z"/></svg>)svg";

}  // namespace pintle::dashboard
