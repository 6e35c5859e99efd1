// Browsers start no workers from files. There the search runs in a hidden frame of the page instead, with the same messages.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = (this.inner = frame.contentWindow);
      const here = new URL(url, document.baseURI);
      const load = address => new Promise((done, failed) => {
        const script = inner.document.createElement("script");
        script.src = new URL(address, here);
        script.onload = done;
        script.onerror = failed;
        inner.document.body.append(script);
      });
      inner.importScripts = (...addresses) => addresses.reduce((before, next) => before.then(() => load(next)), Promise.resolve());
      inner.postMessage = data => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      this.loaded = load(here);
    }
    postMessage(data) {
      this.loaded.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {}
  };
}
