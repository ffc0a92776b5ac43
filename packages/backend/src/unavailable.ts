import { PosencError } from '@posenc/core';
import type { BackendInfo } from './names.ts';

/** A backend that cannot be had here: why not, and the command that changes it. The message says both. */
export class BackendUnavailable extends PosencError {
  readonly reason: string;
  readonly command: string | undefined;

  constructor(backend: BackendInfo['name'], reason: string, command?: string) {
    const builtIn = ['simd', 'cpu'].filter((name) => name !== backend).join("' or '");
    super(
      `The backend '${backend}' is not available: ${reason}.` +
        (command ? ` To get it: ${command}` : '') +
        `\nWithout it: '${builtIn}' needs no installation.`,
    );
    this.reason = reason;
    this.command = command;
  }
}
