// Real MPI programs on the virtual nodes of one machine: Open MPI and MPICH start their ranks
// through weft-rsh, and each node has its own shared memory.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';
import { AS_ROOT, MELT, PROGRAM, SHAPES, YIELDING } from './support/mpi-programs.ts';

/**
 * What is said there is of machines that an administrator sets up, and means nothing for `weft up`.
 */
const SETTINGS = [{}, { WEFT_NODE_SHARED: '/home' }];

for (const setting of SETTINGS) {
  const said = Object.entries(setting).map((entry) => `, ${entry.join('=')}`);
  describe(`MPI on virtual nodes${said}`, () => {
    let cluster: LocalCluster;
    before(async () => {
      cluster = new LocalCluster(setting);
      await cluster.up('--nodes', '3', '--listen', 'none');
      writeFileSync(join(cluster.work, 'in.melt'), MELT);
      writeFileSync(join(cluster.work, 'sum.c'), PROGRAM);
      execFileSync('mpicc.mpich', ['-O1', '-o', 'sum', 'sum.c'], { cwd: cluster.work });
    });
    after(() => cluster.close());

    const variables = { ...AS_ROOT, ...YIELDING };
    const environment = Object.entries(variables).flatMap((entry) => ['--env', entry.join('=')]);

    async function runs(shape: readonly string[], launch: readonly string[]): Promise<string> {
      const said = await cluster.weft(
        'run',
        '--mpi',
        ...shape,
        ...environment,
        '-f',
        '--',
        ...launch,
      );
      assert.equal(said.code, 0, `${shape.join(' ')}: ${said.out}${said.error}`);
      return said.out;
    }

    it('ranks start on nodes whose names no DNS knows, and share no core by being bound', async () => {
      const cpus = 'grep Cpus_allowed_list: /proc/self/status';
      const show = `echo "$OMPI_COMM_WORLD_RANK on node $WEFT_NODE_RANK: $(${cpus})"`;
      const launch = ['mpirun.openmpi', 'sh', '-c', show];
      const said = await runs(['-n', '2', '--procs', '1'], launch);
      const all = execFileSync('sh', ['-c', cpus], { encoding: 'utf8' }).trim();
      const wanted = [0, 1].map((rank) => `${rank} on node ${rank}: ${all}`);
      assert.deepEqual(said.trim().split('\n').sort(), wanted);
    });

    it('[A30] mpirun in a step starts ranks on all nodes of a job that runs', async () => {
      const held = ['--mpi', '-n', '2', '--cpus', '2', '--', 'sleep', '3600'];
      const id = await cluster.ok('run', ...held);
      await until('it runs', async () =>
        (await cluster.job(id)).state === 'running' ? true : undefined,
      );
      const show = 'echo "$OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on node $WEFT_NODE_RANK"';
      const launch = ['mpirun.openmpi', '-n', '4', 'sh', '-c', show];
      const said = await cluster.weft('exec', id, ...environment, '--', ...launch);
      assert.equal(said.code, 0, `${said.out}${said.error}`);
      const wanted = [0, 1, 2, 3].map((rank) => `${rank} of 4 on node ${rank < 2 ? 0 : 1}`);
      assert.deepEqual(said.out.trim().split('\n').sort(), wanted);
      await cluster.ok('cancel', id);
      await cluster.weft('wait', id);
    });

    for (const [nodes, perNode] of SHAPES) {
      it(`[A30] ${nodes} × ${perNode} ranks of one machine keep their memory apart`, async () => {
        const shape = ['-n', String(nodes), '--cpus', String(perNode)];
        const count = nodes * perNode;
        const melt = ['lmp', '-in', 'in.melt', '-log', 'none'];
        const openMpi = await runs(shape, ['mpirun.openmpi', ...melt]);
        assert.match(openMpi, new RegExp(`Loop time of .* on ${count} procs`));
        const mpich = await runs(shape, ['mpiexec.hydra', './sum']);
        assert.match(mpich, new RegExp(`${count} ranks, sum ${(count * (count - 1)) / 2}`));
      });
    }
  });
}
