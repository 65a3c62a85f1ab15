// OAR's own outputs, in all states, read by its adaptor; and answers that must not be believed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oar } from '../../../../../src/wings/sites/adaptors/oar/oar.ts';
import { queuesOff } from '../../../../../src/wings/sites/adaptors/oar/steer.ts';
import { PLAIN_SITE_JOB } from '../../../../support/plain.ts';
import { recorded, recordedNames } from './recorded.ts';

const adaptor = oar(queuesOff(30_000));

function jobsOf(name: string) {
  const read = adaptor.jobs.read(recorded(`oar/${name}.txt`));
  assert.ok(read.ok, name);
  return read.value;
}

test('every recorded listing is read whole, and no state in it is unknown', () => {
  const names = recordedNames('oar', '.txt').filter((name) => name.includes('oarstat-fJ'));
  assert.ok(names.length >= 15);
  for (const name of names) {
    const read = adaptor.jobs.read(recorded(name));
    assert.ok(read.ok && read.value.length > 0, name);
    assert.deepEqual(
      read.value.filter((job) => job.state === 'unknown').map((job) => job.word),
      [],
      name,
    );
  }
});

test('a job is read with its owner, limits and nodes', () => {
  const job = jobsOf('11-oarstat-fJ').find(({ id }) => id === '5');
  assert.deepEqual(job, {
    ...PLAIN_SITE_JOB,
    id: '5',
    name: 'ok-1',
    owner: 'alice',
    state: 'running',
    word: 'Running',
    queue: 'default',
    submittedAt: 1_795_313_362_000,
    startedAt: 1_795_313_363_000,
    walltimeMs: 300_000,
    nodes: ['n1'],
  });
  assert.equal(jobsOf('11-oarstat-fJ').find(({ id }) => id === '7')?.state, 'starting');
});

test('ends have code or signal; what OAR killed without a word of its node has none', () => {
  const of = (name: string) => {
    const [job] = jobsOf(name);
    return [job?.state, job?.exit, job?.reason];
  };
  assert.deepEqual(of('12-oarstat-fJ-exit3').slice(0, 2), ['ended', { code: 3 }]);
  assert.deepEqual(of('12-oarstat-fJ-signal9').slice(0, 2), ['ended', { signal: 9 }]);
  assert.deepEqual(of('25-oarstat-fJ-walltime'), ['ended', { signal: 9 }, 'WALLTIME']);
  const killed = ['ended', { signal: 9 }, 'FRAG_JOB_REQUEST'];
  assert.deepEqual(of('24-oarstat-fJ-deleted-running'), killed);
  assert.deepEqual(of('24-oarstat-fJ-deleted-waiting').slice(0, 2), ['ended', null]);
  assert.deepEqual(of('72-oarstat-fJ-lost'), ['ended', null, 'EXTERMINATE_JOB']);
});

test('evidence of an end is an exit status, and nothing less', () => {
  const end = adaptor.end?.('6') ?? assert.fail('no ends');
  assert.deepEqual(end.command.argv.slice(-1), ['job_id = 6']);
  assert.deepEqual(adaptor.end?.("6' OR 1").command.argv.slice(-1), ['job_id = 0']);
  const found = end.read(recorded('oar/12-oarstat-fJ-exit3.txt'));
  assert.ok(found.ok);
  assert.deepEqual(found.value?.exit, { code: 3 }, 'sh');
  for (const none of ['72-oarstat-fJ-lost', '11-oarstat-fJ', '12-oarstat-sql-none']) {
    assert.deepEqual(end.read(recorded(`oar/${none}.txt`)), { ok: true, value: null }, none);
  }
});

test('a job that is over is known no more', () => {
  const known = adaptor.known?.('15') ?? assert.fail('it cannot be asked');
  assert.deepEqual(known.command.argv.slice(-1), ['job_id = 15']);
  const said = (name: string) => known.read(recorded(`oar/${name}.txt`));
  assert.deepEqual(said('21-oarstat-fJ-waiting'), { ok: true, value: true });
  assert.deepEqual(said('24-oarstat-fJ-deleted-waiting'), { ok: true, value: false });
  assert.deepEqual(said('12-oarstat-sql-none'), { ok: true, value: false });
});

