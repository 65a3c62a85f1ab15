// `npm run build`: what the package holds, made anew from the sources into dist/.

import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './tree.ts';

// A file whose source is gone would stay in dist/ and be published.
rmSync(path.join(ROOT, 'dist'), { recursive: true, force: true });
const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
const done = spawnSync(process.execPath, [compiler, '-b'], { cwd: ROOT, stdio: 'inherit' });
if (done.error) throw done.error;
process.exitCode = done.status ?? 1;
