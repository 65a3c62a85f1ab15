// What one of three gateways in trouble costs the others: from a submission to the start of its job
// at another site and on a node of our own, while the third is well, stopped, killed, or hears
// nonsense of its site.
//
//   node bench/gateways.ts STARTS

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { until } from '../test/e2e/support/hosts.ts';
import { repository } from '../test/e2e/support/local-cluster.ts';
import { SiteWorld } from '../test/e2e/support/site-world.ts';
import { connectLocally } from '../test/support/local-client.ts';
import { figure } from './cluster.ts';

const STARTS = Number(process.argv[2] ?? 40);
const EXAMPLE = join(repository, 'examples/adaptor/processes');
/** A login page in the place of a listing, while there is a file of that name. */
const UNWELL = `#!/bin/sh
[ -e "$1/nonsense" ] && { echo '<html>Please log in</html>'; exit 0; }
exec ${EXAMPLE} "$@"
`;
const SITES = ['ill', 'other', 'third'] as const;

const world = new SiteWorld(() => undefined);
let count = 0;

try {
  await world.startHead();
  writeFileSync(world.at('program'), UNWELL, { mode: 0o755 });
  for (const site of SITES) {
    mkdirSync(world.at(`${site}-state`));
    writeFileSync(world.at(`${site}-state`, 'nodes'), 'n1 8\n');
    const program = `${world.at('program')},${world.at(`${site}-state`)}`;
    await world.addGateway(site, { system: 'script', poll: '500ms', program }, {});
  }
  await world.addNode('own', 4);
  await allUp();
  const client = await connectLocally(world.at('head', 'weft.sock'));
  try {
    // The first starts of a head are slower than all that follow.
    await starts(client.call, 'well', 5, () => undefined);
    await measured(client.call);
  } finally {
    client.close();
  }
} finally {
  await world.close(() => undefined);
}

type Call = Awaited<ReturnType<typeof connectLocally>>['call'];

async function measured(call: Call): Promise<void> {
  const nonsense = world.at('ill-state', 'nonsense');
  const told = (meanwhile: string) => starts(call, meanwhile, STARTS, figure);
  await told('well');
  world.signal('ill', 'SIGSTOP');
  await told('stopped');
  world.signal('ill', 'SIGCONT');
  await allUp();
  await told('well');
  await world.end('ill', 'SIGKILL');
  await told('killed');
  await world.startAgain('ill');
  await allUp();
  await told('well');
  writeFileSync(nonsense, '');
  await told('hearing nonsense');
  rmSync(nonsense);
}

async function starts(
  call: Call,
  meanwhile: string,
  many: number,
  tell: typeof figure | (() => void),
): Promise<void> {
  const took = { other: [] as number[], own: [] as number[] };
  for (let at = 0; at < many; at += 1) {
    // So that the head has something to say to it, too.
    if (at % 10 === 0) await submit(call, 'ill', 'true');
    for (const node of ['other', 'own'] as const) took[node].push(await startMs(call, node));
  }
  const more = { meanwhile, load: loadavg().map((one) => Number(one.toFixed(1))) };
  tell('submit_to_start_at_another_site', 'ms', took.other, more);
  tell('submit_to_start_on_an_own_node', 'ms', took.own, more);
}

async function startMs(call: Call, node: string): Promise<number> {
  const stamp = world.at(`stamp-${count++}`);
  const begun = Date.now();
  const jobId = await submit(call, node, `date +%s%N >${stamp}`);
  await call('GET', `/v1/jobs/${jobId}/wait?timeoutMs=120000`);
  return Number(readFileSync(stamp, 'utf8')) / 1e6 - begun;
}

async function submit(call: Call, node: string, line: string): Promise<number> {
  const { jobId } = await call<{ jobId: number }>('POST', '/v1/jobs', {
    program: { kind: 'shell', line },
    nodeNames: [node],
  });
  return jobId;
}

async function allUp(): Promise<void> {
  await world.nodesUp(SITES.length + 1, /./);
  await until('every site is known', async () => {
    const sites = await world.json<{ state: string }[]>('site', 'list');
    return sites.every(({ state }) => state === 'up') || undefined;
  });
}
