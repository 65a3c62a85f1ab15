// Grid Engine's own outputs, in all states, read by its adaptor; and answers that must not be
// believed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sge } from '../../../../../src/wings/sites/adaptors/sge/sge.ts';
import { tickets } from '../../../../../src/wings/sites/adaptors/sge/steer.ts';
import { parseXml } from '../../../../../src/wings/sites/adaptors/sge/xml.ts';
import { recorded, recordedNames } from './recorded.ts';

const SETTINGS = {
  queue: 'main.q',
  environment: 'one',
  oneSlotPerHost: ['one', 'spread'],
  ticket: 'ticket',
};
const adaptor = sge(SETTINGS, tickets('ticket'));
/** Most listings were recorded where jobs have no tickets. */
const submitter = sge(SETTINGS, null);

function jobsOf(name: string) {
  const read = submitter.jobs.read(recorded(`sge/${name}.txt`));
  assert.ok(read.ok, name);
  return new Map(read.value.map((job) => [job.id, job]));
}

test('every recorded listing is read whole, and no state in it is unknown', () => {
  const names = [
    ...recordedNames('sge', '.qstat-xml.txt'),
    ...recordedNames('sge', '.qstat-xml-ext.txt'),
  ].filter((name) => name !== 'sge/down.qstat-xml.txt');
  assert.ok(names.length >= 15);
  for (const name of names) {
    const read = adaptor.jobs.read(recorded(name));
    assert.ok(read.ok, name);
    assert.deepEqual(
      read.value.filter((job) => job.state === 'unknown').map((job) => job.word),
      [],
      name,
    );
  }
});

test('letters are read as waiting, held, running, suspended, deleted, restarted, in error', () => {
  const states = (name: string, ids: readonly string[]) => {
    const jobs = jobsOf(name);
    return ids.map((id) => `${id} ${jobs.get(id)?.word} ${jobs.get(id)?.state}`);
  };
  assert.deepEqual(states('running.qstat-xml', ['46', '42']), ['46 r running', '42 hqw held']);
  assert.deepEqual(states('suspended-disabled.qstat-xml', ['46', '47', '52']), [
    ...['46 s suspended', '47 S suspended', '52 r running'],
  ]);
  assert.deepEqual(states('after.qstat-xml', ['59']), ['59 Rq waiting']);
  assert.deepEqual(states('joberror.qstat-xml', ['48.2', '59', '60']), [
    ...['48.2 r running', '59 Rr running', '60 Eqw held'],
  ]);
});

test('elements of an array that wait are a set, and one that runs has an id of its own', () => {
  assert.equal(jobsOf('waiting.qstat-xml').get('48')?.elements, '1-4');
  const jobs = jobsOf('arraytask.qstat-xml');
  assert.equal(jobs.get('48')?.elements, '1');
  assert.equal(jobs.get('48.2')?.elements, null);
  assert.deepEqual(jobs.get('48.2')?.nodes, ['n4']);
});

test('a parallel job has all nodes on which it has slots', () => {
  const job = jobsOf('mixed.qstat-xml-ext').get('47') ?? assert.fail('no job 47');
  assert.deepEqual([...job.nodes].sort(), ['n2', 'n3']);
  assert.equal(job.nodeCount, 2);
  assert.equal(job.startedAt, Date.UTC(2026, 10, 22, 2, 18, 57));
});

test('names are read through Grid Engine’s own way of escaping', () => {
  assert.equal(jobsOf('waiting.qstat-xml').get('42')?.name, 'a<b>&c');
});

