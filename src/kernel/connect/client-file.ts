// Where the users of a machine find their head when nothing else says it: `client.yaml` of the
// user, and the machine's, which `weft join` writes. Nothing in it is secret.

import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Environment } from '../config/config.ts';
import { fileProblem } from '../config/file-problem.ts';
import { homeOf } from '../config/home.ts';
import { usage } from '../model/failure.ts';

/** The machine's file, unless WEFT_CLIENT_FILE names another. */
const MACHINE_FILE = '/etc/weft/client.yaml';
/** A state directory here belongs to a service of the machine, and not to a user or a test. */
const SERVICES = '/var/lib/';
/** Begins a file that is ours to change. */
export const WRITTEN = '# Where the users of this machine find their head; written by weft.';
/** A value in quotes or plain, and a comment behind it. */
const LINE = /^(\w+):\s+(?:"([^"]*)"|([^\s"#]\S*))(?:\s+#.*)?\s*$/;
const KEYS = ['head', 'fingerprint', 'socket', 'token_file'] as const;

/** Whether users of the machine find the head of this directory at the machine's own socket. */
export function isOfService(directory: string): boolean {
  return directory.startsWith(SERVICES);
}

/** What a file says; a head by its address or by its socket. */
export interface ClientFile {
  readonly head?: string;
  readonly fingerprint?: string;
  readonly socket?: string;
  readonly token_file?: string;
}

/** What the user's file says, else the machine's; null: there is none. */
export function readClientFile(environment: Environment): ClientFile | null {
  const file = [userFile(environment), machineFile(environment)].find((one) => existsSync(one));
  return file === undefined ? null : parseClientFile(textOf(file), file);
}

export function userFile(environment: Environment): string {
  const home = homeOf(environment) ?? '/';
  const folder = environment['XDG_CONFIG_HOME'] || path.join(home, '.config');
  return path.join(folder, 'weft', 'client.yaml');
}

export function machineFile(environment: Environment): string {
  return environment['WEFT_CLIENT_FILE'] || MACHINE_FILE;
}

export function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw usage(`cannot read ${file}: ${fileProblem(cause)}`);
  }
}

/** Lines `key: value`, which is YAML: every command reads it, and most need no YAML otherwise. */
export function parseClientFile(text: string, file: string): ClientFile {
  const found: Record<string, string> = {};
  for (const { at, key, value, line } of keyedLines(text)) {
    if (!KEYS.some((known) => known === key)) {
      const form = `write one of ${KEYS.join(', ')}, a colon, a blank and its value`;
      throw usage(`${file}, line ${at}: '${line}' says nothing about a head; ${form}`);
    }
    found[key] = value;
  }
  if (found['head'] === undefined && found['socket'] === undefined) {
    throw usage(`${file} names no head; write a line head: https://HOST:5001`);
  }
  return found;
}

export interface KeyedLine {
  /** Counted from 1. */
  readonly at: number;
  /** Empty where the line has none. */
  readonly key: string;
  readonly value: string;
  readonly line: string;
}

/** Lines that say something. */
export function keyedLines(text: string): KeyedLine[] {
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*(#.*)?$/.test(line)) return [];
    const [, key = '', quoted, plain] = LINE.exec(line) ?? [];
    return [{ at: index + 1, key, value: quoted ?? plain ?? '', line: line.trim() }];
  });
}

/**
 * Tells the users of this machine, where root sets up a service of it; the path, null when the file
 * is not ours to write. What somebody wrote by hand stays.
 */
export function writeClientFile(
  said: ClientFile,
  { directory, environment }: { readonly directory: string; readonly environment: Environment },
): string | null {
  if (process.getuid?.() !== 0 || !isOfService(directory)) return null;
  const file = machineFile(environment);
  if (existsSync(file) && !textOf(file).startsWith(WRITTEN)) return null;
  putClientFile(file, said);
  return file;
}

/** Whole or not at all, over what was there. */
export function putClientFile(file: string, said: ClientFile): void {
  const lines = Object.entries(said).map(([key, value]) => `${key}: "${value}"`);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 });
  // Whatever the umask: users read it.
  const draft = `${file}.new`;
  writeFileSync(draft, `${[WRITTEN, ...lines].join('\n')}\n`, { mode: 0o644 });
  chmodSync(draft, 0o644);
  renameSync(draft, file);
}
