// The page's table and its details. Texts reach the page as text alone (textContent): never as markup.
"use strict";
(() => {
  const ROW = {
    run: 0, scenario: 1, repeat: 2, verdict: 3, levels: 4, outcome: 5, source: 6, tools: 7, tags: 8,
    attempts: 9, latency: 10, tokens: 11, prompt: 12, expected: 13, got: 14, repairs: 15, index: 16,
    number: 17, // given here: where its details are
  };
  const BLOCK = 64;
  const OVERSCAN = 8;
  const VERDICTS = { FAIL: "Failed", ERROR: "Not answered", PASS: "Passed" };
  const ORDER = { FAIL: 0, ERROR: 1, PASS: 2 };
  const LEVELS = ["strict", "standard", "lenient"];
  const FILTERS = ["verdict", "outcome", "tool", "tag", "cell"];

  const by = (id) => document.getElementById(id);
  const json = (node) => JSON.parse(node.textContent);
  let rows, names, labels, haystacks, opened, scroll, space, list;
  const state = { shown: [], active: 0, sort: "", down: false, open: "" };

  // What a row is called in the address, whatever else is on the page.
  const keyOf = (row) => `${labels[row[ROW.run]]}/${row[ROW.repeat]}/${row[ROW.scenario]}`;
  const labelOf = (row) => labels.length > 1 ? labels[row[ROW.run]] : "";
  const titleOf = (row) => row[ROW.scenario] + (row[ROW.repeat] > 1 ? ` #${row[ROW.repeat]}` : "");
  const gotOf = (row) =>
    row[ROW.verdict] === "ERROR" ? names[row[ROW.outcome]].replaceAll("_", " ") : row[ROW.got];

  function make(tag, className, text) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined && text !== null) node.textContent = text;
    if (tag === "pre") node.tabIndex = 0; // it may have to be scrolled
    return node;
  }

  // Reads the results, failed ones first, each group in the order of the suite.
  function load() {
    const found = [];
    for (const node of document.querySelectorAll("script.rows")) {
      for (const row of json(node)) {
        row.push(found.length);
        found.push(row);
      }
      node.remove();
    }
    const place = (row) => row[ROW.index] ?? row[ROW.number];
    found.sort((a, b) => ORDER[a[ROW.verdict]] - ORDER[b[ROW.verdict]] || place(a) - place(b) ||
      a[ROW.repeat] - b[ROW.repeat] || a[ROW.run] - b[ROW.run]);
    rows = found;
    names = json(by("names"));
    labels = json(by("labels"));
    haystacks = rows.map((row) =>
      [row[ROW.scenario], row[ROW.prompt], row[ROW.expected], row[ROW.got]].join("\n").toLowerCase());
    opened = new Map();
    [scroll, space, list] = [by("scroll"), by("space"), by("rows")];
    choices(by("outcome"), ROW.outcome);
    choices(by("tool"), ROW.tools);
    choices(by("tag"), ROW.tags);
    listen();
    follow();
    setTimeout(listFailed);
  }

  // ---- the choices of the filters, from what there is

  function choices(select, column) {
    const counts = new Map();
    for (const row of rows)
      for (const name of [].concat(row[column])) counts.set(name, (counts.get(name) || 0) + 1);
    const sorted = [...counts].sort((a, b) => b[1] - a[1] || (names[a[0]] < names[b[0]] ? -1 : 1));
    for (const [name, count] of sorted) {
      const option = make("option", "", `${names[name].replaceAll("_", " ")} (${count})`);
      option.value = names[name];
      select.append(option);
    }
    select.hidden = counts.size === 0;
  }

  function fits(index, words, wanted) {
    const row = rows[index];
    if (wanted.verdict && row[ROW.verdict] !== wanted.verdict) return false;
    if (wanted.outcome && names[row[ROW.outcome]] !== wanted.outcome) return false;
    if (wanted.cell && labels[row[ROW.run]] !== wanted.cell) return false;
    if (wanted.tool && !row[ROW.tools].some((name) => names[name] === wanted.tool)) return false;
    if (wanted.tag && !row[ROW.tags].some((name) => names[name] === wanted.tag)) return false;
    return words.every((word) => haystacks[index].includes(word));
  }

  const KEYS = {
    verdict: (row) => ORDER[row[ROW.verdict]],
    scenario: (row) => row[ROW.scenario],
    expected: (row) => row[ROW.expected],
    attempts: (row) => row[ROW.attempts],
    latency: (row) => row[ROW.latency],
    tokens: (row) => row[ROW.tokens],
  };

  function choose() {
    const words = by("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = {};
    for (const id of FILTERS) wanted[id] = by(id).value;
    const shown = [];
    for (let i = 0; i < rows.length; i++) if (fits(i, words, wanted)) shown.push(i);
    if (state.sort) {
      const key = KEYS[state.sort], sign = state.down ? -1 : 1;
      shown.sort((i, j) => {
        const a = key(rows[i]), b = key(rows[j]);
        if (a === b) return i - j;
        if (a === null || b === null) return a === null ? 1 : -1; // what is unknown comes last
        return a < b ? -sign : sign;
      });
    }
    for (const one of document.querySelectorAll(".head button")) {
      const on = one.dataset.sort === state.sort;
      one.setAttribute("aria-pressed", String(on));
      one.dataset.way = on ? (state.down ? "down" : "up") : "";
    }
    state.shown = shown;
    state.active = 0;
    const passed = shown.filter((i) => rows[i][ROW.verdict] === "PASS").length;
    const of = shown.length === rows.length ? "" : ` of ${rows.length.toLocaleString("en")}`;
    by("count").textContent =
      `${shown.length.toLocaleString("en")}${of} shown, ${passed.toLocaleString("en")} passed`;
    by("nothing").hidden = shown.length > 0;
    scroll.hidden = shown.length === 0;
    scroll.scrollTop = 0;
    layout();
    address();
  }

  // ---- the address: #q=…&verdict=FAIL&outcome=…&tool=…&tag=…&cell=01, and the result that is open

  function address() {
    const parts = new URLSearchParams();
    if (by("search").value) parts.set("q", by("search").value);
    for (const id of FILTERS) if (by(id).value) parts.set(id, by(id).value);
    if (state.open) parts.set("result", state.open);
    const text = parts.toString().replaceAll("+", "%20");
    history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
  }

  function follow() {
    const parts = new URLSearchParams(location.hash.slice(1));
    const wanted = parts.get("result") ?? "";
    by("search").value = parts.get("q") ?? "";
    for (const id of FILTERS) {
      by(id).value = parts.get(id) ?? "";
      if (by(id).selectedIndex < 0) by(id).value = "";
    }
    choose();
    if (wanted && wanted !== state.open) openResult((row) => keyOf(row) === wanted);
  }

  function clear() {
    for (const id of ["search", ...FILTERS]) by(id).value = "";
  }

  function openResult(isWanted) {
    const index = rows.findIndex(isWanted);
    if (index < 0) return;
    if (!state.shown.includes(index)) {
      clear();
      choose();
    }
    open(state.shown.indexOf(index));
  }

  // ---- the rows that can be seen, and no others

  let height = 0;
  function layout() {
    height = parseFloat(getComputedStyle(scroll).getPropertyValue("--row")) || 56;
    space.style.height = `${state.shown.length * height}px`;
    draw();
  }

  function draw() {
    const first = Math.max(0, Math.floor(scroll.scrollTop / height) - OVERSCAN);
    const last = Math.min(
      state.shown.length, Math.ceil((scroll.scrollTop + scroll.clientHeight) / height) + OVERSCAN);
    const drawn = document.createDocumentFragment();
    for (let at = first; at < last; at++) drawn.append(line(at));
    list.style.transform = `translateY(${first * height}px)`;
    list.replaceChildren(drawn);
    const active = by("row-" + state.active);
    if (active) scroll.setAttribute("aria-activedescendant", active.id);
    else scroll.removeAttribute("aria-activedescendant");
  }

  function line(at) {
    const row = rows[state.shown[at]];
    const node = make("div", "row v-" + row[ROW.verdict] + (at === state.active ? " active" : ""));
    node.id = "row-" + at;
    Object.assign(node.dataset, { at, scenario: row[ROW.scenario], verdict: row[ROW.verdict] });
    node.setAttribute("role", "option");
    node.setAttribute("aria-selected", String(at === state.active));
    node.setAttribute("aria-setsize", String(state.shown.length));
    node.setAttribute("aria-posinset", String(at + 1));
    const verdict = make("span", "cell verdict");
    verdict.append(make("i", "mark"), make("span", "", VERDICTS[row[ROW.verdict]]));
    const scenario = make("span", "cell scenario");
    const name = make("span", "id");
    if (labelOf(row)) name.append(make("span", `letter r${row[ROW.run]}`, labelOf(row)));
    name.append(make("bdi", "", titleOf(row)));
    scenario.append(name, make("span", "prompt", row[ROW.prompt]));
    const calls = make("span", "cell calls");
    calls.append(make("span", "wanted", row[ROW.expected]), make("span", "got", gotOf(row)));
    node.append(verdict, scenario, calls,
      make("span", "cell number", row[ROW.attempts]),
      make("span", "cell number", row[ROW.latency] === null ? "–" : row[ROW.latency].toFixed(2)),
      make("span", "cell number", row[ROW.tokens] === null ? "–" : row[ROW.tokens]));
    return node;
  }

  function move(to) {
    if (!state.shown.length) return;
    state.active = Math.min(state.shown.length - 1, Math.max(0, to));
    const top = state.active * height;
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    else if (top + height > scroll.scrollTop + scroll.clientHeight)
      scroll.scrollTop = top + height - scroll.clientHeight;
    draw();
    by("row-" + state.active)?.scrollIntoView({ block: "nearest" });
  }

  // What is printed: the table has only rows that can be seen.
  function listFailed() {
    const items = make("ol");
    for (const row of rows) {
      if (row[ROW.verdict] === "PASS") break; // failed rows are first
      const item = make("li");
      item.append(make("b", "", [labelOf(row), titleOf(row)].filter(Boolean).join(" ")),
        make("p", "", `expected ${row[ROW.expected]}`), make("p", "", `got ${gotOf(row)}`));
      items.append(item);
    }
    const count = items.childElementCount;
    by("printed").replaceChildren(make("h2", "", `Failed: ${count} of ${rows.length}`), items);
  }

  // ---- one result in full

  async function block(number) {
    if (!opened.has(number)) {
      const packed = Uint8Array.from(atob(by("block-" + number).textContent), (c) => c.charCodeAt(0));
      const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
      opened.set(number, JSON.parse(await new Response(stream).text()));
    }
    return opened.get(number);
  }

  async function open(at) {
    if (!state.shown.length) return;
    move(at);
    const row = rows[state.shown[state.active]], number = row[ROW.number], key = keyOf(row);
    state.open = key;
    const body = by("body"), dialog = by("details");
    by("title").textContent = [labelOf(row), titleOf(row)].filter(Boolean).join(" · ");
    by("verdict-of").textContent = VERDICTS[row[ROW.verdict]];
    by("verdict-of").className = "verdict v-" + row[ROW.verdict];
    if (!dialog.open) dialog.showModal();
    address();
    by("title").focus({ preventScroll: true });
    let details;
    try {
      details = (await block(Math.floor(number / BLOCK)))[number % BLOCK];
    } catch (error) {
      body.replaceChildren(make("p", "", `These details cannot be read by this browser: ${error.message}`));
      return;
    }
    if (state.open !== key) return; // another was asked for meanwhile
    body.replaceChildren(...sections(row, details));
    body.scrollTop = 0;
  }

  function* sections(row, details) {
    yield make("p", "reason", details.reason);
    const levels = make("ul", "badges");
    LEVELS.forEach((level, i) => {
      const ok = row[ROW.levels][i] === "1";
      levels.append(make("li", ok ? "ok" : "no", `${ok ? "✓" : "✗"} ${level}`));
    });
    for (const tag of row[ROW.tags]) levels.append(make("li", "tag", names[tag]));
    yield levels;
    yield compared(details);
    yield message("user", "User", make("pre", "", details.prompt));
    for (const [at, attempt] of details.attempts.entries()) yield* reply(attempt, at, details.attempts.length);
    if (details.checks.length) yield message("checks", "Checks", make("pre", "", details.checks.join("\n")));
  }

  function message(kind, who, ...content) {
    const node = make("section", "message " + kind);
    node.append(make("h3", "", who), ...content);
    return node;
  }

  function* reply(attempt, at, of) {
    if (attempt.user) yield message("user", "User", make("pre", "", attempt.user));
    const about = [attempt.outcome.replaceAll("_", " ")];
    if (attempt.ended) about.push("ended by " + attempt.ended);
    if (attempt.latency !== null) about.push(attempt.latency.toFixed(2) + " s");
    if (attempt.in !== null) about.push(attempt.in + " tokens in");
    if (attempt.out !== null) about.push(attempt.out + " tokens out");
    if (attempt.retries) about.push(attempt.retries + " requests failed before");
    if (attempt.wrong) about.push(attempt.wrong);
    const content = [make("p", "quiet", about.join(" · "))];
    if (attempt.reasoning) {
      const thoughts = make("details", "thoughts");
      thoughts.append(make("summary", "", "Reasoning"), make("pre", "", attempt.reasoning));
      content.push(thoughts);
    }
    if (attempt.pieces.some((piece) => piece[0])) content.push(marked(attempt.pieces));
    for (const call of attempt.calls) {
      const parsed = make("pre", "structured");
      parsed.append(make("mark", "k-c", call));
      content.push(make("p", "quiet", "Call that the server parsed"), parsed);
    }
    if (content.length === 1) content.push(make("p", "quiet", "The reply is empty."));
    if (attempt.marks.length) content.push(notes(attempt.marks));
    if (attempt.note) content.push(make("p", "quiet", attempt.note));
    const who = of > 1 ? `Reply ${at + 1} of ${of}` : "Reply";
    yield message("model", who, ...content);
    for (const [tool, words] of attempt.results) yield message("tool", "Result of " + tool, make("pre", "", words));
  }

  const KINDS = { c: "k-c", r: "k-r", d: "k-d" };
  function marked(pieces) {
    const text = make("pre", "raw");
    for (const [words, kinds, ends] of pieces) {
      if (kinds) {
        text.append(make("mark", [...kinds].map((kind) => KINDS[kind]).join(" "), words));
      } else text.append(words);
      for (const number of ends) text.append(make("sup", "", number));
    }
    return text;
  }

  function notes(marks) {
    const node = make("ol", "notes");
    for (const [number, kind, code, words, level] of marks) {
      const item = make("li", "n-" + kind[0]);
      item.value = number;
      item.append(make("span", "kind", kind), make("code", "", code));
      if (words) item.append(" ", words);
      if (level) item.append(" ", make("span", "quiet", `(${level})`));
      node.append(item);
    }
    return node;
  }

  function compared(details) {
    const table = make("table", "compared");
    const head = table.createTHead().insertRow();
    for (const words of ["", "Expected" + (details.match ? ` (${details.match.replaceAll("_", " ")})` : ""), "Got"])
      head.append(make("th", "", words));
    const rowsOf = table.createTBody();
    for (const [wanted, got, state, args] of details.pairs) {
      const bad = !["same", "unasked"].includes(state);
      add(rowsOf, "call" + (bad ? " bad" : ""), "call", wanted ?? (state === "unasked" ? "" : "no call"), got ?? "no call", "");
      for (const [name, want, came, how, words] of args)
        add(rowsOf, how === "same" || how === "unasked" ? how : "bad", name, want ?? "", came ?? "", words);
    }
    if (!details.pairs.length) add(rowsOf, "call", "call", "no call, or any", "no call", "");
    return table;
  }

  function add(rowsOf, className, name, wanted, got, words) {
    const row = rowsOf.insertRow();
    row.className = className;
    row.append(make("th", "", name), make("td", "", wanted));
    const cell = make("td", "", got);
    if (words) cell.append(make("span", "why", words));
    row.append(cell);
  }

  // ---- what people do

  let waiting = 0;
  const page = () => Math.max(1, Math.floor(scroll.clientHeight / height) - 1);
  const MOVES = {
    ArrowDown: () => state.active + 1, ArrowUp: () => state.active - 1,
    PageDown: () => state.active + page(), PageUp: () => state.active - page(),
    Home: () => 0, End: () => state.shown.length - 1,
  };

  // For what is in <main>, which a live page replaces.
  function listen() {
    by("search").addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(choose, rows.length > 5000 ? 120 : 0);
    });
    by("filters").addEventListener("change", choose);
    by("filters").addEventListener("submit", (event) => {
      event.preventDefault();
      choose();
      scroll.focus();
    });
    document.querySelector(".head").addEventListener("click", (event) => {
      const sort = event.target.closest("button")?.dataset.sort;
      if (!sort) return;
      if (state.sort === sort && state.down) state.sort = "";
      else { state.down = state.sort === sort; state.sort = sort; }
      choose();
    });
    scroll.addEventListener("scroll", draw, { passive: true });
    list.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) open(+row.dataset.at);
    });
    scroll.addEventListener("keydown", (event) => {
      if (event.key === " ") open(state.active);
      else if (MOVES[event.key]) move(MOVES[event.key]());
      else return;
      event.preventDefault();
    });
    for (const button of document.querySelectorAll("button.find"))
      button.addEventListener("click", () => {
        clear();
        by("search").value = button.dataset.scenario;
        choose();
        by("results").scrollIntoView();
        scroll.focus({ preventScroll: true });
      });
    document.querySelector("table.grid")?.addEventListener("click", (event) => {
      const { run, scenario } = event.target.closest("button.open")?.dataset ?? {};
      if (run) openResult((row) => row[ROW.run] === +run && row[ROW.scenario] === scenario);
    });
  }

  addEventListener("resize", layout);
  by("close").addEventListener("click", () => by("details").close());
  by("previous").addEventListener("click", () => open(state.active - 1));
  by("next").addEventListener("click", () => open(state.active + 1));
  by("details").addEventListener("close", () => {
    state.open = "";
    address();
    scroll.focus({ preventScroll: true });
  });
  by("details").addEventListener("click", (event) => { if (event.target === by("details")) by("details").close(); });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = document.activeElement, isOpen = by("details").open;
    if (/^(INPUT|SELECT)$/.test(at.tagName)) {
      if (event.key === "Escape") at.blur();
      return;
    }
    const go = isOpen ? open : (to) => { scroll.focus({ preventScroll: true }); move(to); };
    if (event.key === "j") go(state.active + 1);
    else if (event.key === "k") go(state.active - 1);
    else if (event.key === "/" && !isOpen) by("search").focus();
    else if (event.key === "Enter" && !isOpen && !at.closest("button, summary, a")) open(state.active);
    else return;
    event.preventDefault();
  });
  addEventListener("hashchange", follow);
  load();

  // ---- a page whose server sends events: it loads itself again when there is something new

  const isNew = { first: true, loading: false, again: false, state: "" };
  async function refresh() {
    isNew.again = isNew.loading;
    if (isNew.loading) return;
    isNew.loading = true;
    const began = performance.now();
    try {
      const text = await (await fetch(location.pathname, { cache: "no-store" })).text();
      const main = new DOMParser().parseFromString(text, "text/html").querySelector("main");
      if (main && main.querySelector("#rows")) replaceMain(main);
    } finally {
      // A long page is written for longer, and is asked for less often.
      setTimeout(() => {
        isNew.loading = false;
        if (isNew.again) refresh();
      }, 500 + 4 * (performance.now() - began));
    }
  }

  function replaceMain(main) {
    const old = document.querySelector("main"), focused = document.activeElement.id;
    const row = rows[state.shown[state.active]], key = row && keyOf(row), top = scroll.scrollTop;
    const unfolded = [...old.querySelectorAll("details")].map((one) => one.open);
    main.querySelectorAll("details").forEach((one, at) => { one.open = unfolded[at] ?? one.open; });
    const search = by("search"), caret = [search.selectionStart, search.selectionEnd];
    old.replaceWith(document.adoptNode(main));
    load();
    state.active = Math.max(0, state.shown.findIndex((at) => keyOf(rows[at]) === key));
    scroll.scrollTop = top;
    draw();
    if (!by("details").open) by(focused)?.focus({ preventScroll: true });
    if (focused === "search") by("search").setSelectionRange(...caret);
  }

  function watch() {
    const source = new EventSource("events");
    source.addEventListener("open", () => { isNew.first = true; });
    source.addEventListener("result", () => { if (!isNew.first) refresh(); });
    source.addEventListener("state", (event) => {
      const now = JSON.parse(event.data);
      by("live").hidden = false;
      by("live").textContent = `${now.state}: ${now.done} of ${now.of}`;
      if (now.done !== rows.length || (isNew.state && isNew.state !== now.state)) refresh();
      isNew.first = false;
      isNew.state = now.state;
    });
    source.addEventListener("error", () => { by("live").textContent = "the server of this page does not answer"; });
  }
  if ("live" in document.body.dataset) watch();
})();