test('nothing printed is no job, and a cut or foreign answer is not believed', () => {
  assert.deepEqual(jobsOf('01-oarstat-empty-J'), []);
  const whole = recorded('oar/11-oarstat-fJ.txt');
  for (const stdout of [
    whole.stdout.slice(0, whole.stdout.length / 2),
    'hello',
    '{"5": {}}',
    '[]',
  ]) {
    const read = adaptor.jobs.read({ ...whole, stdout });
    assert.ok(!read.ok && read.error.kind === 'unreadable', stdout.slice(0, 20));
  }
  const away = adaptor.jobs.read(recorded('oar/71-oarstat-db-down.txt'));
  assert.ok(!away.ok && away.error.kind === 'away');
});

test('nodes are idle, used, stopped, or down', () => {
  const of = (name: string) => {
    const read = adaptor.nodes.read(recorded(`oar/${name}.txt`));
    assert.ok(read.ok, name);
    return read.value
      .map((node) => `${node.name} ${node.state} ${node.cpusUsed}/${node.cpuCount}`)
      .sort();
  };
  assert.deepEqual(
    of('02-oarnodes-J'),
    ['n1', 'n2', 'n3', 'n4'].map((name) => `${name} idle 0/2`),
  );
  assert.ok(of('11-oarnodes-busy-J').includes('n1 running 1/2'));
  assert.deepEqual(of('31-oarnodes-maint'), ['n3 stopped 0/2']);
  assert.deepEqual(of('32-oarnodes-drain'), ['n4 stopped 0/2']);
  assert.ok(of('72-oarnodes-cut-J').some((line) => line.includes(' down ')));
});

test('queues are on or off, and off is what steering needs', () => {
  const [requirement] = adaptor.steering?.requirements ?? [];
  const isMet = (name: string) => requirement?.query.read(recorded(`oar/${name}.txt`));
  assert.deepEqual(isMet('40-oarnotify-l'), { ok: true, value: true });
  assert.deepEqual(isMet('03-oarnotify-l'), { ok: true, value: false });
  const wrong = adaptor.queues.read({ stdout: 'default\n', stderr: '', code: 0 });
  assert.equal(wrong.ok, false);
});

const SUBMISSION = {
  scriptFile: "/scratch/it's",
  name: 'weft-c1-42.0-1',
  script: "#!/bin/sh\necho 'a'\n",
  queue: null,
  account: null,
  walltimeMs: 3_725_000,
  nodeCount: 2,
  cpuCount: 1,
  memoryBytes: null,
  directory: '/scratch/a b',
  stdout: '/scratch/o',
  stderr: '/scratch/e',
  options: [],
};

test('a submission is one argument vector with the file of the script as its last word', () => {
  const { command, read } = adaptor.submit(SUBMISSION);
  assert.deepEqual(command.argv, [
    ...['oarsub', '-n', 'weft-c1-42.0-1', '-d', '/scratch/a b', '-O', '/scratch/o'],
    ...['-E', '/scratch/e', '-l', '/nodes=2/core=1,walltime=1:2:5'],
    // Anybody may read it: nothing of the script itself.
    "sh '/scratch/it'\\''s'",
  ]);
  assert.deepEqual(read(recorded('oar/10-oarsub-ok.txt')), { ok: true, value: '5' });
  const refused = read(recorded('oar/20-oarsub-bad-queue.txt'));
  assert.ok(!refused.ok && refused.error.kind === 'refused');
  assert.match(refused.error.text, /The queue nosuch does not exist/);
});

test('a server that is away says that the job is killed, and has it all the same', () => {
  const { read } = adaptor.submit(SUBMISSION);
  const answer = read(recorded('oar/70-oarsub-almighty-down.txt'));
  // Looked up by name before anything is submitted again.
  assert.ok(!answer.ok && answer.error.kind === 'away');
});

test('cancelling says whether the job was there', () => {
  const { read } = adaptor.cancel('27');
  assert.ok(read(recorded('oar/24-oardel-running.txt')).ok);
  const again = read(recorded('oar/24-oardel-again.txt'));
  assert.ok(!again.ok && again.error.kind === 'no_such_job');
  const other = read(recorded('oar/24-oardel-other.txt'));
  assert.ok(!other.ok && other.error.kind === 'refused');
});

