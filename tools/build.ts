// `npm run build`: what the package holds, made anew from the sources into dist/: the daemons, the
// programs that people type, and manual pages.
//   --compiled   what the compiler has made from sources that are still there is kept: the tests'
//                run has compiled them just before

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundlePrograms } from './bundle.ts';
import { bundleDaemons } from './daemons.ts';
import { makeManPages } from './docs/man-pages.ts';
import { bundleLibrary } from './library.ts';
import { buildPage } from './page.ts';
import { buildSite } from './site.ts';
import { filesBelow, ROOT } from './tree.ts';

// The whole run of the tests has just built it, and runs commands from there: `npm pack` in a test
// must not take it away under the others.
const isTested = process.env.NODE_TESTS_BUILT_WEFT === ROOT;
if (isTested && existsSync(path.join(ROOT, 'dist', 'man'))) process.exit(0);

// A file whose source is gone would stay in dist/ and be published.
if (process.argv[2] === '--compiled') removeAllButCompiled();
else rmSync(path.join(ROOT, 'dist'), { recursive: true, force: true });
const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
// Tests, tools and what measures are no part of it.
const projects = ['src', 'src/kernel/page'];
const words = [compiler, '-b', ...projects];
const done = spawnSync(process.execPath, words, { cwd: ROOT, stdio: 'inherit' });
if (done.error) throw done.error;
process.exitCode = done.status ?? 1;

await bundlePrograms();
await bundleDaemons();
await bundleLibrary();
await buildPage();
await buildSite();

const manual = path.join(ROOT, 'dist', 'man');
mkdirSync(manual, { recursive: true });
for (const { file, text } of await makeManPages()) writeFileSync(path.join(manual, file), text);

function removeAllButCompiled(): void {
  for (const file of filesBelow('dist', '')) {
    const [, source] = /^dist\/(.*?)(?:\.d\.ts|\.js)$/.exec(file) ?? [];
    const isCompiled =
      file.endsWith('.tsbuildinfo') ||
      (source !== undefined &&
        ['.ts', '.tsx'].some((end) => existsSync(path.join(ROOT, 'src', `${source}${end}`))));
    if (!isCompiled) rmSync(path.join(ROOT, file));
  }
}
