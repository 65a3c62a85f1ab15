// What opens a bucket: from the environment, or from a file that nobody else can read. Never from
// arguments, which everybody on the machine sees.

import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { fileProblem, isSystemError } from '../../../kernel/config/file-problem.ts';
import type { Signer } from './signing.ts';

export interface BucketKeys extends Signer {
  /** Goes with keys that last for hours. */
  readonly session: string | null;
  /** Origin of the object store. */
  readonly endpoint: string;
}

type Variables = Readonly<Record<string, string | undefined>>;

const REGION = 'us-east-1';
/** Also in lines that a shell or systemd reads, `NAME="value"`. */
const LINE = /^\s*(?:export\s+)?(AWS_[A-Z_]+)=(["']?)(.*)\2\s*$/;

/** Throws an error in words. `file`: comes before the environment. */
export function readBucketKeys(environment: Variables, file: string | null): BucketKeys {
  const of: Variables = file === null ? environment : { ...environment, ...linesOf(file) };
  const id = of['AWS_ACCESS_KEY_ID'] ?? '';
  const secret = of['AWS_SECRET_ACCESS_KEY'] ?? '';
  if (!/^\S{1,200}$/.test(id) || !/^\S{1,200}$/.test(secret)) {
    const where = file ?? 'the environment';
    throw new Error(
      `there are no keys for the bucket in ${where}: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
    );
  }
  const region = of['AWS_REGION'] || REGION;
  if (!/^[a-z0-9-]{1,40}$/.test(region)) throw new Error('AWS_REGION is no name of a region');
  const session = of['AWS_SESSION_TOKEN'] || null;
  const endpoint = endpointOf(of['AWS_ENDPOINT_URL'] || `https://s3.${region}.amazonaws.com`);
  return { id, secret, region, session, endpoint };
}

/** A backup has the head's keys: it goes over no line on which others can read. */
function endpointOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSecret =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && isHere(url.hostname));
  if (url !== null && isSecret && url.pathname === '/' && url.search === '' && !url.username) {
    return url.origin;
  }
  throw new Error('AWS_ENDPOINT_URL is not https://HOST (or http:// of this machine)');
}

const isHere = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));

function linesOf(path: string): Variables {
  const read: Record<string, string> = {};
  for (const line of secretText(path).split('\n')) {
    const [, name, , value] = LINE.exec(line) ?? [];
    if (name !== undefined && value !== undefined) read[name] = value;
  }
  return read;
}

function secretText(path: string): string {
  let file: number | null = null;
  try {
    file = openSync(path, 'r');
    if ((fstatSync(file).mode & 0o077) !== 0) {
      throw new Error(`others can read ${path}; run \`chmod 600 ${path}\``);
    }
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new Error(`${path} cannot be read: ${fileProblem(error)}`);
  } finally {
    if (file !== null) closeSync(file);
  }
}
