// Real MPI programs on the virtual nodes of one machine: Open MPI and MPICH start their ranks
// through weft-rsh, and each node has its own shared memory.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from './support/hosts.ts';
import { LocalCluster, runProgram, type Said } from './support/local-cluster.ts';
import { AS_ROOT, MELT, PROGRAM, SHAPES, YIELDING } from './support/mpi-programs.ts';

/**
 * What is said there is of machines that an administrator sets up, and means nothing for `weft up`.
 */
const SETTINGS = [{}, { WEFT_NODE_SHARED: '/home' }];

const PLACE = 'echo "$SLURM_PROCID $SLURM_NODEID $SLURMD_NODENAME"';
/** Each shape, then files of ranks and what the script exports, then one that fails. */
const SCRIPT = `#!/bin/bash
#SBATCH --nodes=3 --ntasks-per-node=2 --mem=400M
for shape in ${SHAPES.map(([nodes, perNode]) => `"-N${nodes} -n${nodes * perNode}"`).join(' ')}; do
  srun --mpi=pmix $shape lmp -in in.short -log none | grep Loop
done
export OWN="x y"
srun --mpi=pmix -N3 -n3 -o rank.%t sh -c 'echo "$SLURM_PROCID $SLURM_NODEID $SLURMD_NODENAME $OWN"'
cat rank.*
srun --mpi=pmix -N1 -n2 sh -c 'exit $((SLURM_PROCID * 7))' 2>/dev/null
echo "failed $?"
`;

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

    // What either says of its machine is nothing to this.
    if (setting !== SETTINGS[0]) return shapes();

    it('[Z14] weft exec --pmix starts ranks of Open MPI as one step', async () => {
      const held = ['--mpi', '-n', '3', '--cpus', '2', '--', 'sleep', '3600'];
      const id = await cluster.ok('run', ...held);
      await cluster.reaches(id, 'running');
      const exec = (...words: string[]): Promise<Said> =>
        cluster.weft('exec', id, '--pmix', ...words);
      const show = 'echo "$WEFT_STEP_RANK of $WEFT_STEP_COUNT on node $WEFT_NODE_RANK, $A"';
      const said = await exec('-n', '6', '-l', '--env', 'A=b c', '--', 'sh', '-c', show);
      assert.equal(said.code, 0, said.error);
      const wanted = [0, 0, 1, 1, 2, 2].map((node, rank) => {
        return `${rank}: ${rank} of 6 on node ${node}, b c`;
      });
      assert.deepEqual(said.out.trim().split('\n').sort(), wanted);
      const failing = await exec('-n', '2', '--', 'sh', '-c', 'exit $((WEFT_STEP_RANK * 9))');
      assert.equal(failing.code, 9, failing.error);
      await cluster.refused('weft', 'exec', id, '--pmix', '--pty', '--', 'true');
      const { steps } = (await cluster.job(id)) as unknown as { steps: { command: string }[] };
      assert.deepEqual(
        steps.map(({ command }) => command.slice(0, 8)),
        ["sh -c 'e", "sh -c 'e"],
      );
      await cluster.ok('cancel', id);
      await cluster.weft('wait', id);
    });

    it('[Z14] srun --mpi=pmix starts Open MPI in each shape, with files and variables of its own', async () => {
      const bin = join(cluster.directory, 'bin');
      await cluster.ok('front', 'slurm', bin);
      const env = { ...cluster.env, ...YIELDING, PATH: `${bin}:${process.env['PATH']}` };
      writeFileSync(join(cluster.work, 'in.short'), MELT.replace('run 200', 'run 10'));
      writeFileSync(join(cluster.work, 'job.sh'), SCRIPT);
      const argv = ['sbatch', '--wait', '--output=job.out', 'job.sh'];
      const { code, out, error } = await runProgram(argv, { cwd: cluster.work, env });
      const said = readFileSync(join(cluster.work, 'job.out'), 'utf8');
      assert.equal(code, 0, `${out}${error}${said}`);
      const shapes = SHAPES.map(([nodes, perNode]) => `on ${nodes * perNode} procs`);
      assert.deepEqual(said.match(/on \d+ procs/g), shapes);
      assert.match(said, /\n0 0 n1 x y\n1 1 n2 x y\n2 2 n3 x y\n/);
      assert.match(said, /\nfailed 7\n/);
      const [id = ''] = /\d+/.exec(out) ?? [];
      const rows = ['sacct', '-n', '-P', '-j', id, '--format=jobid,ntasks,exitcode'];
      const sacct = await runProgram(rows, { cwd: cluster.work, env });
      assert.match(sacct.out, new RegExp(`^${id}\\.3\\|6\\|0:0$`, 'm'));
      assert.match(sacct.out, new RegExp(`^${id}\\.5\\|2\\|7:0$`, 'm'));
      const asked = ['srun', '-N2', '-n2', '--mem=200M', '--mpi=pmix', 'sh', '-c', PLACE];
      const outside = await runProgram(asked, { cwd: cluster.work, env });
      assert.equal(outside.code, 0, outside.error);
      assert.deepEqual(outside.out.trim().split('\n').sort(), ['0 0 n1', '1 1 n2']);
    });

    shapes();
    function shapes(): void {
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
    }
  });
}
