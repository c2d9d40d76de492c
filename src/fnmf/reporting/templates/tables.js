// Tables whose columns sort when their heading is pressed.
const sorters = (table) => {
  const heads = Array.from(table.querySelectorAll("thead th"));
  heads.forEach((head, column) => {
    const button = head.querySelector("button.sort");
    if (!button || button.dataset.ready) return;
    button.dataset.ready = "1";
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const act = table.sortBy;
      if (act) { act(button.dataset.key || String(column), down); return; }
      const body = table.tBodies[0];
      const key = (row) => {
        const cell = row.cells[column];
        const value = cell.dataset.v !== undefined ? cell.dataset.v : cell.textContent.trim();
        return value === "" || Number.isNaN(Number(value)) ? value : Number(value);
      };
      const rows = Array.from(body.rows).map((row, i) => [key(row), i, row]);
      const order = (a, b) => (typeof a[0] === "number" && typeof b[0] === "number" ? a[0] - b[0] : String(a[0]).localeCompare(String(b[0])));
      rows.sort((a, b) => (down ? -1 : 1) * order(a, b) || a[1] - b[1]);
      body.append(...rows.map((row) => row[2]));
    });
  });
};
const setUpSorting = () => document.querySelectorAll("table.sortable").forEach(sorters);