test('the ticket of a job is what a start needs', () => {
  const jobs = jobsOf('ticket.qstat-xml-r');
  const job = jobs.get('1') ?? assert.fail('no job 1');
  assert.equal(job.handle, '_e7058fda56e1_');
  assert.equal(job.walltimeMs, 60_000);
  assert.equal(job.nodeCount, 2);
  assert.deepEqual([jobs.get('4')?.state, jobs.get('2')?.state], ['waiting', 'held']);
  assert.deepEqual(
    adaptor.steering?.start(job, ['n2', 'n3']).map(({ argv }) => argv.join(' ')),
    [
      'qconf -mattr exechost complex_values ticket=_e7058fda56e1_ n2',
      'qconf -mattr exechost complex_values ticket=_e7058fda56e1_ n3',
      'qconf -tsm',
      'qconf -mattr exechost complex_values ticket=none n2',
      'qconf -mattr exechost complex_values ticket=none n3',
    ],
  );
});

test('[G5] one element of an array is started, the others are held for that moment', () => {
  const job = { id: '4.2', handle: '_tk_' };
  const lines = (commands: readonly { readonly argv: readonly string[] }[] = []) =>
    commands.map(({ argv }) => argv.join(' '));
  assert.deepEqual(lines(adaptor.steering?.start(job, ['n2'])), [
    ...['qhold -h s 4', 'qrls -h s 4 -t 2'],
    'qconf -mattr exechost complex_values ticket=_tk_ n2',
    'qconf -tsm',
    'qconf -mattr exechost complex_values ticket=none n2',
    'qrls -h s 4',
  ]);
  assert.equal(lines(adaptor.steering?.takeBack(job, ['n2'])).at(-1), 'qrls -h s 4');
  const left = [HELD_ARRAY, OPENED].flatMap((stdout, at) => {
    const read = adaptor.steering?.leftovers?.[at]?.read({ stdout, stderr: '', code: 0 });
    return read?.ok ? lines(read.value) : [];
  });
  assert.deepEqual(left, ['qrls -h s 1', 'qconf -mattr exechost complex_values ticket=none n2']);
});

test('elements that wait in several states are one array, held only when all of them are', () => {
  const read = (stdout: string) => {
    const jobs = adaptor.jobs.read({ stdout, stderr: '', code: 0 });
    return jobs.ok ? jobs.value.map(({ id, state, elements }) => [id, state, elements]) : null;
  };
  assert.deepEqual(read(HELD_ARRAY), [['1', 'held', '1-2,4']]);
  const line = (state: string, tasks: string) =>
    HELD_ARRAY.replace('hqw', state).replace('1,2,4', tasks);
  const [, first = '', last = ''] =
    /^([\s\S]*)(<job_list[\s\S]*<\/job_list>)/.exec(line('hqw', '2')) ?? [];
  const both = `${first}${last}${line('qw', '1,4').slice(first.length)}`;
  assert.deepEqual(read(both), [['1', 'waiting', '1-2,4']]);
});

test("[G20] what we say of a job to its user is in the job's context", () => {
  const { notes } = adaptor.steering ?? {};
  const argvOf = (words: string | null) => notes?.write('48', words).map(({ argv }) => argv);
  assert.deepEqual(argvOf('it asks for a,b=c (-l)'), [
    ['qalter', '-ac', 'weft=it asks for a;b=c (-l)', '48'],
  ]);
  assert.deepEqual(argvOf(null), [['qalter', '-dc', 'weft', '48']]);
  const read = (stdout: string, stderr = '', code = 0) =>
    notes?.written?.read({ stdout, stderr, code });
  const listed = [
    ...['job_number:                 7', 'context:                    user=3,weft=no room on n1'],
    ...[
      'job_number:                 8',
      'context:                    swift=1',
      'job_args: context',
    ],
  ].join('\n');
  assert.deepEqual(read(listed), { ok: true, value: new Map([['7', 'no room on n1']]) });
  assert.deepEqual(read('', 'Following jobs do not exist: \n*\n', 1), {
    ok: true,
    value: new Map(),
  });
  assert.equal(read('', 'unable to contact qmaster', 1)?.ok, false);
});

