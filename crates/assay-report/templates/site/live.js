// The overview of `assay serve`: runs appear as they end, and a running one shows its seconds.
(() => {
  const current = document.querySelector("nav a[aria-current]");
  if (current?.getAttribute("href") !== "index.html") return;
  const texts = JSON.parse(document.getElementById("texts").textContent);
  const problem = document.createElement("p");
  problem.id = "problem";
  problem.className = "bad";
  problem.setAttribute("role", "status");
  const running = document.createElement("ul");
  running.id = "running";
  running.hidden = true;
  document.querySelector("h1").after(problem, running);
  const showRunning = (runs) => {
    running.hidden = runs.length === 0;
    running.replaceChildren(...runs.map(([id, text]) => {
      const made = document.createElement("li");
      const link = document.createElement("a");
      link.href = `runs/${encodeURIComponent(id)}.html`;
      link.textContent = id;
      made.append(link, ` ${text}`);
      return made;
    }));
  };
  let source = null;
  let revision = self.assayRevision;
  const showRuns = (change) => {
    revision = change.revision;
    // A page without runs has no list yet.
    if (!document.getElementById("filters")) return location.reload();
    dispatchEvent(new CustomEvent("assay-runs", { detail: change }));
  };
  const listen = () => {
    source = new EventSource(`live?${revision}`);
    source.addEventListener("open", () => { problem.textContent = ""; });
    source.addEventListener("error", () => { problem.textContent = texts.lost; });
    source.addEventListener("runs", ({ data }) => showRuns(JSON.parse(data)));
    source.addEventListener("running", ({ data }) => showRunning(JSON.parse(data)));
    source.addEventListener("problem", ({ data }) => { problem.textContent = JSON.parse(data); });
  };
  // A browser has six connections to a server: hidden pages hold none.
  document.addEventListener("visibilitychange", () => {
    source?.close();
    source = null;
    if (!document.hidden) listen();
  });
  if (!document.hidden) listen();
})();
