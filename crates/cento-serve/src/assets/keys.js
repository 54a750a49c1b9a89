// Keys for all pages: a letter presses the button or follows the link with that `data-key`.
// Lists: j and k move between rows, Enter follows the evidence, n and p turn the page, / filters.
const typing = (element) => element instanceof Element && element.matches("input, textarea, select");

const rows = () => [...document.querySelectorAll("main table tbody tr")];

function move(step) {
  const all = rows();
  if (all.length === 0) return;
  const at = all.findIndex((row) => row.contains(document.activeElement));
  const next = all[Math.min(all.length - 1, Math.max(0, at + step))];
  next?.querySelector("a")?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && typing(event.target)) {
    event.target.blur();
    return;
  }
  if (typing(event.target)) return;
  const named = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (named) {
    event.preventDefault();
    if (named.matches("input")) named.focus();
    else named.click();
    return;
  }
  const link = (selector) => document.querySelector(selector)?.click();
  switch (event.key) {
    case "j": move(1); break;
    case "k": move(-1); break;
    case "n": link('.pager a[rel="next"]'); break;
    case "p": link('.pager a[rel="prev"]'); break;
    case "/": {
      const field = document.querySelector(".filters input");
      if (field) {
        event.preventDefault();
        field.focus();
      }
      break;
    }
    default:
  }
});