test('[G16] what a job wants of its nodes is read, or it is held for what nobody plans', () => {
  const asks = (lines: string, state = 'qw', of = adaptor) => {
    const words = HELD_ARRAY.replace('hqw', state).replace(
      '<hard_request',
      `${lines}<hard_request`,
    );
    const jobs = of.jobs.read({ stdout: words, stderr: '', code: 0 });
    const [job] = jobs.ok ? jobs.value : [];
    assert.equal(job?.isHeldByUs ?? false, /^it asks/.test(job?.reason ?? ''));
    return job?.where ?? `${job?.state} ${job?.reason}`;
  };
  const hard = (name: string, text: string) =>
    `<hard_request name="${name}">${text}</hard_request>`;
  const queue = (text: string) => `<hard_req_queue>${text}</hard_req_queue>`;
  assert.deepEqual(asks(hard('hostname', 'n1|n2')), { only: ['n1', 'n2'] });
  assert.deepEqual(asks(queue('main.q@n2')), { only: ['n2'], queues: ['main.q'] });
  assert.deepEqual(asks(queue('long.q')), { queues: ['long.q'] });
  assert.deepEqual(asks(hard('arch', 'lx-amd64')), { features: ['lx-amd64'] });
  assert.equal(asks(hard('h_rt', '60')), 'waiting null');
  const held = [
    ...[hard('hostname', 'n*'), hard('gpu', '1'), queue('main.q@@some'), queue('*@n1')],
    ...['<requested_pe name="mpi">2</requested_pe>', '<requested_pe name="one">2-4</requested_pe>'],
  ];
  for (const lines of held) assert.match(String(asks(lines)), /^held it asks for .*does not plan/);
  assert.equal(asks(hard('gpu', '1'), 'hqw'), 'held null');
  // Where its own scheduler starts it, it is that one's matter.
  assert.equal(asks(hard('gpu', '1'), 'qw', submitter), 'waiting null');
});

const OPENED = `<?xml version='1.0'?>
<qhost>
 <host name='global'>
   <hostvalue name='arch_string'>-</hostvalue>
 </host>
 <host name='n1'>
   <resourcevalue name='ticket' dominance='hf'>none</resourcevalue>
 </host>
 <host name='n2'>
   <resourcevalue name='ticket' dominance='hf'>_a_</resourcevalue>
 </host>
</qhost>`;

const HELD_ARRAY = `<?xml version='1.0'?>
<job_info>
  <queue_info>
  </queue_info>
  <job_info>
    <job_list state="pending">
      <JB_job_number>1</JB_job_number>
      <JAT_prio>0.00000</JAT_prio>
      <JB_name>sleep</JB_name>
      <JB_owner>nobody</JB_owner>
      <state>hqw</state>
      <JB_submission_time>2026-11-23T20:09:38</JB_submission_time>
      <queue_name></queue_name>
      <slots>1</slots>
      <tasks>1,2,4</tasks>
      <hard_request name="ticket" resource_contribution="0.000000">*_100aa400f122_*</hard_request>
    </job_list>
  </job_info>
</job_info>
`;

test('[G16] a job without a ticket, which no start of ours reaches, is held for that', () => {
  const stdout = HELD_ARRAY.replace('hqw', 'qw').replace(/<hard_request.*/, '');
  const stateOf = (listed: ReturnType<typeof sge>) => {
    const jobs = listed.jobs.read({ stdout, stderr: '', code: 0 });
    return jobs.ok ? jobs.value.map(({ state, reason }) => `${state} ${reason}`) : [];
  };
  assert.match(String(stateOf(adaptor)), /^held it has no ticket/);
  assert.deepEqual(stateOf(submitter), ['waiting null']);
});

