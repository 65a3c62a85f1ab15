// `npm run page`: the web page, built from src/pages.tsx into dist/dashboard/ with the bundler that
// builds the programs: one script, one style, the page that names them, each also compressed. What
// was built from these very sources is not built again.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { bundle as bundleScript } from './bundler.ts';
import { shortStyle } from './page-style.ts';
import { ROOT } from './tree.ts';

const OUT = path.join(ROOT, 'dist', 'dashboard');
const SOURCES = path.join('src', 'kernel', 'page');
const STAMP = 'sources.sha256';
/** Besides what the bundler reads. */
const ALSO = [
  ...['src/kernel/page/index.html', 'src/kernel/page/icon.svg', 'src/kernel/page/tsconfig.json'],
  ...['package-lock.json', 'tools/bundler.ts', 'tools/page.ts', 'tools/page-style.ts'],
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
  const script = await bundleScript({
    input: 'src/pages.tsx',
    format: 'esm',
    target: ['es2022', 'chrome109', 'firefox115', 'safari16.4'],
    // The page may not load anything that its head does not serve.
    inside: 'all',
    keeps: 'nothing',
  });
  const style = shortStyle(`${SOURCES}/style.css`);
  const icon = readFileSync(path.join(ROOT, SOURCES, 'icon.svg'));
  const files = new Map<string, Uint8Array>();
  const named = (name: string, ending: string, bytes: Uint8Array): string => {
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 8);
    files.set(`${name}-${hash}.${ending}`, bytes);
    return `${name}-${hash}.${ending}`;
  };
  const html = readFileSync(path.join(ROOT, SOURCES, 'index.html'), 'utf8')
    .replace('STYLE', named('style', 'css', Buffer.from(style.text)))
    .replace('SCRIPT', named('app', 'js', Buffer.from(script.code)))
    .replace('ICON', named('icon', 'svg', icon));
  files.set('index.html', Buffer.from(html));
  return { files, sources: [...script.inputs, ...style.inputs, ...ALSO].sort() };
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
