export { type Choice, chooseAuto } from './auto.ts';
export { type Hold, type Holder, holdFile } from './file-lock.ts';
export { type BackendInfo, type BackendName, backendNames } from './names.ts';
export { dataFolder, type NativeName, nativeFolder } from './native/folder.ts';
export {
  type Installation,
  type InstallEvent,
  type InstallOptions,
  type InstallPlan,
  installNative,
  planInstall,
} from './native/install.ts';
export { type BackendReport, probeBackends } from './probe.ts';
export type { Sample } from './sample.ts';
export { askedThreads, defaultThreads, maxThreads } from './threads.ts';
export { type BackendOptions, useBackend } from './use-backend.ts';