test('an empty, cut, or foreign answer is not believed, and no answer is no empty list', () => {
  const whole = recorded('sge/running.qstat-xml.txt');
  for (const stdout of ['', whole.stdout.slice(0, whole.stdout.length / 2), '<a></b>', 'hello']) {
    const read = adaptor.jobs.read({ ...whole, stdout });
    assert.ok(!read.ok && read.error.kind === 'unreadable', stdout.slice(0, 20));
  }
  const empty = adaptor.jobs.read(recorded('sge/empty.qstat-xml.txt'));
  assert.deepEqual(empty, { ok: true, value: [] });
  for (const output of [recorded('sge/down.qstat-xml.txt'), { ...whole, code: null }]) {
    const read = adaptor.jobs.read(output);
    assert.ok(!read.ok && read.error.kind === 'away');
  }
});

test('hosts are idle, used, stopped, or down', () => {
  const of = (name: string) => {
    const read = adaptor.nodes.read(recorded(`sge/${name}.qhost-q-j-xml.txt`));
    assert.ok(read.ok, name);
    return read.value.map((node) => `${node.name} ${node.state} ${node.cpusUsed}/${node.cpuCount}`);
  };
  assert.deepEqual(of('mixed'), [
    ...['n1 running 1/2', 'n2 running 1/2', 'n3 running 1/2', 'n4 running 1/2'],
  ]);
  assert.deepEqual(of('suspended-disabled'), [
    ...['n1 idle 0/2', 'n2 stopped 1/2', 'n3 stopped 1/2', 'n4 running 1/2'],
  ]);
  assert.ok(of('deadhost').includes('n2 down 2/2'));
  const read = adaptor.nodes.read(recorded('sge/mixed.qhost-q-j-xml.txt'));
  assert.ok(read.ok);
  assert.deepEqual(read.value[0]?.queues, ['main.q']);
  assert.equal(read.value[0]?.memoryBytes, 23.5 * 1024 ** 3);
});

test('cluster queues are listed', () => {
  const read = adaptor.queues.read(recorded('sge/running.qstat-g-c.txt'));
  assert.ok(read.ok);
  assert.deepEqual(
    read.value.map(({ name, isStarted }) => [name, isStarted]),
    [['main.q', true]],
  );
});

test('accounting is evidence of an end, but for a job that used nothing at all', () => {
  const end = adaptor.end?.('53') ?? assert.fail('no accounting');
  const of = (name: string) => {
    const read = end.read(recorded(`sge/${name}.txt`));
    assert.ok(read.ok, name);
    return read.value;
  };
  assert.deepEqual(end.command.argv, ['qacct', '-j', '53']);
  assert.deepEqual(adaptor.end?.('48.2').command.argv, ['qacct', '-j', '48', '-t', '2']);
  assert.deepEqual(of('end.exit3'), {
    startedAt: Date.UTC(2026, 10, 22, 2, 19, 3),
    endedAt: Date.UTC(2026, 10, 22, 2, 19, 3),
    exit: { code: 3 },
    reason: null,
    nodes: ['n1'],
  });
  assert.equal(of('end.two')?.nodes, undefined, 'one of two hosts is not where it ran');
  const smp = sge({ ...SETTINGS, oneSlotPerHost: [] }, null).end?.('53');
  const two = smp?.read(recorded('sge/end.two.txt'));
  assert.ok(two?.ok && two.value?.nodes?.length === 1, 'all of its slots are on one host');
  assert.deepEqual(of('end.kill9')?.exit, { signal: 9 });
  assert.match(of('end.limit')?.reason ?? '', /h_rt/);
  assert.deepEqual(of('end.nofile')?.exit, { code: 126 });
  // Cancelled while it waited; forced away from a host that is dead.
  assert.equal(of('end.cancelwaiting'), null);
  assert.equal(of('end.deadhost'), null);
  assert.equal(of('gone.qacct'), null);
});

