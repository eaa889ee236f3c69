// Written by assay site.
"use strict";
// Pictures of several runs over each other. Runs differ by colour, dashes and markers; so do legends.
self.assayPictures = (texts, runs) => {
  const SVG = "http://www.w3.org/2000/svg";
  const [WIDTH, HEIGHT, TOP, BOTTOM, RIGHT] = [720, 360, 34, 312, 700];
  const STYLES = 7;
  const DASHES = ["", "8 4", "2 3", "10 3 2 3", "14 4", "5 2", "1 4"];
  const MAX_CURVES = 8;
  const MAX_COLUMNS = 12;
  const LETTER = 7;
  const element = (tag, attributes, ...inside) => {
    const made = document.createElementNS(SVG, tag);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    made.append(...inside);
    return made;
  };
  const text = (tag, inside, css) => {
    const made = document.createElement(tag);
    if (css) made.className = css;
    made.textContent = inside;
    return made;
  };
  const number = new Intl.NumberFormat(texts.numbers, { maximumSignificantDigits: 4 });
  const prefixes = Object.assign({}, ...runs.map((run) => run.units ?? {}));
  // The prefix with the shortest number: 32 KiB, not 32.77 kB.
  const quantity = (value, unit) => {
    const known = prefixes[unit] ?? [[1, ""]];
    const size = Math.abs(value);
    const near = known.filter(([factor]) => size >= factor * 0.9999 && size < factor * 1024);
    const written = (near.length ? near : [known.find(([factor]) => factor === 1) ?? known[0]])
      .map(([factor, symbol]) => [number.format(value / factor), symbol]);
    written.sort((a, b) => a[0].length - b[0].length);
    return written[0].filter(Boolean).join("\u00a0");
  };
  const nameOf = (run) => [run.label, run.host, run.started].filter(Boolean).join(", ");

  const linearTicks = (low, high, most) => {
    const span = high > low ? high - low : Math.abs(low) || 1;
    const power = 10 ** Math.floor(Math.log10(span / most));
    const step = [1, 2, 5, 10].map((it) => it * power).find((it) => it >= span / most) ?? span;
    const [first, last] = [Math.floor(low / step), Math.ceil((low + span) / step)];
    return Array.from({ length: Math.min(100, last - first) + 1 }, (_, i) => (first + i) * step);
  };
  const logTicks = (low, high, base) => {
    const [first, last] = [low, high].map((it) => Math.log(it) / Math.log(base));
    const step = Math.max(1, Math.ceil((last - first) / 9));
    const powers = [];
    for (let i = Math.floor(first + 1e-9); i <= Math.ceil(last - 1e-9); i += step) powers.push(base ** i);
    return powers;
  };
  const axisOf = (values, unit, scale) => {
    const isLog = scale.startsWith("log");
    const usable = values.filter((it) => Number.isFinite(it) && (!isLog || it > 0));
    const low = Math.min(...usable, ...(scale === "linear" ? [0] : []));
    const high = Math.max(...usable);
    const ticks = isLog ? logTicks(low, high, scale === "log2" ? 2 : 10) : linearTicks(low, high, 7);
    const at = isLog ? Math.log : (it) => it;
    const [from, to] = [Math.min(low, ticks[0]), Math.max(high, ticks.at(-1))].map(at);
    const position = (value) => (to > from ? (at(value) - from) / (to - from) : 0.5);
    return { ticks: ticks.map((it) => [position(it), quantity(it, unit)]), position, isLog };
  };
  const percentileAxis = (values) => {
    const at = (percent) => -Math.log10(1 - Math.min(percent, 99.99999) / 100);
    const [low, high] = [Math.min(...values), Math.max(...values)].map(at);
    const position = (value) => (high > low ? (at(value) - low) / (high - low) : 0.5);
    return { ticks: [...new Set(values)].sort((a, b) => a - b).map((it) => [position(it), `p${it}`]), position };
  };

  // The first 49 lines differ in two of colour, dashes and marker.
  const styleOf = (i) => {
    const round = Math.floor(i / STYLES);
    return { colour: i % STYLES, dashes: DASHES[(i + round) % STYLES], shape: (i + 2 * round) % STYLES };
  };
  const marker = ({ colour, shape }, x, y) => {
    const [a, css] = [4.5, `series-${colour} mark`];
    const path = [
      `M${x - a} ${y}a${a} ${a} 0 1 0 ${2 * a} 0a${a} ${a} 0 1 0 ${-2 * a} 0`,
      `M${x - a} ${y - a}h${2 * a}v${2 * a}h${-2 * a}z`,
      `M${x} ${y - a - 1}l${a + 1} ${2 * a}h${-2 * a - 2}z`,
      `M${x} ${y - a - 1}l${a + 1} ${a + 1}l${-a - 1} ${a + 1}l${-a - 1} ${-a - 1}z`,
      `M${x - a} ${y - a}l${2 * a} ${2 * a}M${x - a} ${y + a}l${2 * a} ${-2 * a}`,
      `M${x - a} ${y}h${2 * a}M${x} ${y - a}v${2 * a}`,
      `M${x} ${y + a + 1}l${a + 1} ${-2 * a}h${-2 * a - 2}z`,
    ][shape];
    return element("path", { d: path, class: css });
  };
  const legend = (lines) => {
    const list = text("ul", "", "legend");
    list.append(...lines.map(({ name, style }) => {
      const made = document.createElement("li");
      const sample = element("svg", { viewBox: "0 0 44 14", width: 44, height: 14, "aria-hidden": "true" },
        element("path", { d: "M2 7h40", class: `series-${style.colour}`, "stroke-dasharray": style.dashes }),
        marker(style, 22, 7));
      made.append(sample, text("bdi", name));
      return made;
    }));
    return list;
  };
  const grid = (x, y, left) => {
    const across = (position) => left + position * (RIGHT - left);
    const up = (position) => BOTTOM - position * (BOTTOM - TOP);
    const parts = [];
    y.ticks.forEach(([position, label]) => parts.push(
      element("path", { d: `M${left} ${up(position)}H${RIGHT}`, class: "grid" }),
      element("text", { x: left - 6, y: up(position) + 4, "text-anchor": "end" }, label)));
    let free = -Infinity;
    x.ticks.forEach(([position, label]) => {
      parts.push(element("path", { d: `M${across(position)} ${TOP}V${BOTTOM}`, class: "grid" }));
      const half = label.length * LETTER / 2;
      const middle = Math.min(across(position), WIDTH - half);
      if (middle - half < free) return;
      free = middle + half + 6;
      parts.push(element("text", { x: middle, y: BOTTOM + 18, "text-anchor": "middle" }, label));
    });
    return { parts, across, up };
  };
  const chart = (title, [x, xLabel], [y, yLabel, unit], lines) => {
    const left = Math.max(44, 12 + Math.max(...y.ticks.map(([, label]) => label.length)) * LETTER);
    const { parts, across, up } = grid(x, y, left);
    parts.push(element("text", { x: 6, y: 16 }, yLabel),
      element("text", { x: (left + RIGHT) / 2, y: HEIGHT - 10, "text-anchor": "middle" }, xLabel));
    lines.forEach(({ name, style, points }) => {
      const shown = points.filter((it) => (!y.isLog || it[1] > 0) && (!x.isLog || it[0] > 0));
      const places = shown.map((it) => [across(x.position(it[0])), up(y.position(it[1]))]);
      parts.push(element("path", { d: `M${places.map((it) => it.join(" ")).join("L")}`,
        class: `series-${style.colour}`, "stroke-dasharray": style.dashes }));
      places.forEach((place, i) => {
        const mark = marker(style, ...place);
        mark.append(element("title", {}, `${name}: ${quantity(shown[i][1], unit)}`));
        parts.push(mark);
      });
    });
    const figure = document.createElement("figure");
    const scroll = text("div", "", "scroll");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", title);
    const label = `${title}: ${lines.map((it) => it.name).join("; ")}`;
    scroll.append(element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "plot overlay", role: "img", "aria-label": label }, ...parts));
    figure.append(text("figcaption", title), scroll, legend(lines));
    return figure;
  };
  const fresh = (place) => {
    place.querySelectorAll("figure, .heat").forEach((it) => it.remove());
    return place;
  };

  const showCurves = (place) => {
    const plots = new Map();
    runs.forEach((run) => (run.plots ?? []).forEach((plot) => {
      const key = JSON.stringify([plot.title, plot.x, plot.y]);
      plots.set(key, [...(plots.get(key) ?? []), { run, plot }]);
    }));
    const shared = [...plots.values()].filter((all) => new Set(all.map(({ run }) => run)).size > 1);
    place.append(...shared.slice(0, MAX_CURVES).map((all) => {
      const { title, x, y } = all[0].plot;
      const lines = all.flatMap(({ run, plot }) => plot.series.map(([name, points]) => ({
        name: [nameOf(run), plot.series.length > 1 ? name : ""].filter(Boolean).join(" · "), points,
      }))).filter((line) => line.points.length).map((line, i) => ({ ...line, style: styleOf(i) }));
      const points = lines.flatMap((line) => line.points);
      return chart(title, [axisOf(points.map((it) => it[0]), x[1], x[2]), x[0]],
        [axisOf(points.map((it) => it[1]), y[1], y[2]), y[0], y[1]], lines);
    }));
    place.hidden = !shared.length;
  };

  const resultsWith = (has) => {
    const found = new Map();
    runs.forEach((run) => run.results.filter(has).forEach((result) => {
      found.set(result[0], [...(found.get(result[0]) ?? []), { run, result }]);
    }));
    return [...found.values()];
  };
  const showDistributions = (place) => {
    const all = resultsWith((result) => result[11]).filter((it) => it.length > 1);
    const select = place.querySelector("select");
    select.replaceChildren(...all.map((it, i) => {
      const [, metric, name] = it[0].result;
      const made = text("option", [metric, name].filter(Boolean).join(", "));
      made.value = i;
      return made;
    }));
    const draw = () => {
      const shown = all[Number(select.value)];
      const lines = shown.map(({ run, result }, i) => ({ name: nameOf(run), points: result[11], style: styleOf(i) }));
      const points = lines.flatMap((line) => line.points);
      const values = points.map((it) => it[1]);
      const unit = shown[0].result[12];
      const isWide = Math.min(...values) > 0 && Math.max(...values) > 10 * Math.min(...values);
      fresh(place).append(chart(select.selectedOptions[0].textContent,
        [percentileAxis(points.map((it) => it[0])), texts.percentile],
        [axisOf(values, unit, isWide ? "log10" : "fitted"), shown[0].result[1], unit], lines));
    };
    select.onchange = draw;
    place.hidden = !all.length;
    if (all.length) draw();
  };

  const showHosts = (place) => {
    const [columns, rows, cells] = [new Map(), new Map(), new Map()];
    runs.forEach((run) => run.results.forEach((result) => {
      const [, metric, , tool, , , median, , host] = result;
      if (!host || host === "all" || !(median > 0)) return;
      const column = JSON.stringify([metric, result[14], tool]);
      const row = JSON.stringify([host, run.id]);
      if (cells.has(row + column)) return;
      columns.set(column, [metric, result[14], tool].filter(Boolean));
      rows.set(row, { host, run });
      cells.set(row + column, result);
    }));
    const results = (column) => [...rows.keys()].map((row) => cells.get(row + column)).filter(Boolean);
    const shown = [...columns].filter(([column]) => new Set(results(column).map((it) => it[8])).size > 1)
      .slice(0, MAX_COLUMNS);
    const hasLimits = shown.some(([column]) => results(column).some((it) => it[9] !== null));
    const select = place.querySelector("select");
    select.replaceChildren(...[texts.values, ...(hasLimits ? [texts.ofLimit] : [])].map((it, i) => {
      const made = text("option", it);
      made.value = i;
      return made;
    }));
    select.closest("p").hidden = !hasLimits;
    const draw = () => {
      const isShare = select.value === "1";
      const valueOf = (result) => (isShare ? result?.[9] : result?.[6]);
      const head = document.createElement("tr");
      head.append(...[texts.host, texts.run, ...shown.map(([, names]) => names.join(", "))].map((name, i) => {
        const made = text("th", name, i < 2 ? "left" : "right");
        made.scope = "col";
        return made;
      }));
      const lines = [...rows].map(([row, { host, run }]) => {
        const line = document.createElement("tr");
        const name = text("th", "", "left");
        name.scope = "row";
        name.append(text("bdi", host));
        line.append(name, text("td", [run.label, run.started].filter(Boolean).join(", "), "left about"));
        shown.forEach(([column]) => {
          const result = cells.get(row + column);
          const value = valueOf(result);
          const others = results(column).map(valueOf).filter((it) => it > 0);
          const best = result?.[13] ? Math.max(...others) : Math.min(...others);
          const share = result?.[13] ? value / best : best / value;
          const box = text("td", value > 0 ? (isShare ? result[10] : result[4]) : "–", "right");
          if (value > 0) {
            box.append(text("small", `${number.format(Math.round(1000 * share) / 10)}\u00a0%`));
            box.style.backgroundColor = `rgb(213 94 0 / ${Math.min(0.6, 1.5 * (1 - share)).toFixed(2)})`;
          }
          line.append(box);
        });
        return line;
      });
      const table = document.createElement("table");
      table.append(document.createElement("thead"), document.createElement("tbody"));
      table.tHead.append(head);
      table.tBodies[0].append(...lines);
      const scroll = text("div", "", "scroll heat");
      scroll.tabIndex = 0;
      scroll.setAttribute("role", "region");
      scroll.setAttribute("aria-label", place.querySelector("h2").textContent);
      scroll.append(table);
      fresh(place).append(scroll);
    };
    select.onchange = draw;
    place.hidden = !shown.length;
    if (shown.length) draw();
  };

  const sections = ["curves", "distributions", "host-map"].map((id) => fresh(document.getElementById(id)));
  [showCurves, showDistributions, showHosts].forEach((show, i) => show(sections[i]));
  return sections.filter((it) => !it.hidden);
};
