// Every policy on traces in the Standard Workload Format. Usage: `node bench/replay.ts
// FILE:PROCESSORS[:DEPTH]…`; without traces the excerpts of the tests. DEPTH is how many waiting
// jobs `conservative` plans; all when left out. Prints JSON.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { PLANNING_POLICIES, plainScheduling } from '../src/kernel/model/scheduling.ts';
import { nodesOf, workloadOf } from '../src/wings/replay/core/machine.ts';
import { measure } from '../src/wings/replay/core/measures.ts';
import { replay } from '../src/wings/replay/core/replay.ts';
import { parseSwf } from '../src/wings/replay/core/swf.ts';

const FIXTURES = path.join(import.meta.dirname, '..', 'test', 'fixtures', 'traces');
const EXCERPTS = [
  `${path.join(FIXTURES, 'sdsc-sp2-1998.swf')}:128`,
  `${path.join(FIXTURES, 'lublin-256.swf')}:256`,
];

const asked = process.argv.slice(2);
for (const trace of asked.length > 0 ? asked : EXCERPTS) {
  const [, file, count, depth = 'Infinity'] =
    /^(.+?):([1-9]\d*)(?::([1-9]\d*))?$/.exec(trace) ?? [];
  if (file === undefined) {
    console.error(`bench: '${trace}' is not FILE:PROCESSORS[:DEPTH]`);
    process.exit(2);
  }
  for (const figures of figuresOf(file, Number(count), Number(depth)))
    console.log(JSON.stringify(figures));
}

function* figuresOf(file: string, procs: number, depthMax: number) {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  const machine = { nodeCount: 1, cpusPerNode: procs, memoryBytesPerNode: null };
  const { jobs, dropped } = workloadOf(parseSwf(text).jobs, machine);
  for (const policy of PLANNING_POLICIES) {
    const scheduling = { ...plainScheduling(policy), depthMax };
    const { runs, planCycles, planCpuMs } = replay(jobs, nodesOf(machine), { scheduling, cpuMs });
    yield {
      trace: path.basename(file),
      procs,
      policy,
      jobs: runs.length,
      dropped,
      ...measure(runs, procs),
      planCycles,
      planCpuMs: Math.round(planCpuMs),
    };
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