test('a waiting job says what it asks for', () => {
  const [job] = jobsOf('21-oarstat-fJ-waiting');
  const { nodeCount, cpuCount, walltimeMs, state } = job ?? assert.fail('no job');
  assert.deepEqual([nodeCount, cpuCount, walltimeMs, state], [1, 2, 120_000, 'waiting']);
});

/** A listing of one waiting job that is changed, and of another. */
function changedListing(changes: object, of = adaptor) {
  const { stdout } = recorded('oar/21-oarstat-fJ-waiting.txt');
  const [[id, job] = assert.fail('no job')] = Object.entries(JSON.parse(stdout));
  const other = { ...(job as object), Job_Id: 7, state: 'Running' };
  const listing = { [id]: { ...(job as object), ...changes }, 7: other };
  const read = of.jobs.read({ stdout: JSON.stringify(listing), stderr: '', code: 0 });
  assert.ok(read.ok);
  return read.value.find((one) => one.id === id);
}

test('a name is read as it was given, whatever it is made of', () => {
  const name = 'a;b|c,[1-3] "d" \'e\'\n# SC=0 ARG=1';
  const job = changedListing({ name, initial_request: `oarsub -n ${name} ./ok.sh 1` });
  assert.deepEqual([job?.name, job?.state], [name, 'waiting']);
});

test('size and limit are read before OAR says them elsewhere', () => {
  const job = changedListing({
    walltime: null,
    message: 'R=6,W=1:30:0,J=B',
    wanted_resources: `-l "{type = 'default'}/network_address=3/core=2,walltime=1:30:0" -l "/host=9"`,
  });
  assert.deepEqual([job?.nodeCount, job?.cpuCount, job?.walltimeMs], [3, 6, 5_400_000]);
});

test('what is not for us to start is held: behind another job, at its time, on conditions', () => {
  const of = (changes: object) => {
    const job = changedListing(changes);
    return [job?.state, job?.reason];
  };
  assert.deepEqual(of({ dependencies: ['7'] }), ['held', 'it waits for job 7 (oarsub -a)']);
  assert.deepEqual(of({ dependencies: ['6'] }), ['waiting', null]);
  const reserved = of({ reservation: 'Scheduled' });
  assert.deepEqual(reserved, ['held', 'OAR itself starts it at its time (oarsub -r)']);
});

test('conditions are found in every form that oarsub takes them, and only there', () => {
  const stateOf = (request: string, more: object = {}) =>
    changedListing({ initial_request: request, command: './ok.sh 1', name: 'x', ...more })?.state;
  for (const options of [
    ...['-p a=1', "-pa='1'", '-t besteffort', '-tbesteffort', '-l /core=1 -It deploy'],
    ...['--property a=1', '--property=a', '--prop=a', '--type deploy', '--t deploy', '--ty=deploy'],
  ]) {
    assert.equal(stateOf(`oarsub ${options} ./ok.sh 1`), 'held', options);
    assert.equal(stateOf(`oarsub ./ok.sh ${options}`, { command: './ok.sh' }), 'held', options);
  }
  for (const line of ['#OAR -t besteffort', '#OAR -l /core=1; #OAR -p a=1', '#OAR -pa=1']) {
    assert.equal(stateOf(`oarsub -S ./ok.sh 1; ${line}`), 'held', line);
  }
  const free = [
    ['oarsub mkdir -p a', { command: 'mkdir -p a' }],
    ['oarsub -n a -t b ./ok.sh 1', { name: 'a -t b' }],
    ['oarsub -S run -p 1; #OAR -l /core=1', { command: 'run -p 1' }],
    ['oarsub --project p -l /core=1 -O /a-p -E /b-t ./ok.sh 1', {}],
    ['oarsub --stdout=x --hold ./ok.sh 1', {}],
  ] as const;
  for (const [request, more] of free) {
    assert.notEqual(stateOf(request, more), 'held', request);
  }
});

/** What a job given with these words is: where it is to run, or why it is held. */
function asked(options: string, own: string, more: object = {}) {
  const rules = own === '' ? "desktop_computing = 'NO'" : `(${own}) AND desktop_computing = 'NO'`;
  const job = changedListing({
    initial_request: `oarsub ${options} ./ok.sh 1`,
    command: './ok.sh 1',
    name: 'x',
    properties: `(${rules}) AND drain='NO'`,
    ...more,
  });
  return job?.state === 'held' ? job.reason : job?.where;
}

