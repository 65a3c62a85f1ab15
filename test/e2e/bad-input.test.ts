// What people type wrong, on a real cluster: each time one clear message with the exit code of its
// kind, nothing accepted, and the jobs before and after unharmed.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { LocalCluster } from './support/local-cluster.ts';

type Case = readonly [argv: string, code: number, words: RegExp];

/** Arguments are separated by blanks; none here needs quotes. */
const REFUSED: readonly Case[] = [
  ['run --frobnicate true', 2, /unknown option '--frobnicate'/],
  ['runn true', 2, /unknown command 'runn'. Did you mean 'weft run'/],
  ['node frob n1', 2, /unknown command 'frob'/],
  ['run', 2, /missing required argument 'command'/],
  ['jobs extra', 2, /'extra' is not a job id; write 42/],
  ['jobs --state frob', 2, /'frob' is unknown.*\n.*pending, /],
  ['jobs -o xml', 2, /'xml' is not a format; write json/],
  ['jobs -a -o template={{nam}}', 2, /no field 'nam' in the template. Did you mean 'name'/],
  ['jobs --limit 0', 2, /'0' is not a count from 1/],
  ['config show --config no-such-file', 2, /no-such-file: cannot be read/],
  ['config show --config bad.yaml', 2, /bad.yaml:2:3: unknown key 'head.lisen'.*'head.listen'/],
  ['submit no-such-script', 2, /no-such-script: cannot be read: no such file or directory/],
  ['submit bad.sh', 2, /bad.sh:3:7: unknown option '--frob'/],
  // Paths that no node has, when all nodes are on this machine.
  ['run --chdir /no/such/place true', 2, /--chdir: \/no\/such\/place does not exist/],
  ['run --chdir /etc/passwd true', 2, /--chdir: \/etc\/passwd is not a directory/],
  ['run --stdin no-such-file cat', 2, /--stdin: \S+\/no-such-file does not exist/],
  // Units and numbers.
  ['run --memory 5Q true', 2, /'5Q' is not a size; write 512M/],
  ['run --time 5x true', 2, /'5x' is not a duration; write 90s/],
  ['run --time -5s true', 2, /'-5s' is not a duration/],
  ['run -n 0 true', 2, /--nodes: '0' is less than 1/],
  ['run -n -1 true', 2, /--nodes: '-1' is less than 1/],
  ['run --cpus 1e9 true', 2, /'1e9' is not a whole number/],
  ['run --cpus -1 true', 2, /--cpus: '-1' is less than 0/],
  ['run --memory 99999999999999999999T true', 2, /larger than any machine/],
  ['run -p 5000 true', 2, /--procs: '5000' is more than 4096/],
  ['run -n 10001 true', 2, /--nodes: '10001' is more than 10000/],
  ['run --needs= true', 2, /--needs: names no label; `weft node list -o wide`/],
  ['history --outcome fine', 2, /--outcome: 'fine' is unknown/],
  ['history --state pending', 2, /--state: 'pending' is unknown.*\n.*active, done/],
  ['token create --expires 5000d', 2, /'5000d' is not between 1s and 366d; write never/],
  ['token create --user 5', 2, /expected a login name: a letter, then letters, digits/],
  ['token revoke -- -', 2, /expected the id of a token/],
  ['up --nodes 100000', 2, /--nodes: '100000' is too large; it must be at most 1024/],
  ['run --array 5-1 true', 2, /'5-1' is not an array; write 0-99/],
  ['run --array 0-2000000 true', 2, /more than 1000000 tasks; split the array/],
  ['run --array 0-3%0 true', 2, /array/],
  ['run --nice 500 true', 2, /--nice: '500' is more than 100/],
  ['run --retries -1 true', 2, /--retries: '-1' is less than 0/],
  ['run --begin yesterday true', 2, /'yesterday' is not a time; write \+2h/],
  ['run --on-node-loss pray true', 2, /write requeue, wait or lease=30m/],
  ['run --resource fuel true', 2, /write name=count/],
  ['run --env =x true', 2, /no name; write NAME=value/],
  ['run --umask 999 true', 2, /'999' is not a umask/],
  ['kill --signal FROB 1', 2, /'FROB' is not a signal/],
  ['job seven', 2, /'seven' is not a job id; write 42 or 42\[7\]/],
  ['job 99999999999999999999', 2, /is not a job id/],
  // Things that are not there.
  ['job 9999', 3, /No job 9999/],
  ['job 1[7]', 3, /No job 1\[7\]/],
  ['kill 9999', 3, /No job 9999/],
  ['logs 9999', 3, /No job 9999/],
  ['logs 1 --rank 5', 2, /processes 0 to 0 on nodes 0 to 0/],
  ['why 9999', 3, /No job 9999/],
  ['history 9999', 3, /No job 9999/],
  ['node show nope', 3, /No node nope/],
  ['node drain nope', 3, /No node nope/],
  ['run --nodes-named nope true', 3, /No node nope/],
  ['run --needs nope true', 2, /No node has the label nope/],
  ['run --partition nope true', 2, /No partition nope/],
  ['run --after 9999 true', 2, /depends on 9999, which does not exist/],
  ['run --after 1:maybe true', 2, /write 42, 42:ok, 42:any, 42:fail, 42:each or 42:start/],
  ['user modify nope --role admin', 3, /No user nope/],
  ['user remove nope', 3, /No user nope/],
  ['user create daemon --role king', 2, /'king' is not a role/],
  ['token revoke nope', 3, /No token nope/],
  ['token join --expires never', 2, /must expire/],
  ['join not-a-token', 2, /not a join token; copy the whole/],
  // What the state forbids.
  ['kill 1', 5, /Job 1 is already done \(completed\)/],
  ['release 1', 5, /Job 1 is already done/],
  ['suspend 1', 5, /Job 1 is already done/],
  ['requeue 1', 5, /Job 1 is already done/],
  ['node undrain n1', 5, /Node n1 is not drained/],
  ['node lost n1', 5, /Node n1 is connected; only a silent node/],
  // What no node of this cluster could ever hold.
  [
    'run --cpus 3 true',
    2,
    /can never hold .*3 cpus.*nearest node is n1 with 2 cpus, 512M memory; it lacks 1 cpu/,
  ],
  ['run --memory 1G true', 2, /can never hold .*1G memory.*nearest node is n1 .*lacks 512M memory/],
  ['run --gpus 1 true', 2, /can never hold .*1 gpu.*nearest node is n1 .*lacks 1 gpu/],
  ['run --resource fuel=3 true', 2, /can never hold .*3 fuel.*nearest node is n1 .*lacks 3 fuel/],
  ['run -n 3 true', 2, /can never hold 3 nodes.*2 of 2 nodes could hold one part/],
];

