// `npm start`: a small cluster on this machine, a first job on it, and what to try next.

import { spawn } from 'node:child_process';
import path from 'node:path';
import { stateDirectory } from '../src/kernel/connect/locate.ts';
import { hasCluster, markCluster, whyNotOurs } from './checkout-mark.ts';
import { ROOT } from './tree.ts';
import { isNew, isRunning, runWeft } from './weft.ts';

const HELLO = 'echo hello from $WEFT_NODELIST';

// test/e2e/first-steps.test.ts types these lines as they stand.
const NEXT = `
What to try next:
  npx weft run --follow '${HELLO}'
  npx weft run --array 0-19 'sleep 10'
  npx weft info

\`npx weft\` works in this folder. To type \`weft\` in any folder:
  npm install --global --prefix ~/.local . && export PATH="$HOME/.local/bin:$PATH"

npm stop ends the cluster and keeps its queue and history; `;

async function main(): Promise<number> {
  // Beside the start of the cluster, which takes longer.
  const page = build('page.ts');
  const site = build('site.ts');
  const code = start();
  if (!(await page)) console.log('The web page could not be built; see `npm run page`.');
  if (!(await site)) console.log('The documents could not be built; see `node tools/site.ts`.');
  return code;
}

/** False: it failed. */
function build(script: string): Promise<boolean> {
  const options = { stdio: 'ignore' } as const;
  const builder = spawn(process.execPath, [path.join(ROOT, 'tools', script)], options);
  return new Promise((resolve) => {
    builder.once('error', () => resolve(false));
    builder.once('exit', (code) => resolve(code === 0));
  });
}

function start(): number {
  const directory = stateDirectory({}, process.env);
  if (isRunning()) console.log('The cluster is already running.');
  else {
    const isBegun = hasCluster(directory);
    if (isBegun)
      console.log('There is a cluster of yours: it starts with its nodes and its queue.');
    // Four, to see what several do; the machine's own cpus and memory are divided among them. Nodes
    // that are there have divided it already.
    const failed = isBegun ? runWeft('up') : runWeft('up', '--nodes', '4');
    if (failed) return failed;
    if (!isBegun) markCluster(directory, ROOT);
    // With a queue from before, a first job would wait behind it.
    const first = isNew() ? runFirstJob() : 0;
    if (first) return first;
  }
  console.log('');
  const code = runWeft('info');
  const isOurs = whyNotOurs(directory, ROOT) === null;
  console.log(`${NEXT}${isOurs ? 'npm run clean' : 'npx weft down --clean'} removes these too.`);
  return code;
}

function runFirstJob(): number {
  console.log(`\nA first job: npx weft run --follow '${HELLO}'`);
  return runWeft('run', '--follow', HELLO);
}

process.exitCode = await main();