test('[G16] nodes that a condition names are planned, however it names them', () => {
  for (const [condition, where] of [
    ["network_address = 'n2'", { only: ['n2'] }],
    ["host='n2'", { only: ['n2'] }],
    ["HOST = 'n1.x-y.org' or network_address='n2'", { only: ['n1.x-y.org', 'n2'] }],
    ["network_address in ('n1', 'n3')", { only: ['n1', 'n3'] }],
    ["network_address in ('n1','n3') and (host != 'n1')", { only: ['n1', 'n3'], not: ['n1'] }],
    ["host in ('n1','n2') AND (host = 'n2' OR host='n3')", { only: ['n2'] }],
    ["network_address NOT IN ('n4') AND host <> 'n5'", { not: ['n4', 'n5'] }],
  ] as const) {
    assert.deepEqual(asked(`-p ${condition}`, condition), where, condition);
    // Quotes of a line in a script are not those of the condition.
    assert.deepEqual(asked(`--prop="${condition}"`, condition), where, condition);
  }
  const raw = { properties: "host='n2'" };
  assert.deepEqual(asked("-p host='n2'", '', raw), { only: ['n2'] }, 'the site has no rules');
});

test('[G16] what a condition asks for beside nodes holds its job', () => {
  for (const condition of [
    'mem > 1000',
    "host = 'n1' AND gpu = 1",
    "(host='n1') AND gpu='1'",
    "host = 'n1' OR gpu = 1",
    "NOT host = 'n1'",
    "host like 'n%'",
    'host in (select network_address from resources)',
    // What is no condition by itself.
    'true) OR (true',
    "host='n1') OR (host='n2'",
  ]) {
    assert.match(
      String(asked(`-p ${condition}`, condition)),
      /conditions \(oarsub -p\)/,
      condition,
    );
  }
  assert.match(String(asked('-t besteffort', '')), /^it asks for a type \(oarsub -t\)/);
  assert.equal(asked('', '', { types: ['added by a rule'] }), undefined);
  // Where its own scheduler starts it, it is that one's matter.
  const typed = { initial_request: 'oarsub -t besteffort ./ok.sh', command: './ok.sh' };
  assert.equal(changedListing(typed)?.state, 'held');
  assert.equal(changedListing(typed, oar(null))?.state, 'waiting');
});

test('[G16] nodes in braces are planned, and amounts that no plan has hold a job', () => {
  const wants = (text: string, options = '') =>
    asked(options, '', { wanted_resources: `-l "${text},walltime=0:2:0" ` });
  assert.deepEqual(wants("{(host='n2') AND type = 'default'}/core=1", "-l {host='n2'}/core=1"), {
    only: ['n2'],
  });
  assert.equal(wants("{(mem > 1) AND type = 'default'}/core=1", '-l {mem > 1}/core=1'), undefined);
  for (const [text, words] of [
    ["{type = 'default'}/switch=1/network_address=2", /switch=1 \(oarsub -l\)/],
    ["{type = 'default'}/network_address=ALL", /network_address=ALL/],
    ["{type = 'default'}/core=1+{type = 'x'}/core=1", /several groups of resources/],
  ] as const) {
    assert.match(String(wants(text)), words);
  }
});

const steering = adaptor.steering ?? assert.fail('not steered');

test('a start is one transaction and a word to the server', () => {
  const [assign, tell] = steering.start({ id: '7', handle: null }, ['n2', 'n4']);
  assert.deepEqual(assign?.argv.slice(0, 2), ['sh', '-c']);
  assert.match(assign?.input ?? '', /ARRAY\['n2', 'n4'\]/);
  assert.deepEqual(tell?.argv, ['oarnotify', 'OARRUNJOB_7']);
});

test('nothing but digits and names comes into a statement', () => {
  const [assign, tell] = steering.start({ id: "7'; --", handle: null }, ["n2'", 'n4']);
  assert.match(assign?.input ?? '', /wanted bigint := 0;/);
  assert.match(assign?.input ?? '', /ARRAY\['n4'\]/);
  assert.deepEqual(tell?.argv, ['oarnotify', 'OARRUNJOB_0']);
});

