// Files of pages as they were built: read once, sent compressed as they lie on the disk. Names of
// scripts and styles carry a hash of what is in them, so that browsers may keep them.

import { readdir, readFile, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';

const INDEX = 'index.html';
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};
/** Such a name has the hash of its content. */
const HASHED = /-[A-Za-z0-9]{8}\.\w+$/;

/** Nothing but what this head serves, and nothing written into the page itself. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const SAFETY = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** One file with its compressed forms. */
interface PageFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly br: Buffer | null;
  readonly gzip: Buffer | null;
}

export class PageFiles {
  readonly #directory: string;
  #files: ReadonlyMap<string, PageFile> = new Map();
  #builtAt = 0;

  /** `directory`: where the build has left the page; it may come later, and be built anew. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** `name`: its path in the folder. False: there is no such file, and nothing was sent. */
  async send(incoming: IncomingMessage, response: ServerResponse, name = INDEX): Promise<boolean> {
    if (!HASHED.test(name) || !this.#files.has(name)) await this.#refresh();
    const file = this.#files.get(name);
    if (file === undefined) return false;
    const { encoding, bytes } = chosen(file, String(incoming.headers['accept-encoding'] ?? ''));
    response.writeHead(200, {
      ...SAFETY,
      'content-type': file.type,
      'content-length': bytes.length,
      ...(encoding === null ? {} : { 'content-encoding': encoding }),
      vary: 'accept-encoding',
      'cache-control': HASHED.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    });
    response.end(bytes);
    return true;
  }

  async #refresh(): Promise<void> {
    const index = await stat(path.join(this.#directory, INDEX)).catch(() => null);
    if (index === null || index.mtimeMs === this.#builtAt) return;
    const found = await readdir(this.#directory, { recursive: true, withFileTypes: true });
    const all = new Map<string, Buffer>();
    for (const entry of found.filter((one) => one.isFile())) {
      const file = path.join(entry.parentPath, entry.name);
      all.set(path.relative(this.#directory, file), await readFile(file));
    }
    const files = new Map<string, PageFile>();
    for (const [name, plain] of all) {
      const type = TYPES[path.extname(name)];
      if (type === undefined) continue;
      const [br = null, gzip = null] = [all.get(`${name}.br`), all.get(`${name}.gz`)];
      files.set(name, { type, plain, br, gzip });
    }
    this.#files = files;
    this.#builtAt = index.mtimeMs;
  }
}

function chosen({ plain, br, gzip }: PageFile, accepted: string) {
  if (br !== null && /\bbr\b/.test(accepted)) return { encoding: 'br', bytes: br };
  if (gzip !== null && /\bgzip\b/.test(accepted)) return { encoding: 'gzip', bytes: gzip };
  return { encoding: null, bytes: plain };
}
