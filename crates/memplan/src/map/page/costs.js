// Reuse that costs something: what a plan pays, for which pairs, and what more memory would save.

const costWords = ([total, least]) => (total === least ? "the least possible" : `at least ${exact(least)}`);

/** The pairs of the selected buffer that are paid for; nothing if there are none. */
function pricesOf(plan, buffer) {
  const mine = plan.spaces.flatMap((space) => space.handovers).filter(({ earlier, later }) => earlier === buffer || later === buffer);
  if (mine.length === 0) return null;
  mine.sort((a, b) => b.weight - a.weight);
  const items = mine.slice(0, LISTED).map(({ earlier, later, weight }) => make("li", {}, link(earlier === buffer ? later : earlier), small(`costs ${exact(weight)}`)));
  if (mine.length > LISTED) items.push(make("li", {}, `and ${grouped.format(mine.length - LISTED)} more`));
  return make("details", { open: true }, make("summary", { title: "sharing bytes with these costs something" }, `Reuse at a price: ${exact(mine.length)}`), make("ul", { class: "names" }, ...items));
}

/** Cost against capacity in the space that is looked at: a picture and a table. */
function showTradeOff() {
  const points = (data.tradeOff ?? []).filter(({ space }) => space === spaceNames[state.space]);
  const known = points.filter(({ cost }) => cost !== null);
  if (known.length === 0) {
    find("tradeoff").replaceChildren();
    return;
  }
  const head = make("tr", {}, ...["capacity", "cost", "at least"].map((name) => make("th", { scope: "col" }, name)));
  const rows = points.map(({ capacity, cost, atLeast }) => make("tr", {},
    make("td", {}, capacity === null ? "any" : human(capacity, true)), make("td", {}, cost === null ? "none found" : exact(cost)), make("td", {}, atLeast === null ? "" : exact(atLeast))));
  find("tradeoff").replaceChildren(make("h2", {}, "Cost against capacity"), stairs(known), make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
}

/** The costs as stairs: the less memory, the more has to be paid. */
function stairs(points) {
  const [width, height, left, bottom] = [300, 150, 34, 22];
  const sorted = [...points].sort((a, b) => a.extent - b.extent);
  const [least, most] = [sorted[0].extent, sorted[sorted.length - 1].extent];
  const highest = Math.max(1, ...sorted.map(({ cost }) => cost));
  const x = (bytes) => left + (bytes - least) / Math.max(1, most - least) * (width - left - 10);
  const y = (cost) => height - bottom - cost / highest * (height - bottom - 12);
  const path = (value) => sorted.map((point, index) => {
    const next = sorted[index + 1]?.extent ?? most;
    return `${index === 0 ? "M" : "L"}${x(point.extent)} ${y(value(point))}H${x(next)}`;
  }).join("");
  const parts = [
    drawn("rect", { class: "frame", x: left, y: 6, width: width - left - 4, height: height - bottom - 6 }),
    drawn("path", { class: "least", d: path(({ atLeast }) => atLeast) }),
    drawn("path", { class: "steps", d: path(({ cost }) => cost) }),
    ...sorted.map((point) => drawn("circle", { class: "point", cx: x(point.extent), cy: y(point.cost), r: 3 }, drawn("title", {}, `${human(point.extent)}: ${exact(point.cost)}`))),
    drawn("text", { x: left - 5, y: y(highest) + 4, "text-anchor": "end" }, exact(highest)),
    drawn("text", { x: left - 5, y: y(0) + 4, "text-anchor": "end" }, "0"),
    drawn("text", { x: left, y: height - 6 }, human(least, true)),
    drawn("text", { x: width - 4, y: height - 6, "text-anchor": "end" }, human(most, true)),
  ];
  return drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Cost of reuse against bytes" }, ...parts);
}

/** An element of a picture; text stays text. */
function drawn(tag, attributes, ...content) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
}
