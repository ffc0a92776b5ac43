/** Tries the backend named on the command line and sends one BackendReport to the parent. */
import type { BackendInfo } from './names.ts';
import type { BackendReport } from './probe.ts';
import { BackendUnavailable } from './unavailable.ts';
import { useBackend } from './use-backend.ts';

const name = process.argv[2] as BackendInfo['name'];

async function report(): Promise<BackendReport> {
  try {
    return { available: true, ...(await useBackend(name)) };
  } catch (error) {
    if (error instanceof BackendUnavailable)
      return { available: false, name, reason: error.reason, ...(error.command && { command: error.command }) };
    return { available: false, name, reason: error instanceof Error ? error.message : String(error) };
  }
}

process.send?.(await report(), () => process.exit());
