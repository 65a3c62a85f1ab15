// `npm start`: a small cluster on this machine, a first job on it, and what to try next.

import { isRunning, runWeft } from './weft.ts';

const HELLO = 'echo hello from $WEFT_NODELIST';

// test/e2e/first-steps.test.ts types these lines as they stand.
const NEXT = `
What to try next:
  npx weft run --follow '${HELLO}'
  npx weft run --array 0-19 'sleep 10'
  npx weft info

npm stop ends the cluster and keeps its queue and history; npm run clean removes these too.`;

function main(): number {
  if (isRunning()) console.log('The cluster is already running.\n');
  else {
    const failed =
      runWeft('up', '--nodes', '4', '--cpus', '2', '--memory', '512M') || runFirstJob();
    if (failed) return failed;
  }
  const code = runWeft('info') || runWeft('jobs', '--all');
  console.log(NEXT);
  return code;
}

function runFirstJob(): number {
  console.log(`\nA first job: weft run --follow '${HELLO}'`);
  const code = runWeft('run', '--follow', HELLO);
  console.log('');
  return code;
}

process.exitCode = main();
