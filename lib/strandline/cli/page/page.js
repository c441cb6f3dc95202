"use strict";
const field = document.getElementById("search");
if (field) {
  const rows = Array.from(document.querySelectorAll("#namespaces tbody tr"));
  const told = document.getElementById("found");
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    let found = 0;
    for (const row of rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      found += row.hidden ? 0 : 1;
    }
    told.textContent = wanted ? `${found} of ${rows.length} rows` : "";
  });
}