test('one question is for the ends of all elements of an array', () => {
  const ends = adaptor.ends?.('48') ?? assert.fail('no accounting');
  assert.deepEqual(ends.command.argv, ['qacct', '-j', '48']);
  const element = (name: string, index: number) =>
    recorded(`sge/${name}.txt`)
      .stdout.replace(/^.*?(?======)/s, '')
      .replace(/^taskid .*$/m, `taskid ${index}`);
  const stdout = [element('end.exit3', 1), element('end.kill9', 22), element('end.deadhost', 3)];
  const read = ends.read({ stdout: stdout.join(''), stderr: '', code: 0 });
  assert.ok(read.ok);
  assert.deepEqual(
    [...read.value].map(([index, { exit }]) => [index, exit]),
    [
      [1, { code: 3 }],
      [22, { signal: 9 }],
    ],
  );
  const none = ends.read(recorded('sge/gone.qacct.txt'));
  assert.ok(none.ok && none.value.size === 0);
  assert.ok(!ends.read({ stdout: '', stderr: 'cannot reach the qmaster', code: 1 }).ok);
});

test('the record of a parallel job has its nodes only where all its slots are on one', () => {
  const record = recorded('sge/end.two.txt');
  const ends = (environment: string | null, slots = '2') => {
    const settings = {
      ...SETTINGS,
      environment,
      oneSlotPerHost: environment === 'one' ? [] : ['one'],
    };
    const stdout = record.stdout.replace(/^slots .*$/m, `slots ${slots}`);
    const read = sge(settings, null)
      .end?.('47')
      .read({ ...record, stdout });
    return read?.ok ? [read.value?.nodes, read.value?.firstNode] : [];
  };
  assert.deepEqual(ends('one'), [['n2'], undefined]);
  assert.deepEqual(ends(null), [undefined, 'n2']);
  assert.deepEqual(ends(null, '1'), [['n2'], undefined]);
});

test('records of what a parallel job has begun on other hosts name these', () => {
  const record = recorded('sge/end.two.txt');
  const own = record.stdout.replace(/^.*?(?======)/s, '');
  const beside = (host: string, endedAt: string) =>
    own.replace(/^hostname .*$/m, `hostname ${host}`).replace(/^(end_time +).*$/m, `$1${endedAt}`);
  const [late, early] = ['Sun Nov 22 02:19:08 2026', 'Sun Nov 22 02:18:57 2026'];
  const stdout = [beside('n9', early), beside('n3', late), beside('n3', late), own].join('');
  const read = sge({ ...SETTINGS, oneSlotPerHost: ['one'] }, null)
    .end?.('47')
    .read({ ...record, stdout });
  assert.ok(read?.ok);
  assert.deepEqual([read.value?.firstNode, read.value?.namedNodes], ['n2', ['n2', 'n3']]);
});

const SUBMISSION = {
  scriptFile: "/scratch/it's",
  name: 'weft-c1-42.0-1',
  script: '#!/bin/sh\ntrue\n',
  queue: null,
  account: 'wing',
  walltimeMs: 90_500,
  nodeCount: 2,
  cpuCount: 1,
  memoryBytes: null,
  directory: '/scratch/a b',
  stdout: '/scratch/o',
  stderr: '/scratch/e',
  options: ['-p', '-5'],
};

test('a submission is one argument vector, and the script goes in by standard input', () => {
  const { command, read } = adaptor.submit(SUBMISSION);
  assert.deepEqual(command.argv, [
    ...[
      'qsub',
      '-terse',
      '-r',
      'n',
      '-S',
      '/bin/sh',
      '-N',
      'weft-c1-42.0-1',
      '-wd',
      '/scratch/a b',
    ],
    ...['-o', '/scratch/o', '-e', '/scratch/e', '-A', 'wing', '-l', 'h_rt=91', '-pe', 'one', '2'],
    ...['-p', '-5'],
  ]);
  assert.equal(command.input, SUBMISSION.script);
  assert.deepEqual(read(recorded('sge/submit.clear.txt')), { ok: true, value: '45' });
  assert.deepEqual(read({ stdout: '48.1-4:1\n', stderr: '', code: 0 }), { ok: true, value: '48' });
  const refused = read(recorded('sge/submit.badq.txt'));
  assert.ok(!refused.ok && refused.error.kind === 'refused');
  assert.match(refused.error.text, /unknown queue "nope.q"/);
  const away = read(recorded('sge/down.qsub.txt'));
  assert.ok(!away.ok && away.error.kind === 'away');
});

