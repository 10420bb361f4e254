// Finds the websocket URL of a browser from its http URL through /json/version.

export async function websocketAddress(endpoint) {
  if (endpoint.startsWith('ws://') || endpoint.startsWith('wss://')) return endpoint;
  const address = new URL(endpoint);
  address.pathname = `${address.pathname.replace(/\/$/, '')}/json/version`;
  const response = await fetch(address, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`discovery returned status ${response.status}`);
  return (await response.json()).webSocketDebuggerUrl;
}
