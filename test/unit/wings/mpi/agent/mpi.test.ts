// What an agent gives MPI programs: host files, variables, and servers instead of programs.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { buildEnvironment } from '../../../../../src/kernel/agent/environment.ts';
import { hostLines, slotLines } from '../../../../../src/kernel/agent/host-lines.ts';
import type { NodeName } from '../../../../../src/kernel/model/ids.ts';
import type { LaunchOrder } from '../../../../../src/kernel/model/orders.ts';
import { isStepServer, mpiPart } from '../../../../../src/wings/mpi/agent/part.ts';
import { ROOT } from '../../../../../tools/tree.ts';
import { ALICE, settings } from '../../../kernel/agent/fake-world.ts';
import { launch, share, shell } from '../../../kernel/agent/orders.ts';

const nodes = ['n1', 'n2'] as NodeName[];
const mpi = { ranksPerNode: 2, key: 'secret' };
const PART = mpiPart({ server: ['weft-rshd'], client: '/bin/weft-rsh' });

function environment(order: LaunchOrder, isWholeMachine = true): Map<string, string> {
  const place = { hostFile: '/h', temporary: null };
  const own = { ...settings(), isWholeMachine };
  const of = { order, account: ALICE, ...place, settings: own };
  const { common: list } = buildEnvironment(of, [PART]);
  return new Map(list.map((entry) => entry.split(/=(.*)/s).slice(0, 2) as [string, string]));
}

test('the host file has a line per rank, and one with slots per node', () => {
  const order = launch(1, shell('x'), { nodes, mpi });
  assert.equal(hostLines(order, 'n1'), 'n1\nn1\nn2\nn2\n');
  assert.equal(slotLines(order, 'n1'), 'n1 slots=2\nn2 slots=2\n');
  const uneven = { ...order, mpi: { ranksPerNode: 2, ranks: 3, key: 'k' } };
  assert.equal(hostLines(uneven, 'n1'), 'n1\nn1\nn2\n');
  assert.equal(slotLines(uneven, 'n1'), 'n1 slots=2\nn2 slots=1\n');
  const plain = launch(1, shell('x'), { nodes, processesPerNode: 3 });
  assert.equal(slotLines(plain, 'n1'), 'n1 slots=3\nn2 slots=3\n');
});

test('only the nodes after the first run a server', () => {
  const ranks = [0, 1].map((nodeRank) => launch(1, shell('x'), { nodes, mpi, nodeRank }));
  assert.deepEqual(ranks.map(isStepServer), [false, true]);
  assert.equal(isStepServer(launch(1, shell('x'), { nodes, nodeRank: 1 })), false);
});

test('launchers are told of the nodes and of the remote shell; a job’s own value wins', () => {
  const own = { HYDRA_LAUNCHER_EXEC: '/my/ssh' };
  const found = environment(launch(1, shell('x'), { nodes, mpi, environment: own }));
  const wanted = {
    OMPI_MCA_plm: 'rsh',
    OMPI_MCA_ras: '^slurm',
    OMPI_MCA_plm_rsh_agent: '/bin/weft-rsh',
    OMPI_MCA_orte_default_hostfile: '/h.slots',
    PRTE_MCA_plm: 'ssh',
    PRTE_MCA_ras: '^slurm',
    PRTE_MCA_plm_ssh_agent: '/bin/weft-rsh',
    PRTE_MCA_prte_default_hostfile: '/h.slots',
    HYDRA_LAUNCHER: 'ssh',
    HYDRA_LAUNCHER_EXEC: '/my/ssh',
    HYDRA_HOST_FILE: '/h',
    WEFT_RSH: '/bin/weft-rsh',
    WEFT_STEP_KEY: 'secret',
    WEFT_PROCS_PER_NODE: '2',
    WEFT_HOSTFILE: '/h',
    WEFT_HOSTFILE_SLOTS: '/h.slots',
  };
  for (const [name, value] of Object.entries(wanted)) assert.equal(found.get(name), value, name);
});

test('docs/variables.md names every variable of a task with --mpi', () => {
  const page = readFileSync(path.join(ROOT, 'docs', 'variables.md'), 'utf8');
  const documented = [...page.matchAll(/`([A-Z]\w+)`/g)].map(([, name]) => name);
  for (const name of environment(launch(1, shell('x'), { nodes, mpi }), false).keys()) {
    assert.ok(documented.includes(name), name);
  }
});

test('a job without --mpi gets no key and no remote shell', () => {
  const found = environment(launch(1, shell('x'), { nodes }));
  const names = [...found.keys()].filter((name) => /_KEY$|_RSH$|rsh_agent|HYDRA/.test(name));
  assert.deepEqual(names, []);
});

const POLICY = 'OMPI_MCA_hwloc_base_binding_policy';

test('ranks bind to cores only where their task has the whole machine', () => {
  const whole = launch(1, shell('x'), { share: share(4, 0) });
  assert.equal(environment(whole).get(POLICY), undefined);
  assert.equal(environment(whole, false).get(POLICY), 'none', 'a virtual node');
  const part = launch(1, shell('x'), { share: share(3, 0) });
  assert.equal(environment(part).get(POLICY), 'none');
  const wish = launch(1, shell('x'), { share: share(3, 0), environment: { [POLICY]: 'core' } });
  assert.equal(environment(wish).get(POLICY), 'core');
});
