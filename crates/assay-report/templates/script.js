"use strict";
(() => {
  const main = document.querySelector("main");
  const store = document.getElementById("assay-texts");
  // A press on a heading sorts the rows below it; a second one the other way round.
  const sort = (table, column, head) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    const body = table.tBodies[0];
    const key = (row) => {
      const cell = row.cells[column];
      const number = cell.dataset.k;
      return number === undefined ? cell.textContent : Number(number);
    };
    const order = (a, b) => {
      const [x, y] = [key(a), key(b)];
      const numbers = typeof x === "number" && typeof y === "number";
      return numbers ? x - y : typeof x === typeof y ? String(x).localeCompare(String(y)) : typeof x === "number" ? -1 : 1;
    };
    const rows = [...body.rows].sort((a, b) => (down ? -order(a, b) : order(a, b)));
    body.append(...rows);
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  // Texts are changed in the order of the page as it was written, whatever was sorted since. An element with
  // marked-up text changes as a whole.
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) => {
    const isWhole = node.nodeType === Node.ELEMENT_NODE && node.hasAttribute("data-m");
    if (node.nodeType === Node.ELEMENT_NODE && !isWhole) return NodeFilter.FILTER_SKIP;
    return node.parentElement.closest("script, style, .switch, [data-m]") || !node.textContent.trim()
      ? NodeFilter.FILTER_REJECT
      : NodeFilter.FILTER_ACCEPT;
  });
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  for (const table of main.querySelectorAll("table")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      head.tabIndex = 0;
      head.classList.add("sorts");
      head.addEventListener("click", () => sort(table, column, head));
      head.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(table, column, head); }
      });
    });
  }
  // A browser that cannot unpack them shows the language that the page was written in.
  if (!store || !self.DecompressionStream) return;
  const language = document.getElementById("assay-language");
  const units = document.getElementById("assay-units");
  const packed = Uint8Array.from(atob(store.textContent), (it) => it.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  // Names of what readers of the screen hear, and of the window, follow the texts.
  const name = (tag, labels) => {
    document.documentElement.lang = tag;
    document.title = main.querySelector("h1").textContent;
    const [tongue, kind, contents] = labels[tag];
    language.labels[0].firstElementChild.textContent = tongue;
    language.form.setAttribute("aria-label", tongue);
    units.labels[0].firstElementChild.textContent = kind;
    main.querySelector("nav")?.setAttribute("aria-label", contents);
    for (const region of main.querySelectorAll("[role=region]")) {
      const label = region.querySelector("caption") ?? region.closest("figure")?.querySelector("figcaption") ?? region.querySelector("th");
      if (label) region.setAttribute("aria-label", label.textContent);
    }
  };
  new Response(unpacked).json().then(({ variants, slots, texts, labels }) => {
    if (slots.length !== nodes.length) return;
    const write = () => {
      const at = variants.findIndex(([tag, kind]) => tag === language.value && kind === units.value);
      if (at < 0) return;
      slots.forEach((number, i) => {
        if (number === 0) return;
        const [which, ...forms] = texts[number - 1];
        const text = forms[Number.parseInt(which[at], 36)];
        if (nodes[i].nodeType === Node.ELEMENT_NODE) nodes[i].innerHTML = text;
        else if (nodes[i].nodeValue !== text) nodes[i].nodeValue = text;
      });
      name(language.value, labels);
    };
    language.addEventListener("change", write);
    units.addEventListener("change", write);
    document.querySelector(".switch").hidden = false;
  });
})();
