// A worker's two processes alone, without a head: what a call of a function that does nothing
// costs. node bench/call-worker.ts [CALLS [AHEAD]]

import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { capture, packArguments } from '../src/wings/calls/functions/serialization/values.ts';
import { Child } from '../src/wings/calls/functions/supervisor/child-process.ts';

const calls = Number(process.argv[2] ?? 200_000);
const ahead = Number(process.argv[3] ?? 16);

/** User and system time of a process, in microseconds. */
function cpuUsOf(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

function print(figure: string, unit: string, value: number): void {
  console.log(
    JSON.stringify({ peer: 'weft', figure, unit, n: calls, value: Number(value.toFixed(1)) }),
  );
}

const fn = capture((x: number) => x);
const { bytes: payload } = packArguments([5]);
const over = Promise.withResolvers<void>();
let given = 0;
let done = 0;
let from = 0;
let supervisorFrom = process.cpuUsage();
let childFrom = 0;

const child = new Child(
  {
    scratch: tmpdir(),
    callsMax: 0,
    bytesMax: 0,
    env: process.env,
    onStderr: (chunk) => process.stderr.write(chunk),
  },
  {
    ready: () => {
      child.load(fn.sha256, fn.code);
      from = performance.now();
      supervisorFrom = process.cpuUsage();
      childFrom = cpuUsOf(child.pid);
      for (let call = 0; call < ahead; call += 1) give();
    },
    ended: (_run, ok) => {
      if (!ok) throw new Error('the function failed');
      done += 1;
      if (done === calls) finish();
      else if (given < calls) give();
    },
    starting: () => undefined,
    progress: () => undefined,
    gaveBack: () => undefined,
    withoutRooms: () => undefined,
    worn: (why) => {
      throw new Error(why);
    },
    died: () => over.resolve(),
  },
);

function give(): void {
  given += 1;
  child.run({ call: 1, run: given, attempt: 1, code: fn.sha256, shared: [], payload });
}

function finish(): void {
  const seconds = (performance.now() - from) / 1000;
  const { user, system } = process.cpuUsage(supervisorFrom);
  print(`worker_calls_per_s_${ahead}_ahead`, 'calls/s', calls / seconds);
  print('worker_nanny_us_per_call', 'us', (user + system) / calls);
  print('worker_child_us_per_call', 'us', (cpuUsOf(child.pid) - childFrom) / calls);
  child.kill();
}

await over.promise;
