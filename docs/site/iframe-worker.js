// SPDX-License-Identifier: MIT
// The search of a site that lies on a disk: a browser starts no worker from file:. Here a worker is a hidden
// frame that runs the worker's script, and messages go between the two windows. MkDocs Material's plugin
// `offline` asks for a script of this name.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = `<script src="${script}"></` + "script>";
      document.documentElement.append(this.frame);
      this.frame.addEventListener("load", () => {
        this.frame.contentWindow.postMessage = (data) => {
          const event = new MessageEvent("message", { data });
          if (this.onmessage) this.onmessage(event);
          this.dispatchEvent(event);
        };
        for (const message of this.waiting) this.deliver(message);
        this.waiting = null;
      });
    }
    deliver(data) {
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }
    postMessage(message) {
      if (this.waiting) this.waiting.push(message);
      else this.deliver(message);
    }
    terminate() {
      this.frame.remove();
    }
  };
}
