// `npm start`: a small cluster on this machine, a first job on it, and what to try next.

import { isRunning, runWeft } from './weft.ts';

const UP = ['up', '--nodes', '4', '--cpus', '2', '--memory', '512M'];

const NEXT = `
What to try next:
  npx weft run --wait -- sh -c 'echo hello from $(hostname)'
  npx weft jobs
  npx weft why JOB          (and: npm stop, when you have seen enough)`;

function main(): number {
  if (isRunning()) console.log('The cluster is already running.');
  else {
    const failed = runWeft(...UP) || runFirstJob();
    if (failed) return failed;
  }
  const code = runWeft('info');
  console.log(NEXT);
  return code;
}

function runFirstJob(): number {
  console.log('\nA first job, `weft run --wait -- hostname`:');
  return runWeft('run', '--wait', '--', 'hostname');
}

process.exitCode = main();
