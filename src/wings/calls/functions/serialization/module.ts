// Functions that are named exports of modules: by path where the files are shared, otherwise as one
// bundled text.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { NotSendable } from './not-sendable.ts';
import { MODULE } from './packed-value.ts';
import type { Captured } from './values.ts';

export interface ModuleFunction {
  /** A path, from the working directory, or a `file:` URL; TypeScript as well. */
  readonly module: string | URL;
  /** The export; default: `default`. */
  readonly name?: string;
}

/** Whether workers see the same files, or get the module and all that it imports as one text. */
export type ModuleWay = 'path' | 'bundle';

/** What stands in the code of such a function. */
interface SentModule {
  readonly name: string;
  readonly file: string;
  /** By path: another content is another function, and is imported anew. */
  readonly version?: string;
  readonly bundle?: string;
}

/** Throws NotSendable when there is no such file, or none that can be bundled. */
export async function captureModule(what: ModuleFunction, way: ModuleWay): Promise<Captured> {
  const file = fileOf(what.module);
  const name = what.name ?? 'default';
  const content = await readFile(file).catch((error: Error) => {
    throw new NotSendable(file, `it cannot be read (${error.message})`, { cause: error });
  });
  const version = sha256Of(content).slice(0, 16);
  const sent: SentModule =
    way === 'path'
      ? { name, file, version }
      : { name, file: basename(file), bundle: await bundled(file) };
  const code = Buffer.concat([Uint8Array.of(MODULE), Buffer.from(JSON.stringify(sent))]);
  return { name, code, sha256: sha256Of(code), shared: [], uses: [], variables: null };
}

function fileOf(module: string | URL): string {
  return module instanceof URL || module.startsWith('file:')
    ? fileURLToPath(module)
    : resolve(module);
}

interface Bundler {
  build(options: object): Promise<{ outputFiles: { text: string }[] }>;
}

async function bundled(file: string): Promise<string> {
  const { build } = await bundler(file);
  try {
    const { outputFiles } = await build({
      entryPoints: [file],
      bundle: true,
      write: false,
      logLevel: 'silent',
      platform: 'node',
      format: 'esm',
      target: 'node24',
      sourcemap: 'inline',
      // CommonJS within an ES module has no `require` of its own.
      banner: {
        js: "import { createRequire as $weftRequire } from 'node:module'; const require = $weftRequire(process.cwd() + '/');",
      },
    });
    return outputFiles[0]?.text ?? '';
  } catch (error) {
    throw new NotSendable(file, `esbuild cannot bundle it: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** An optional peer of the package: those whose files are shared do without. */
async function bundler(file: string): Promise<Bundler> {
  for (const name of ['esbuild', 'esbuild-wasm']) {
    try {
      return (await import(name)) as Bundler;
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    }
  }
  const remedy = 'run `npm install esbuild`, or share the directory and send it by its path';
  throw new NotSendable(file, `bundling a module needs esbuild; ${remedy}`);
}

/** Reads what `captureModule` made. */
export function readModule(code: Uint8Array): SentModule {
  return JSON.parse(Buffer.from(code.subarray(1)).toString('utf8')) as SentModule;
}

/** The URL by which a worker imports it: of the file, or of the bundle that it has written. */
export function moduleUrl(sent: SentModule, bundleFile: string | null): string {
  if (bundleFile !== null) return pathToFileURL(bundleFile).href;
  return `${pathToFileURL(sent.file).href}?weft=${sent.version}`;
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
