// Written by assay site.
"use strict";
(() => {
  const texts = JSON.parse(document.getElementById("texts").textContent);
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  const whole = new Intl.NumberFormat(texts.numbers);
  const PAGE_ROWS = 100;
  // Identifiers become parts of file names.
  const isRun = (id) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(id);
  // Words that a shell takes as they are.
  const isPlain = (word) => /^[A-Za-z0-9][A-Za-z0-9._+-]*$/.test(word);
  const load = (path) => new Promise((done) => {
    const script = document.createElement("script");
    script.addEventListener("load", () => done(true));
    script.addEventListener("error", () => done(false));
    script.src = path;
    document.head.append(script);
  });
  // Every text is inserted as text, never as markup.
  const cell = (tag, text, css) => {
    const made = document.createElement(tag);
    if (css) made.className = css;
    made.textContent = text;
    return made;
  };
  const link = (text, path) => {
    const made = cell("a", text);
    made.href = path;
    return made;
  };
  const small = (text, css) => cell(css ? "span" : "small", text, css);
  const heading = (text, scope, css) => {
    const made = cell("th", text, css);
    made.scope = scope;
    return made;
  };

  const showOverview = (filters) => {
    const body = document.querySelector("#runs tbody");
    const [shown, newer, older, compare, search] =
      ["shown", "newer", "older", "compare", "search"].map((id) => document.getElementById(id));
    const selects = [...filters.querySelectorAll("select")];
    const ticked = new Set();
    let runs = [];
    let start = 0;
    let drawn = null;
    const matching = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      return runs.filter(({ row, found }) =>
        selects.every((it) => !it.value || it.value === `=${row[Number(it.dataset.column)]}`)
        && words.every((word) => found.includes(word)));
    };
    const showTicks = () => {
      compare.textContent = fill(texts.compare, { n: whole.format(ticked.size) });
      compare.disabled = ticked.size < 2;
    };
    const rowOf = ({ row }) => {
      const [id, started, , host, machine, suite, label, state, tone, values, note] = row;
      const made = document.createElement("tr");
      const tick = document.createElement("input");
      tick.type = "checkbox";
      tick.checked = ticked.has(id);
      tick.setAttribute("aria-label", fill(texts.tick, { run: id }));
      tick.addEventListener("change", () => {
        if (tick.checked) ticked.add(id); else ticked.delete(id);
        showTicks();
      });
      const first = document.createElement("td");
      first.append(tick);
      const name = heading("", "row");
      name.append(link(started, `runs/${id}.html`), small(id, "run-id"));
      made.append(first, name, cell("td", host, "name"), cell("td", machine), cell("td", suite),
        cell("td", label, "name"), cell("td", state, tone), cell("td", values, "values"), cell("td", note, "note"));
      return made;
    };
    const show = () => {
      const found = matching();
      start = Math.max(0, Math.min(start, Math.floor((found.length - 1) / PAGE_ROWS) * PAGE_ROWS));
      const page = found.slice(start, start + PAGE_ROWS);
      // Rows that stay keep the focus while further runs are read.
      const ids = page.map(({ row }) => row[0]).join();
      if (ids !== drawn) body.replaceChildren(...page.map(rowOf));
      drawn = ids;
      const [first, last, all] = [start + 1, start + page.length, found.length].map((it) => whole.format(it));
      shown.textContent = page.length ? fill(texts.shown, { first, last, all }) : texts.noMatch;
      newer.disabled = start === 0;
      older.disabled = start + PAGE_ROWS >= found.length;
    };
    const asEntry = (row) => ({ row, found: row.join("\n").toLowerCase() });
    const restart = () => { start = 0; show(); };
    filters.addEventListener("input", restart);
    filters.addEventListener("submit", (event) => event.preventDefault());
    newer.addEventListener("click", () => { start -= PAGE_ROWS; show(); });
    older.addEventListener("click", () => { start += PAGE_ROWS; show(); });
    compare.addEventListener("click", () => {
      location.href = `compare.html#${[...ticked].sort().join(",")}`;
    });
    // The newest runs are shown before the others are read.
    const read = async () => {
      for (let piece = Number(filters.dataset.pieces) - 1; piece >= 0; piece -= 1) {
        if (!await load(`data/runs-${piece}.js`)) continue;
        const rows = self.assayRuns[piece].toReversed?.() ?? [...self.assayRuns[piece]].reverse();
        runs = runs.concat(rows.map(asEntry));
        show();
      }
      document.body.dataset.ready = "yes";
    };
    const addChoices = (select) => {
      const known = new Set([...select.options].map((it) => it.value));
      for (const { row } of runs) {
        const value = row[Number(select.dataset.column)];
        if (known.has(`=${value}`)) continue;
        known.add(`=${value}`);
        const option = cell("option", value || "–");
        option.value = `=${value}`;
        select.append(option);
      }
    };
    filters.hidden = false;
    document.getElementById("list").hidden = false;
    showTicks();
    show();
    let reading = read();
    // A server announces new runs.
    const readAgain = async ({ revision, pieces, changed }) => {
      for (const piece of changed) await load(`data/runs-${piece}.js?${revision}`);
      self.assayRuns.length = pieces;
      runs = self.assayRuns.flat().reverse().map(asEntry);
      selects.forEach(addChoices);
      const focused = body.contains(document.activeElement) && document.activeElement.getAttribute("aria-label");
      drawn = null;
      show();
      if (focused) body.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
    };
    addEventListener("assay-runs", ({ detail }) => {
      reading = reading.then(() => readAgain(detail));
    });
  };

  // The wider side decides the digits, as everywhere in assay: two of the half-width.
  const ratioTexts = (value, base) => {
    const [median, interval] = [value[6], value[7]];
    const [first, firstInterval] = [base[6], base[7]];
    if (!(median > 0) || !(first > 0)) return "";
    const ratio = median / first;
    const write = (number, decimals) => new Intl.NumberFormat(texts.numbers, {
      minimumFractionDigits: decimals, maximumFractionDigits: decimals, useGrouping: false,
    }).format(number);
    if (!interval || !firstInterval || !(firstInterval[0] > 0) || !(interval[0] > 0))
      return `× ${write(ratio, 2)} (${texts.noInterval})`;
    const [low, high] = [interval[0] / firstInterval[1], interval[1] / firstInterval[0]];
    const half = Math.max(high - ratio, ratio - low);
    const decimals = half > 0 ? Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(half)))) : 4;
    return `× ${write(ratio, decimals)} (${write(low, decimals)}–${write(high, decimals)})`;
  };
  // Verdicts of `assay compare` between the label of the first run and those of the others on its host.
  const findVerdicts = async (runs) => {
    if (!document.getElementById("labels") || !await load("data/labels.js")) return [];
    const [first] = runs;
    const found = [];
    for (const [host, one, two, file] of self.assayLabels) {
      const isPair = host === first.host && [one, two].includes(first.label)
        && runs.some((run) => run.host === host && run.label !== first.label && [one, two].includes(run.label));
      if (!isPair || !/^[0-9a-f]{32}$/.test(file) || !await load(`verdicts/${file}.js`)) continue;
      found.push({ one, two, file, ...self.assayVerdicts[file] });
    }
    return found;
  };
  // A single run of each label has ratios and no verdict.
  const decided = (all) => all.filter(({ verdicts }) => Object.keys(verdicts).length);
  const showConclusions = (runs, verdicts) => {
    const [first] = runs;
    const isJudged = (run) => run.host === first.host && decided(verdicts)
      .some(({ one, two }) => run.label !== first.label && [one, two].includes(run.label));
    document.getElementById("judged").hidden = !verdicts.length;
    document.getElementById("unjudged").hidden = runs.slice(1).every(isJudged);
    document.getElementById("decided").hidden = !decided(verdicts).length;
    document.getElementById("verdict-commands").textContent = decided(verdicts).map((it) => it.command).join("\n");
    document.getElementById("conclusions").replaceChildren(...verdicts.map(({ conclusion, file }) => {
      const made = document.createElement("li");
      made.append(link(conclusion, `verdicts/${file}.html`));
      return made;
    }));
  };
  const verdictCell = ([text, tone, ratio, range] = ["–", "", "", ""]) => {
    const box = cell("td", text, ["left", tone].filter(Boolean).join(" "));
    if (ratio) box.append(small(`× ${ratio} (${range || texts.noInterval})`));
    return box;
  };
  const showLabels = async () => {
    const place = document.getElementById("labels");
    if (!place || !await load("data/labels.js")) return;
    document.getElementById("pairs").replaceChildren(...self.assayLabels.map(([host, one, two, file, conclusion]) => {
      const made = document.createElement("li");
      const names = link("", `verdicts/${file}.html`);
      names.append(cell("bdi", one), " → ", cell("bdi", two));
      made.append(names, " ", cell("bdi", host, "quiet"), small(conclusion));
      return made;
    }));
    place.hidden = !self.assayLabels.length;
  };
  const showComparison = async (place) => {
    const message = document.getElementById("message");
    const wanted = [...new Set(decodeURIComponent(location.hash.slice(1)).split(","))].filter(isRun);
    const missing = [];
    for (const id of wanted) if (!await load(`results/${id}.js`)) missing.push(id);
    const has = (id) => self.assayResults && Object.hasOwn(self.assayResults, id);
    const ids = wanted.filter(has);
    const runs = ids.map((id) => self.assayResults[id]);
    const gone = wanted.filter((id) => !has(id)).map((run) => fill(texts.notHere, { run }));
    message.textContent = [...gone, ...(ids.length < 2 ? [texts.noChoice] : [])].join(" ");
    place.hidden = ids.length < 2;
    if (document.getElementById("labels")) document.getElementById("labels").hidden = true;
    if (place.hidden) {
      await showLabels();
      document.body.dataset.ready = "yes";
      return;
    }
    const verdicts = await findVerdicts(runs);
    showConclusions(runs, verdicts);
    const others = runs.slice(1).filter((run) => run.host === runs[0].host && run.label !== runs[0].label);
    const labels = others.filter((run) => [run.host, run.label, runs[0].label].every(isPlain))
      .map((run) => `assay compare ${runs[0].label} ${run.label} --host ${run.host}`);
    const commands = ids.slice(1).map((id) => `assay compare ${ids[0]} ${id}`);
    document.getElementById("commands").textContent = [...commands, ...new Set(labels)].join("\n");
    const head = document.createElement("tr");
    head.append(heading(texts.metric, "col", "left"), heading(texts.case, "col", "left"));
    // Verdicts come first: a narrow screen cuts the columns behind.
    decided(verdicts).forEach(({ one, two }) => head.append(heading(fill(texts.verdict, { one, two }), "col", "left verdict")));
    ids.forEach((id, i) => {
      const made = heading("", "col", "right run");
      const { label, host, started } = runs[i];
      const about = small("");
      // Each text has a direction of its own.
      [label, host, started].filter(Boolean).forEach((text, at) =>
        about.append(at ? ", " : "", cell("bdi", text)));
      made.append(link(id, `runs/${id}.html`), about);
      head.append(made);
    });
    const rows = new Map();
    runs.forEach((run, i) => run.results.forEach((result) => {
      if (!rows.has(result[0])) rows.set(result[0], []);
      rows.get(result[0])[i] = result;
    }));
    const made = [...rows.values()].map((results) => {
      const line = document.createElement("tr");
      const any = results.find(Boolean);
      line.append(heading(any[1], "row", "left"), cell("td", [any[2], any[3]].filter(Boolean).join(", "), "left"));
      decided(verdicts).forEach((it) => line.append(verdictCell(it.verdicts[any[0]])));
      ids.forEach((_, i) => {
        const value = results[i];
        const box = cell("td", value ? value[4] : "–", "right");
        if (value && value[5]) box.append(small(value[5]));
        if (value && value[10]) box.append(small(`${value[10]} ${texts.ofLimit}`));
        if (i > 0 && value && results[0]) box.append(small(ratioTexts(value, results[0])));
        line.append(box);
      });
      return line;
    });
    document.querySelector("#results thead").replaceChildren(head);
    document.querySelector("#results tbody").replaceChildren(...made);
    const sections = self.assayPictures(texts, ids.map((id, i) => ({ id, ...runs[i], ...self.assayCurves?.[id] })));
    document.getElementById("parts").replaceChildren(...sections.map((section) => {
      const button = cell("button", section.querySelector("h2").textContent);
      button.type = "button";
      button.addEventListener("click", () => section.scrollIntoView());
      return button;
    }));
    document.body.dataset.ready = "yes";
  };

  // Points of the plot and rows of the table tick the same runs.
  const showHistory = (links) => {
    const rows = [...links.at(-1).closest("table").querySelectorAll("a[data-run]")];
    const points = [...document.querySelectorAll("figure .point")].slice(0, rows.length);
    const button = cell("button", "");
    button.type = "button";
    const ticks = rows.map((row) => {
      const tick = document.createElement("input");
      tick.type = "checkbox";
      tick.setAttribute("aria-label", fill(texts.tick, { run: row.textContent }));
      row.before(tick, " ");
      return tick;
    });
    const ticked = () => rows.filter((_, i) => ticks[i].checked).map((row) => row.textContent);
    const show = () => {
      points.forEach((point, i) => point.classList.toggle("picked", ticks[i].checked));
      button.textContent = fill(texts.compare, { n: whole.format(ticked().length) });
      button.disabled = ticked().length < 2;
    };
    ticks.forEach((tick) => tick.addEventListener("change", show));
    points.forEach((point, i) => {
      point.classList.add("picks");
      point.addEventListener("click", () => { ticks[i].checked = !ticks[i].checked; show(); });
    });
    button.addEventListener("click", () => { location.href = `../compare.html#${ticked().sort().join(",")}`; });
    const bar = document.createElement("div");
    bar.className = "pick";
    bar.append(cell("p", texts.pick, "quiet"), button);
    document.querySelector("figure").after(bar);
    show();
    document.body.dataset.ready = "yes";
  };

  const filters = document.getElementById("filters");
  const history = [...document.querySelectorAll("a[data-run]")];
  if (history.length > 1) showHistory(history);
  const comparison = document.getElementById("comparison");
  if (filters) showOverview(filters);
  if (comparison) {
    showComparison(comparison);
    addEventListener("hashchange", () => showComparison(comparison));
  }
})();
