// Finds or compiles the C launcher; without a compiler the Node fallback takes its place.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { access, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface LauncherProgram {
  readonly kind: 'c' | 'node';
  /** Program and first arguments; `--socket PATH` and the rest follow. */
  readonly command: string[];
  /** What each compiler tried had to say, if none succeeded. */
  readonly problems: readonly string[];
}

/** Static first: it needs no library at run time and is the smallest in memory. */
const COMPILERS: readonly (readonly string[])[] = [
  ['musl-gcc', '-O2', '-static'],
  ['cc', '-O2', '-static'],
  ['cc', '-O2'],
];

/** The folder for what is compiled cannot be made or written into: `cause` says why. */
export class UnwritableCache extends Error {
  readonly folder: string;

  constructor(folder: string, cause: unknown) {
    super(`nothing can be written into ${folder}`, { cause });
    this.folder = folder;
  }
}

/**
 * Compiles once per version of the sources, into `cacheDir`. Never rejects for want of a compiler;
 * rejects with `UnwritableCache` where a program would have no place.
 */
export async function ensureLauncher(cacheDir: string): Promise<LauncherProgram> {
  const sources = fileURLToPath(new URL('../../../launcher', import.meta.url));
  const prebuilt = join(sources, 'weft-launcher');
  if (await isProgram(prebuilt)) return { kind: 'c', command: [prebuilt], problems: [] };
  const names = await sourcesIn(sources);
  if (names.length === 0) {
    return { kind: 'node', command: fallbackCommand(), problems: [`no sources in ${sources}`] };
  }
  const built = join(cacheDir, `weft-launcher-${await hashOf(sources, names)}`);
  if (await isProgram(built)) return { kind: 'c', command: [built], problems: [] };
  await makeWritable(cacheDir);
  const files = names.filter((name) => name.endsWith('.c')).map((name) => join(sources, name));
  const problems: string[] = [];
  for (const compiler of COMPILERS) {
    const problem = await compile(compiler, files, built);
    if (problem === null) return { kind: 'c', command: [built], problems: [] };
    problems.push(problem);
  }
  return { kind: 'node', command: fallbackCommand(), problems };
}

/** The launcher written in Node, for machines without a compiler. */
export function fallbackCommand(): string[] {
  const extension = extname(fileURLToPath(import.meta.url));
  const main = new URL(`./launcher-fallback/main${extension}`, import.meta.url);
  return [process.execPath, fileURLToPath(main)];
}

/** Names of the C files; none where the package came without them. */
async function sourcesIn(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return [];
  return (await readdir(folder)).filter((name) => /\.[ch]$/.test(name)).sort();
}

/** Else each compiler would be asked in vain, and its words would be taken for the want of one. */
async function makeWritable(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new UnwritableCache(folder, cause);
  }
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function hashOf(folder: string, names: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const name of names) hash.update(`${name}\0`).update(await readFile(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}

/** Null when it worked, else why not. The rename makes a half-written program impossible. */
async function compile(
  compiler: readonly string[],
  files: readonly string[],
  target: string,
): Promise<string | null> {
  const [program = 'cc', ...flags] = compiler;
  const draft = `${target}.${process.pid}`;
  const args = ['-std=c11', '-pthread', ...flags, ...files, '-o', draft];
  const problem = await new Promise<string | null>((resolve) => {
    execFile(program, args, (error, _stdout, stderr) => {
      resolve(error && `${compiler.join(' ')}: ${stderr.trim() || error.message}`);
    });
  });
  if (problem === null) await rename(draft, target);
  else await rm(draft, { force: true });
  return problem;
}