test('what users have typed is run by an account that cannot write, and never by the writing one', () => {
  const [assign] = steering.start({ id: '7', handle: null }, ['n2', 'n4']);
  const shell = assign?.argv[2] ?? '';
  const [look = '', ...rest] = (assign?.input ?? '').split('\n');
  const write = rest.join('\n');
  assert.match(look, /EXECUTE format.*own.*condition/);
  assert.doesNotMatch(write, /EXECUTE|format|properties|res_group_property/);
  assert.match(write, /resource_id = ANY \(eligible\)/);
  assert.match(write, /drain = 'NO'/);
  assert.ok(shell.indexOf('DB_BASE_LOGIN_RO') < shell.indexOf('"$DB_BASE_LOGIN"'));
  const [, , reader] = steering.requirements;
  assert.match(
    reader?.query.command.argv[2] ?? '',
    /ask "\$DB_BASE_LOGIN_RO" "\$DB_BASE_PASSWD_RO"$/,
  );
});

test('a database that hangs gives up before the gateway does, with every statement', () => {
  const hung = oar(queuesOff(30_000)).steering ?? assert.fail('not steered');
  const [, mayWrite, mayRead] = hung.requirements.map(({ query }) => query.command);
  const [assign] = hung.start({ id: '7', handle: null }, ['n2']);
  for (const command of [mayWrite, mayRead, assign]) {
    assert.match(command?.argv[2] ?? '', /^wait=3; .*PGCONNECT_TIMEOUT="\$wait"/);
    assert.match(command?.input ?? '', /^SET statement_timeout = 7500; /);
  }
  // A start asks two accounts, one after the other: 2 × (3 + 7.5) s.
  const [look, write] = (assign?.input ?? '').split(/\n(?=SET)/);
  assert.match(look ?? '', /^SET statement_timeout = 7500; DO .*EXECUTE/);
  assert.match(write ?? '', /^SET statement_timeout = 7500; DO \$weft\$\n/);
  const [impatient] = (oar(queuesOff(1000)).steering ?? assert.fail()).start(
    { id: '7', handle: null },
    ['n2'],
  );
  assert.match(impatient?.input ?? '', /^SET statement_timeout = 250; /);
});

test('a database that gives up, or takes no connection, is away', () => {
  const kindOf = (stderr: string, code = 3) => {
    const read = steering.read({ stdout: '', stderr, code }, 'sh');
    return read.ok ? 'ok' : read.error.kind;
  };
  assert.equal(
    kindOf('psql:<stdin>:1: ERROR:  canceling statement due to statement timeout\n'),
    'away',
  );
  const words = 'psql: error: connection to server at "db" (10.0.0.1), port 5432 failed:';
  assert.equal(kindOf(`${words} timeout expired\n`, 2), 'away');
  assert.equal(kindOf(`${words} FATAL:  sorry, too many clients already\n`, 2), 'away');
});

test('a start that the database refuses is said in its words', () => {
  const read = (words: string) =>
    steering.read({ stdout: '', stderr: `psql:<stdin>:28: ERROR:  ${words}\n`, code: 3 }, 'sh');
  const gone = read('there is no job 7');
  assert.ok(!gone.ok && gone.error.kind === 'no_such_job');
  const busy = read('n1 has 0 free cores for job 7, which needs 2');
  assert.ok(!busy.ok && busy.error.kind === 'refused');
  assert.equal(busy.error.text, 'psql: n1 has 0 free cores for job 7, which needs 2');
});

test('what keeps a node from being changed is said in the name of the program that was run', () => {
  const refused = steering.read(
    { stdout: '', stderr: 'no such host: n1', code: 1 },
    'oarnodesetting',
  );
  assert.ok(!refused.ok && refused.error.text === 'oarnodesetting: no such host: n1');
});

test('without an account of the database a site cannot be steered', () => {
  const [, requirement] = steering.requirements;
  const read = (stdout: string, code: number, stderr = '') =>
    requirement?.query.read({ stdout, stderr, code });
  assert.deepEqual(read('t\n', 0), { ok: true, value: true });
  assert.deepEqual(read('f\n', 0), { ok: true, value: false });
  const denied = read('', 2, 'sh: 1: .: cannot open /etc/oar/oar.conf: Permission denied');
  assert.ok(denied?.ok === false);
  assert.match(denied.error.text, /cannot open \/etc\/oar\/oar.conf/);
});
