// The simulator's command line.

import { runSeed } from './run.ts';
const seed = Number(process.argv[2] ?? 1);
const n = Number(process.argv[3] ?? 1);
const t0 = performance.now();
for (let s = seed; s < seed + n; s++) {
  const trace = n === 1 && process.argv[4] ? console.log : undefined;
  const t1 = performance.now();
  const r = await runSeed({ seed: s, trace });
  console.log(s, r.hash, r.messages, r.jobs, r.violation?.rule ?? 'ok', r.violation?.message ?? '', (performance.now() - t1).toFixed(0) + 'ms');
  if (n === 1 && r.violation) { console.log(r.violation.stack, r.violation.cause); }
}
console.log((performance.now() - t0) / n);