/** Accepted, because only the node can know; the job tells what was wrong in the system's words. */
const UNLAUNCHABLE: readonly (readonly [argv: string, detail: RegExp, code?: number])[] = [
  ['no-such-program', /cannot execute no-such-program: No such file or directory \(ENOENT\)/, 127],
  ['/etc/passwd', /cannot execute \/etc\/passwd: Permission denied \(EACCES\)/],
  ['--stdin no-such-%%file cat', /no-such-%%file for reading: No such file.* \(ENOENT\)/],
  ['--output /proc/no/such true', /\/proc\/no\/such: No such file or directory \(ENOENT\)/],
];

describe('bad input by the programs', () => {
  let cluster: LocalCluster;
  before(async () => {
    cluster = await LocalCluster.start('--nodes', '2', '--listen', 'none');
    await cluster.ok('run', '--wait', 'true');
    writeFileSync(join(cluster.work, 'bad.yaml'), 'head:\n  lisen: none\n');
    writeFileSync(join(cluster.work, 'bad.sh'), '#!/bin/sh\n#WEFT -n 1\n#WEFT --frob\ntrue\n');
  });
  after(() => cluster.close());

  it('[J3] is refused with one message and the exit code of its kind, and nothing is lost', async () => {
    const running = await cluster.ok('run', '--', 'until [ -e go ]; do sleep 0.1; done; echo on');
    const count = await cluster.jobCount();
    // Two at a time: each is a program of its own, and the machine has few cores.
    const rows = REFUSED.values();
    const check = async (): Promise<void> => {
      for (const [argv, code, words] of rows) {
        const said = await cluster.refused('weft', ...argv.split(' '));
        assert.equal(said.code, code, `${argv}: ${said.error}`);
        assert.match(said.error, words, argv);
        assert.ok(said.error.trim().split('\n').length <= 2, `one message:\n${said.error}`);
      }
    };
    await Promise.all([check(), check()]);
    assert.equal(await cluster.jobCount(), count, 'nothing was accepted');
    writeFileSync(join(cluster.work, 'go'), '');
    assert.equal(await cluster.ok('wait', running), `${running} completed`);
    assert.equal(await cluster.ok('logs', running), 'on');
    await cluster.ok('run', '--wait', 'true');
  });

  it('what only the node can know ends as launch_failed with the words of the system', async () => {
    for (const [argv, detail, wanted = 126] of UNLAUNCHABLE) {
      const id = await cluster.ok('run', ...argv.split(' '));
      const { code, out } = await cluster.weft('wait', id);
      assert.equal(code, wanted, argv);
      assert.match(out, /launch_failed/, argv);
      const { outcome } = await cluster.job(id);
      assert.equal(outcome?.kind, 'launch_failed', argv);
      assert.match(outcome?.detail ?? '', detail, argv);
    }
    // The fault was the jobs', so the nodes still get work.
    await cluster.ok('run', '--wait', '-n', '2', 'true');
  });

  it('[J4] what Linux takes at most for an argument runs, and more is refused', async () => {
    const program = (length: number) => ({ kind: 'argv', argv: ['true', 'x'.repeat(length)] });
    const most = { program: program(131_071) };
    const { jobId } = await cluster.client.call<{ jobId: number }>('POST', '/v1/jobs', most);
    await cluster.weft('wait', String(jobId));
    assert.equal((await cluster.job(String(jobId))).outcome?.kind, 'completed');
    const more = cluster.client.call('POST', '/v1/jobs', { program: program(131_072) });
    await assert.rejects(more, /launch\.too_large/);
  });

  it('[J4] the largest environment that is accepted reaches its process', async () => {
    const part = 'x'.repeat(131_000 - 'V0= '.length - 8);
    const names = ['V0', 'V1', 'V2', 'V3', 'V4', 'V5'];
    const environment = Object.fromEntries(names.map((name) => [name, part]));
    const line = `test "$\{#V0}$\{#V5}" = ${part.length}${part.length}`;
    const body = { program: { kind: 'shell', line }, environment };
    const { jobId } = await cluster.client.call<{ jobId: number }>('POST', '/v1/jobs', body);
    await cluster.weft('wait', String(jobId));
    assert.equal((await cluster.job(String(jobId))).outcome?.kind, 'completed');
  });
});

describe('without a head', () => {
  const cluster = new LocalCluster();
  after(() => cluster.close());

  const VERBS: readonly (readonly [argv: string, code: number])[] = [
    ['jobs', 7],
    ['run true', 7],
    ['kill 1', 7],
    ['logs 1', 7],
    ['logs -f 1', 7],
    ['info', 7],
    // These exit with the job's own code, so 125 is theirs to say that they cannot know it.
    ['run --wait true', 125],
    ['wait 1', 125],
  ];
  for (const [argv, code] of VERBS) {
    it(`weft ${argv} says so at once`, async () => {
      const startedAt = performance.now();
      const said = await cluster.weft(...argv.split(' '));
      assert.equal(said.code, code, said.error);
      assert.match(said.error, /No head answers at .*weft.sock: there is no such socket/);
      assert.match(said.error, /weft up/, 'and what to do');
      assert.ok(performance.now() - startedAt < 60_000, 'without waiting for one');
    });
  }
});
