// Answers a ping and serves one made-up path inside its scope.
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('message', (event) => event.ports[0].postMessage(`${event.data} pong`));
self.addEventListener('fetch', (event) => {
  if (new URL(event.request.url).pathname.endsWith('/from-worker')) {
    event.respondWith(new Response('made by the service worker', { headers: { 'content-type': 'text/plain' } }));
  }
});
