// Doubles every number it is sent; keeps what it saw for evaluation.
self.seen = [];
self.onmessage = (event) => {
  self.seen.push(event.data);
  self.postMessage(event.data * 2);
};
