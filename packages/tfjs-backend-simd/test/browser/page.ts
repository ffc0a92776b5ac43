/** Starts the Worker with what the address says, and sends the server what it answers. */
const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
const report = (result: unknown) => fetch('/result', { method: 'POST', body: JSON.stringify(result) });
worker.onmessage = ({ data }) => report(data);
worker.onerror = ({ message }) => report({ error: `the worker failed: ${message}` });
worker.postMessage(JSON.parse(decodeURIComponent(location.search.slice(1))));
