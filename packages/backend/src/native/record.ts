/** `install.json`: what is finished of an installation, so that the next run goes on from there. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files by path relative to the folder, with their SHA-256. */
export type Checksums = Readonly<Record<string, string>>;

export interface Part {
  readonly seconds: number;
  readonly downloadedBytes: number;
  /** Files of the installation. */
  readonly files: Checksums;
  /** What they were made from, by name: sha256 of wheels, npm's integrity of packages. */
  readonly sources: Checksums;
}

export interface InstallRecord {
  /** How: npm with its scripts, or a build against a wheel. Undefined until the first is tried. */
  readonly way?: 'npm' | 'wheel';
  /** Why npm did not do. */
  readonly npmFailed?: string;
  readonly parts: Readonly<Record<string, Part>>;
  /** When the finished installation was tried and worked. */
  readonly checked?: string;
}

const path = (folder: string) => join(folder, 'install.json');

/** What is recorded; nothing when the file is not there or damaged: then all is done again. */
export function readRecord(folder: string): InstallRecord {
  if (!existsSync(path(folder))) return { parts: {} };
  try {
    return JSON.parse(readFileSync(path(folder), 'utf8')) as InstallRecord;
  } catch {
    return { parts: {} };
  }
}

export function writeRecord(folder: string, record: InstallRecord): void {
  const partial = `${path(folder)}.${process.pid}`;
  writeFileSync(partial, `${JSON.stringify(record, null, 2)}\n`);
  renameSync(partial, path(folder));
}

export async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: 2 ** 20 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** The first file of a part that is gone or has another content. */
export async function damaged(folder: string, { files }: Part): Promise<string | undefined> {
  for (const [file, sum] of Object.entries(files)) {
    const at = join(folder, file);
    if (!existsSync(at) || (await sha256(at)) !== sum) return file;
  }
  return undefined;
}
