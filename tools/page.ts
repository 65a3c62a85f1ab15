// `npm run page`: the web page, built from src/pages.tsx into dist/dashboard/ with the bundler that
// builds the programs: one script, one style, the page that names them, each also compressed. What
// was built from these very sources is not built again.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build, stop } from 'esbuild-wasm';
import { ROOT } from './tree.ts';

const OUT = path.join(ROOT, 'dist', 'dashboard');
const SOURCES = path.join('src', 'kernel', 'page');
const STAMP = 'sources.sha256';
/** Besides what the bundler reads. */
const ALSO = [
  ...['src/kernel/page/index.html', 'src/kernel/page/icon.svg', 'src/kernel/page/tsconfig.json'],
  ...['package-lock.json', 'tools/page.ts'],
];

/** Says whether there was anything to do. */
export async function buildPage(): Promise<boolean> {
  if (isStampOf(readIfThere(path.join(OUT, STAMP)))) return false;
  const { files, sources } = await bundle();
  // Aside first: a head that serves the old page meanwhile never finds half of the new one.
  const draft = `${OUT}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  for (const [name, bytes] of files) {
    writeFileSync(path.join(draft, name), bytes);
    writeFileSync(path.join(draft, `${name}.br`), brotliCompressSync(bytes));
    writeFileSync(path.join(draft, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  }
  writeFileSync(path.join(draft, STAMP), stampOf(sources));
  rmSync(OUT, { recursive: true, force: true });
  renameSync(draft, OUT);
  return true;
}

interface Bundle {
  readonly files: Map<string, Uint8Array>;
  /** Every file that went into it, from the top of the repository. */
  readonly sources: readonly string[];
}

export async function bundle(): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { app: 'src/pages.tsx', style: 'src/kernel/page/style.css' },
    outdir: OUT,
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: ['es2022', 'chrome109', 'firefox115', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // The page may not load anything that its head does not serve, source maps included.
    sourcemap: false,
    legalComments: 'none',
    logLevel: 'warning',
  });
  await stop();
  const icon = readFileSync(path.join(ROOT, SOURCES, 'icon.svg'));
  const iconHash = createHash('sha256').update(icon).digest('hex').slice(0, 8);
  const files = new Map<string, Uint8Array>([[`icon-${iconHash}.svg`, icon]]);
  for (const { path: file, contents } of outputFiles) files.set(path.basename(file), contents);
  const named = (start: string): string =>
    [...files.keys()].find((name) => name.startsWith(`${start}-`)) ?? '';
  const html = readFileSync(path.join(ROOT, SOURCES, 'index.html'), 'utf8')
    .replace('STYLE', named('style'))
    .replace('SCRIPT', named('app'))
    .replace('ICON', named('icon'));
  files.set('index.html', Buffer.from(html));
  return { files, sources: [...Object.keys(metafile.inputs), ...ALSO].sort() };
}

/** The hash of each of these files, as `sha256sum` writes it. */
export function stampOf(sources: readonly string[], root = ROOT): string {
  return sources.map((file) => `${hashOf(path.join(root, file))}  ${file}\n`).join('');
}

/** Whether those files are what they were. */
export function isStampOf(stamp: string, root = ROOT): boolean {
  const sources = stamp.split('\n').flatMap((line) => line.split('  ').slice(1));
  const areThere = sources.every((file) => existsSync(path.join(root, file)));
  return sources.length > 0 && areThere && stampOf(sources, root) === stamp;
}

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function readIfThere(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

if (import.meta.main) {
  const built = await buildPage();
  console.log(built ? 'The web page is built.' : 'The web page is up to date.');
}
