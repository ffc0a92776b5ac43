export { type BackendInfo, type BackendName, backendNames } from './names.ts';
export { type BackendReport, probeBackends } from './probe.ts';
export { useBackend } from './use-backend.ts';
