// A scene in 3D is loaded when it is opened, and let go when it is closed: a page of many would be heavy otherwise.
addEventListener("DOMContentLoaded", () => {
  for (const details of document.querySelectorAll("details")) {
    details.addEventListener("toggle", () => {
      const frame = details.querySelector("iframe[data-src]");
      if (frame) frame.src = details.open ? frame.dataset.src : "about:blank";
    });
  }
});
