// This program as files to send: what is installed here with the packages it needs, and the
// Node.js that runs it.

import { execFile } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { VERSION } from '../../../kernel/cli/version.ts';
import { usage } from '../../../kernel/model/failure.ts';
import type { Part } from '../core/plan.ts';

const run = promisify(execFile);
/** Whatever they are here: there root runs this, and everybody reads it. */
const MODES = '--mode=u+rwX,go+rX,go-w';
/** Half of all files, for compilers and debuggers alone. */
const NEVER_RUN = ['.d.ts', '.d.cts', '.d.mts', '.map'].map((end) => `--exclude=*${end}`);
/** How `tar` ends when a file or folder changed while it was read. */
const CHANGED = 1;
const TRIES = 3;
/** From the sources as from dist/. */
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** What of an installed Weft runs on a node. */
const PARTS = ['bin', 'dist', 'launcher', 'python/src', 'deploy/systemd', 'package.json'];

export interface PackageFiles {
  /** The release, with what tells builds of one release apart. */
  readonly release: string;
  /** SHA-256 of the Node.js, hexadecimal. */
  readonly nodejs: string;
  /** Unpacked. */
  readonly bytes: Readonly<Record<Part, number>>;
  /** Path of a packed tar, made when the first machine lacks it. */
  file(part: Part): Promise<string>;
  remove(): void;
}

/** Throws a failure where this Weft cannot be sent. */
export function packageFiles(): PackageFiles {
  const built = join(ROOT, 'dist', 'bin', 'programs.cjs');
  if (!existsSync(built)) {
    const remedy = 'Run `npm run build` in its folder first.';
    throw usage('this Weft runs from its sources and was not built', remedy);
  }
  // Loaded late: `weft node list` is waited for, too, and reads this file.
  const { hash } = process.getBuiltinModule('node:crypto');
  const folder = mkdtempSync(join(tmpdir(), 'weft-package-'));
  const contents = { weft: programsOf(ROOT), nodejs: [NODEJS] };
  const made = new Map<Part, Promise<string>>();
  return {
    release: `${VERSION} ${Math.floor(statSync(built).mtimeMs)}`,
    nodejs: hash('sha256', readFileSync(NODEJS.from)),
    bytes: { weft: sumOf(contents.weft), nodejs: sumOf(contents.nodejs) },
    file(part) {
      const file = made.get(part) ?? pack(join(folder, part), contents[part]);
      made.set(part, file);
      return file;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface Content {
  readonly from: string;
  /** In the package. */
  readonly to: string;
}

/** What runs on a machine without npm: this Weft, the packages that it needs, its Node. */
export function contentsOf(root: string): Content[] {
  return [...programsOf(root), NODEJS];
}

const NODEJS: Content = { from: process.execPath, to: 'node' };

function programsOf(root: string): Content[] {
  const parts = PARTS.map((part) => ({ from: join(root, part), to: part }));
  const packages = [...packagesOf(root)].map(([name, from]) => ({
    from,
    to: join('node_modules', name),
  }));
  return [...parts, ...packages];
}

async function pack(folder: string, contents: readonly Content[]): Promise<string> {
  for (const { from, to } of contents) {
    const place = join(folder, to);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(from, place);
  }
  const file = `${folder}.tar.gz`;
  // The quick way: machines of a lab are near, and a better one takes longer than the rest of all
  // this.
  const how = ['-I', 'gzip -1', '-chf', file, '--owner=0', '--group=0', MODES];
  await packed([...how, ...NEVER_RUN, '-C', folder, '.'], TRIES);
  return file;
}

/** Once more where something was written there meanwhile, such as what Python has compiled. */
async function packed(args: readonly string[], tries: number): Promise<void> {
  try {
    await run('tar', args);
  } catch (error) {
    const isChanged = (error as { code?: unknown }).code === CHANGED;
    if (!isChanged || tries === 1) throw error;
    await packed(args, tries - 1);
  }
}

/** Names and folders of packages that the one in `folder` needs, and theirs; first name counts. */
function packagesOf(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  const open = [folder];
  for (let from = open.pop(); from !== undefined; from = open.pop()) {
    for (const name of dependenciesOf(from)) {
      const place = found.has(name) ? null : lookUp(name, from);
      if (place === null) continue;
      found.set(name, place);
      open.push(place);
    }
  }
  return found;
}

function dependenciesOf(folder: string): string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  return Object.keys(dependencies);
}

/** Where Node finds it; null: it is optional, and not there. */
function lookUp(name: string, from: string): string | null {
  for (let at = from; ; at = dirname(at)) {
    const place = join(at, 'node_modules', name);
    if (existsSync(join(place, 'package.json'))) return place;
    if (dirname(at) === at) return null;
  }
}

const sumOf = (contents: readonly Content[]): number =>
  contents.reduce((sum, { from }) => sum + bytesOf(from), 0);

function bytesOf(path: string): number {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}
