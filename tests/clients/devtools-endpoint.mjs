// Turns an http address of a browser into its websocket address through /json/version.

export async function websocketAddress(endpoint) {
  if (endpoint.startsWith('ws://') || endpoint.startsWith('wss://')) return endpoint;
  const address = new URL(endpoint);
  address.pathname = `${address.pathname.replace(/\/$/, '')}/json/version`;
  const response = await fetch(address, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`discovery answered ${response.status}`);
  return (await response.json()).webSocketDebuggerUrl;
}
