// Code blocks that are files say their names: ```csv buffers.csv becomes a caption above the block.
"use strict";
for (const code of document.querySelectorAll("main pre > code")) {
  const name = [...code.classList].find((word) => /^[\w.-]+\.[a-z]+$/.test(word) && !word.startsWith("language-"));
  if (name) {
    const caption = document.createElement("div");
    caption.className = "file-name";
    caption.textContent = name;
    code.closest("pre").before(caption);
  }
}