test('cancelling says whether the job was there', () => {
  const { read } = adaptor.cancel('56');
  assert.ok(read(recorded('sge/cancel.running.txt')).ok);
  const gone = read(recorded('sge/cancel.gone.txt'));
  assert.ok(!gone.ok && gone.error.kind === 'no_such_job');
  const denied = read(recorded('sge/cancel.user-denied.txt'));
  assert.ok(!denied.ok && denied.error.kind === 'refused');
  assert.deepEqual(adaptor.cancel('48.3').command.argv, ['qdel', '48', '-t', '3']);
});

test('[G6] what a takeover needs is looked at, one thing after the other', () => {
  const [quiet, script, forgets, forced, closed] = tickets('ticket').requirements;
  assert.deepEqual(quiet?.query.read(recorded('sge/sconf.txt')), { ok: true, value: true });
  assert.deepEqual(script?.query.read(recorded('sge/conf.txt')), { ok: true, value: true });
  assert.deepEqual(forgets?.query.read(recorded('sge/conf.txt')), { ok: true, value: false });
  const forgetful = { stdout: 'finished_jobs                0\n', stderr: '', code: 0 };
  assert.deepEqual(forgets?.query.read(forgetful), { ok: true, value: true });
  const complex = (relation: string) => ({
    stderr: '',
    code: 0,
    stdout: `#name shortcut type\nticket tk RESTRING == ${relation} NO NONE 0\n`,
  });
  assert.deepEqual(forced?.query.read(complex('FORCED')), { ok: true, value: true });
  assert.deepEqual(forced?.query.read(complex('YES')), { ok: true, value: false });
  const allClosed = (hosts: string) => closed?.query.read({ stdout: hosts, stderr: '', code: 0 });
  const queued = OPENED.replaceAll('<resource', "<queue name='other.q'/><resource");
  assert.deepEqual(allClosed(queued), { ok: true, value: true });
  assert.deepEqual(allClosed(queued.replace(/<resource.*none.*/, '')), { ok: true, value: false });
  assert.deepEqual(allClosed(OPENED.replace(/<resource.*none.*/, '')), { ok: true, value: true });
  const usual = { stdout: 'schedule_interval 0:0:15\n', stderr: '', code: 0 };
  assert.deepEqual(quiet?.query.read(usual), { ok: true, value: false });
});

test('XML that is not whole is none', () => {
  assert.equal(parseXml('<a>'), null);
  assert.equal(parseXml('<a/><b/>'), null);
  assert.equal(parseXml(`${'<a>'.repeat(30)}${'</a>'.repeat(30)}`), null);
  assert.deepEqual(parseXml("<a b='1'>x&amp;<c/></a>"), {
    name: 'a',
    attributes: { b: '1' },
    text: 'x&',
    children: [{ name: 'c', attributes: {}, children: [], text: '' }],
  });
});

test('an array is found by its name once, however many of its elements are listed', () => {
  const listed = (state: string, tasks: string) =>
    `<job_list state="${state}"><JB_job_number>48</JB_job_number><JB_name>weft-pilot-ab-1</JB_name>
     <JB_owner>ann</JB_owner><state>${state === 'pending' ? 'qw' : 'r'}</state><slots>1</slots>
     <tasks>${tasks}</tasks></job_list>`;
  const stdout = `<job_info><queue_info>${listed('running', '1')}${listed('running', '2')}</queue_info>
    <job_info>${listed('pending', '3-4:1')}</job_info></job_info>`;
  const { read } = adaptor.named('weft-pilot-ab-1');
  assert.deepEqual(read({ stdout, stderr: '', code: 0 }), { ok: true, value: ['48'] });
});
