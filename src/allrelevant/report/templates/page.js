(function () {
  "use strict";
  var table = document.getElementById("features");
  if (!table) { return; }
  var body = table.tBodies[0];
  var rows = Array.prototype.slice.call(body.rows);
  var heads = Array.prototype.slice.call(table.tHead.rows[0].cells);

  function sortKey(row, column) {
    var value = row.cells[column].getAttribute("data-value");
    return value === null ? row.cells[column].textContent : Number(value);
  }

  function compare(a, b) {
    return typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
  }

  function sortBy(column) {
    var head = heads[column];
    // The first click sorts weights in descending order, all other columns in ascending order.
    var first = head.className === "number" ? "descending" : "ascending";
    var second = first === "ascending" ? "descending" : "ascending";
    var order = head.getAttribute("aria-sort") === first ? second : first;
    var sign = order === "ascending" ? 1 : -1;
    heads.forEach(function (other) { other.setAttribute("aria-sort", "none"); });
    head.setAttribute("aria-sort", order);
    rows.sort(function (a, b) { return sign * compare(sortKey(a, column), sortKey(b, column)); });
    rows.forEach(function (row) { body.appendChild(row); });
  }

  heads.forEach(function (head, column) {
    head.querySelector("button").addEventListener("click", function () { sortBy(column); });
  });

  var filter = document.getElementById("filter");
  var matches = document.getElementById("matches");
  filter.addEventListener("input", function () {
    var query = filter.value.trim().toLowerCase();
    var shown = 0;
    rows.forEach(function (row) {
      var text = (row.cells[0].textContent + " " + row.cells[1].textContent).toLowerCase();
      row.hidden = text.indexOf(query) < 0;
      shown += row.hidden ? 0 : 1;
    });
    matches.textContent = query ? shown + " of " + rows.length : "";
  });

  var save = document.getElementById("save");
  if (save) {
    save.addEventListener("click", function () {
      var text = document.getElementById("summary").textContent;
      var link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
      link.download = "relevance.json";
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }
  document.querySelector(".tools").hidden = false;
})();
