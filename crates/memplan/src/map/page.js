"use strict";
(() => {
  const map = document.querySelector("svg.memplan");
  const tip = document.getElementById("tip");
  const notes = new WeakMap();
  for (const title of map.querySelectorAll("rect > title")) {
    notes.set(title.parentNode, title.textContent);
    title.remove();
  }
  let picked = [];
  const drop = () => {
    for (const shape of picked) shape.classList.remove("picked");
    picked = [];
    map.classList.remove("picking");
    tip.hidden = true;
  };
  const show = (event) => {
    const note = notes.get(event.target);
    if (note === undefined) return drop();
    const buffer = event.target.dataset.buffer;
    if (!picked.includes(event.target)) {
      drop();
      picked = buffer === undefined ? [] : [...map.querySelectorAll(`[data-buffer="${buffer}"]`)];
      for (const shape of picked) shape.classList.add("picked");
      map.classList.toggle("picking", picked.length > 0);
    }
    tip.textContent = note;
    tip.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = tip;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4))}px`;
    tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - height - 4))}px`;
  };
  map.addEventListener("pointermove", show);
  map.addEventListener("pointerdown", show);
  map.addEventListener("pointerleave", drop);
})();
