// SPDX-License-Identifier: MIT
// The search of a site that lies on a disk: a browser starts no worker from file:. Here a worker is a hidden frame
// that runs the worker's script, and messages go between the two windows. MkDocs Material's plugin `offline` asks for
// a script of this name.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc =
        "<script>self.postMessage = (message) => parent.postMessage(message, '*')</" + "script>" +
        `<script src="${script}"></` + "script>";
      this.frame.addEventListener("load", () => {
        for (const message of this.waiting) this.frame.contentWindow.postMessage(message, "*");
        this.waiting = null;
      });
      addEventListener("message", ({ source, data }) => {
        if (source !== this.frame.contentWindow) return;
        const event = new MessageEvent("message", { data });
        if (this.onmessage) this.onmessage(event);
        this.dispatchEvent(event);
      });
      document.documentElement.append(this.frame);
    }
    postMessage(message) {
      if (this.waiting) this.waiting.push(message);
      else this.frame.contentWindow.postMessage(message, "*");
    }
    terminate() {
      this.frame.remove();
    }
  };
}
