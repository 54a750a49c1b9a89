// Links passages and sources both ways: pointing at one lights up the other, and a click or Enter
// scrolls to it.
for (const quilt of document.querySelectorAll(".quilt")) {
  const marks = [...quilt.querySelectorAll("mark[data-source]")];
  const sources = [...quilt.querySelectorAll(".sources > li[data-source]")];
  const light = (source) => {
    for (const element of [...marks, ...sources]) {
      element.classList.toggle("lit", element.dataset.source === source);
    }
  };
  const reach = (element) => {
    if (!element) return;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    element.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
  };
  const listen = (element, others) => {
    const { source } = element.dataset;
    element.tabIndex = 0;
    const other = () => others.find((one) => one.dataset.source === source);
    element.addEventListener("pointerenter", () => {
      light(source);
      if (element.matches("mark")) reach(other());
    });
    element.addEventListener("focus", () => light(source));
    const go = () => {
      const target = other();
      light(source);
      reach(target);
      target?.focus({ preventScroll: true });
    };
    element.addEventListener("click", (event) => {
      if (!(event.target instanceof Element) || !event.target.closest("a")) go();
    });
    element.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target === element) go();
    });
  };
  for (const mark of marks) listen(mark, sources);
  for (const source of sources) listen(source, marks);
}
