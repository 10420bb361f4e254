// Counts the pages that connected and answers each with its number.
let connections = 0;
self.onconnect = (event) => {
  const number = ++connections;
  const port = event.ports[0];
  port.onmessage = (message) => port.postMessage(`${message.data} ${number}`);
};
