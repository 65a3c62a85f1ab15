// Real MPI programs on hosts that share one directory: Open MPI and MPICH start their ranks through
// weft-rsh, and what runs on the other host is of the job there: its group, its usage, and its end.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Gate, HostedCluster, type JobShown } from './support/hosted-cluster.ts';
import { until } from './support/hosts.ts';
import { repository, runProgram } from './support/local-cluster.ts';
import { AS_ROOT, MELT, PROGRAM, SHAPES, YIELDING } from './support/mpi-programs.ts';

/** A rank leaves a receipt: its host, its group, and who it is. Then it is the program. */
const RANK = `#!/bin/sh
rank="\${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
{ hostname; grep -o 'weft-[^/]*/g[0-9]*$' /proc/self/cgroup | sort -u; } > "$RANKS/$rank.part"
mv "$RANKS/$rank.part" "$RANKS/$rank"
exec "$@"
`;

/** Until the gate is open. */
const WAITER = `#!/bin/sh
until [ -e "$1" ]; do sleep 0.1; done
`;

const RANKS_PER_NODE = 2;
const RANK_COUNT = 2 * RANKS_PER_NODE;

interface MpiJob extends JobShown {
  readonly usage: { readonly userUs: number; readonly systemUs: number };
}

describe('MPI on hosts', () => {
  let cluster: HostedCluster;
  let ranks = '';
  const submitted: number[] = [];
  const path = (name: string): string => join(cluster.directory, name);

  before(async () => {
    cluster = await HostedCluster.start(3);
    ranks = path('ranks');
    writeFileSync(path('rank.sh'), RANK, { mode: 0o755 });
    writeFileSync(path('waiter.sh'), WAITER, { mode: 0o755 });
    writeFileSync(path('in.melt'), MELT);
    writeFileSync(path('sum.c'), PROGRAM);
    execFileSync('mpicc.mpich', ['-O1', '-o', path('sum'), path('sum.c')]);
  });
  after(() => cluster?.close());
  afterEach(async () => {
    // What a test that failed has left must not fail those after it.
    for (const id of submitted.splice(0)) {
      const { state } = await cluster.job(id);
      if (state !== 'done') await cluster.call('POST', `/v1/jobs/${id}/cancel`);
    }
    await cluster.clean().catch((error: unknown) => {
      throw new Error(`${String(error)}\n${cluster.logs()}`);
    });
    await until('no process of any rank is left', () => left().length === 0);
  });

  /** Command lines of what jobs run, on all hosts. */
  function left(): string[] {
    const words = /mpirun|mpiexec|orted|hydra_pmi|weft-rsh|weft-srun|rank\.sh|waiter\.sh|lmp|\/sum/;
    return cluster.members
      .flatMap(({ host }) => host.processes())
      .filter((line) => words.test(line));
  }

  async function submit(argv: readonly string[], more: object = {}): Promise<number> {
    rmSync(ranks, { recursive: true, force: true });
    mkdirSync(ranks);
    const environment = {
      RANKS: ranks,
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      ...AS_ROOT,
      ...YIELDING,
      // UCX takes two hosts of one kernel for one machine, and waits for memory they do not share.
      UCX_TLS: 'tcp,self',
    };
    const { jobId } = await cluster.call<{ jobId: number }>('POST', '/v1/jobs', {
      program: { kind: 'argv', argv },
      nodeCount: 2,
      cpuCount: RANKS_PER_NODE,
      memoryBytes: 512 * 2 ** 20,
      mpi: {},
      environment,
      directory: { kind: 'shared', path: cluster.directory },
      nodeNames: ['n1', 'n2'],
      files: { stdout: '%j.out', stderr: '%j.err' },
      ...more,
    });
    submitted.push(jobId);
    return jobId;
  }

  const waiting = (gate: Gate, more: object = {}): Promise<number> =>
    submit(['mpirun.openmpi', path('rank.sh'), path('waiter.sh'), gate.path], more);

  async function completed(id: number): Promise<MpiJob> {
    const job = (await cluster.done(id)) as MpiJob;
    assert.equal(job.outcome?.kind, 'completed', `${JSON.stringify(job.outcome)}\n${errors(id)}`);
    return job;
  }

  const outputOf = (id: number): string => readFileSync(path(`${id}.out`), 'utf8');

  function errors(id: number): string {
    return existsSync(path(`${id}.err`)) ? readFileSync(path(`${id}.err`), 'utf8') : '';
  }

  /** Host and groups of each rank that has begun, by rank. */
  function receipts(): { host: string; groups: string[] }[] {
    const names = readdirSync(ranks).filter((name) => /^\d+$/.test(name));
    return names.sort().map((name) => {
      const [host = '', ...groups] = readFileSync(join(ranks, name), 'utf8').trim().split('\n');
      return { host, groups };
    });
  }

  /** All ranks have begun; of the host that it names, or of both. */
  async function begun(id: number): Promise<void> {
    await until(`the ranks of job ${id} run`, () => receipts().length === RANK_COUNT).catch(
      (error: unknown) => {
        throw new Error(`${String(error)}\n${errors(id)}\n${left().join('\n')}\n${cluster.logs()}`);
      },
    );
  }

  function assertSpread(perNode = RANKS_PER_NODE): void {
    const found = receipts();
    const wanted = ['n1', 'n2'].flatMap((name) => Array.from({ length: perNode }, () => name));
    const hosts = found.map(({ host }) => host).sort();
    assert.deepEqual(hosts, wanted, 'as many ranks on each host as it has slots');
    for (const { host, groups } of found) {
      const of = found.filter((other) => other.host === host);
      assert.ok(groups.length > 0, `a rank on ${host} is in no group of a job`);
      for (const other of of) assert.deepEqual(other.groups, groups, `one group on ${host}`);
    }
  }

  it('Open MPI: LAMMPS runs on both, with nothing to type but mpirun', async () => {
    const command = ['mpirun.openmpi', path('rank.sh'), 'lmp', '-in', 'in.melt', '-log', 'none'];
    // No more ranks than the smallest machine has cpus: they spin while they wait for each other.
    const id = await submit(command, { cpuCount: 1 });
    await completed(id);
    assertSpread(1);
    assert.match(outputOf(id), /Loop time of .* on 2 procs/);
  });

  it('MPICH: a program runs on both, and all its cpu time is the job’s', async () => {
    const id = await submit(['mpiexec.hydra', path('rank.sh'), path('sum'), 'busy']);
    const { usage } = await completed(id);
    assertSpread();
    assert.match(outputOf(id), /4 ranks, sum 6/);
    const seconds = (usage.userUs + usage.systemUs) / 1e6;
    assert.ok(seconds >= RANK_COUNT, `${RANK_COUNT} ranks of 1 s each, ${seconds} s counted`);
  });

  for (const [nodeCount, cpuCount] of SHAPES) {
    it(`[A31] Open MPI and MPICH run ${nodeCount} × ${cpuCount} ranks`, async () => {
      const count = nodeCount * cpuCount;
      const shape = { nodeCount, cpuCount, nodeNames: ['n1', 'n2', 'n3'] };
      const melt = await submit(['mpirun.openmpi', 'lmp', '-in', 'in.melt', '-log', 'none'], shape);
      await completed(melt);
      assert.match(outputOf(melt), new RegExp(`Loop time of .* on ${count} procs`));
      const sum = await submit(['mpiexec.hydra', path('sum')], shape);
      await completed(sum);
      assert.match(outputOf(sum), new RegExp(`${count} ranks, sum ${(count * (count - 1)) / 2}`));
    });
  }

  for (const [nodeCount, cpuCount] of SHAPES) {
    it(`[Z11] a step is ${nodeCount} × ${cpuCount} ranks of MPICH, without mpiexec`, async () => {
      const count = nodeCount * cpuCount;
      const shape = { nodeCount, cpuCount, nodeNames: ['n1', 'n2', 'n3'] };
      const id = await submit(['sleep', '600'], shape);
      const ranks = ['--per-node', '-n', String(cpuCount), '--pmi', '--', path('sum')];
      const argv = [process.execPath, join(repository, 'bin', 'weft.mjs'), 'exec', String(id)];
      const env = { ...process.env, WEFT_SOCKET: cluster.socketPath };
      const said = await runProgram([...argv, ...ranks], { cwd: cluster.directory, env });
      assert.deepEqual(said, {
        code: 0,
        out: `${count} ranks, sum ${(count * (count - 1)) / 2}\n`,
        error: '',
      });
      await cluster.call('POST', `/v1/jobs/${id}/cancel`);
      await cluster.done(id);
    });
  }

  it('[X5] srun starts ranks on two hosts, in a script and outside of jobs', async () => {
    const bin = path('bin');
    const weft = [process.execPath, join(repository, 'bin', 'weft.mjs')];
    const env = {
      ...process.env,
      WEFT_SOCKET: cluster.socketPath,
      PATH: `${bin}:${process.env['PATH']}`,
    };
    const run = async (...argv: readonly string[]): Promise<string> => {
      const { code, out, error } = await runProgram(argv, { cwd: cluster.directory, env });
      assert.equal(code, 0, `${argv.join(' ')}: ${out}${error}`);
      return out.trim();
    };
    await run(...weft, 'front', 'slurm', bin);
    const rank = `sh -c 'echo "$SLURM_PROCID $SLURMD_NODENAME $(hostname) $THREADS"'`;
    const lines = [
      '#!/bin/sh',
      '#SBATCH -N 2 --ntasks-per-node=2 -w n[1-2] --mem=512',
      // What a script exports is for all of its ranks, on whichever node.
      'export THREADS="4 of 8"',
      `srun ${rank}`,
    ];
    writeFileSync(path('ranks.sbatch'), `${lines.join('\n')}\nsrun -N1 -n1 -w n2 ${rank}\n`);
    const id = Number(await run('sbatch', '--parsable', 'ranks.sbatch'));
    submitted.push(id);
    await completed(id);
    const said = readFileSync(path(`slurm-${id}.out`), 'utf8')
      .trim()
      .split('\n');
    const hosts = new Map(said.map((line) => line.split(' ').slice(1, 3) as [string, string]));
    for (const line of said) assert.match(line, / 4 of 8$/);
    assert.deepEqual([...hosts.keys()].sort(), ['n1', 'n2'], said.join('|'));
    assert.notEqual(hosts.get('n1'), hosts.get('n2'));
    const numbers = said.slice(0, RANK_COUNT).map((line) => line.split(' ')[0]);
    assert.deepEqual(numbers.sort(), ['0', '1', '2', '3']);
    assert.match(said.at(-1) ?? '', /^0 n2 /);
    const outside = await run('srun', '-N2', '-w', 'n[1-2]', '-l', 'sh', '-c', 'hostname');
    const labelled = outside.split('\n').sort();
    assert.deepEqual(labelled, [`0: ${hosts.get('n1')}`, `1: ${hosts.get('n2')}`]);
  });

  it('a cancelled job leaves no rank on any host', async () => {
    const id = await waiting(cluster.gate());
    await begun(id);
    await cluster.call('POST', `/v1/jobs/${id}/cancel`);
    assert.equal((await cluster.done(id)).outcome?.kind, 'cancelled');
    assert.deepEqual(left(), []);
  });

  it('a time limit ends the ranks of both hosts', async () => {
    const id = await waiting(cluster.gate(), { walltimeMs: 5000 });
    assert.equal((await cluster.done(id)).outcome?.kind, 'timeout');
    assert.deepEqual(left(), []);
  });

  it('ranks outlive head and agents, and the job ends as they do', async () => {
    const gate = cluster.gate();
    const id = await waiting(gate);
    await begun(id);
    await cluster.killHead();
    for (const member of cluster.members) await cluster.killAgent(member);
    for (const member of cluster.members) await cluster.startAgent(member);
    await cluster.startHead();
    await cluster.nodesUp();
    gate.open();
    await completed(id);
  });

  it('a host lost with its ranks starts the whole job again', async () => {
    const gate = cluster.gate();
    const id = await waiting(gate, { onNodeLoss: { kind: 'requeue' } });
    await begun(id);
    const { host } = cluster.member('n2');
    await host.powerOff();
    rmSync(ranks, { recursive: true });
    mkdirSync(ranks);
    await host.powerOn();
    await cluster.startAgent(cluster.member('n2'));
    await begun(id);
    gate.open();
    await completed(id);
    assertSpread();
  });

  it('an exit code of a rank is the job’s', async () => {
    const id = await submit([
      'mpirun.openmpi',
      'sh',
      '-c',
      'exit $((OMPI_COMM_WORLD_RANK / 3 * 5))',
    ]);
    const { outcome } = await cluster.done(id);
    assert.equal(outcome?.kind, 'failed');
    assert.match(outcome?.detail ?? '', /exited with code 5/);
  });

  it('a step goes to no other node than those of its job', async () => {
    const id = await submit(['sh', '-c', '"$WEFT_RSH" head true'], { nodeCount: 1 });
    assert.equal((await cluster.done(id)).outcome?.kind, 'failed');
    assert.match(errors(id), /'head' is not a node of this job; it has n\d/);
  });
});
