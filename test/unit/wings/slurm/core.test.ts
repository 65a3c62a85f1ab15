// What Slurm's commands read: options, lines of scripts, times, hosts, ids and formats.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OUTCOMES, TASK_STATES } from '../../../../src/kernel/model/job.ts';
import { BATCH_OPTIONS, type Given } from '../../../../src/wings/slurm/core/batch-options.ts';
import { beginOf } from '../../../../src/wings/slurm/core/begin.ts';
import { readDirectives } from '../../../../src/wings/slurm/core/directives.ts';
import { byLetters, byNames, layOut } from '../../../../src/wings/slurm/core/formats.ts';
import {
  compressHosts,
  expandHosts,
  hostsInOrder,
} from '../../../../src/wings/slurm/core/hostlist.ts';
import { expandIds, readId, slurmId } from '../../../../src/wings/slurm/core/ids.ts';
import { multiProgram } from '../../../../src/wings/slurm/core/multi-prog.ts';
import { readOptions } from '../../../../src/wings/slurm/core/option-table.ts';
import { requestOf } from '../../../../src/wings/slurm/core/request.ts';
import { saidVariables } from '../../../../src/wings/slurm/core/said-variables.ts';
import {
  endedAs,
  endReason,
  STATE_NAMES,
  slurmState,
} from '../../../../src/wings/slurm/core/states.ts';
import {
  nodesFor,
  onEach,
  rankFile,
  ranksOf,
  sizeOf,
} from '../../../../src/wings/slurm/core/step.ts';
import {
  formatElapsed,
  formatLong,
  formatUsed,
  parseLimit,
} from '../../../../src/wings/slurm/core/times.ts';
import {
  optionsSaid,
  SBATCH_VARIABLES,
  SRUN_VARIABLES,
  STEP_VARIABLES,
} from '../../../../src/wings/slurm/core/variables.ts';

const read = (...words: string[]) => readOptions(BATCH_OPTIONS, words, { stops: true });

test('[X1] options have all forms of getopt_long, and end at the script', () => {
  const forms = [
    ['--job-name=md', '--nodes', '2', '-n4', '-c', '2', '-H', 'job.sh', '--late', '-x'],
    ['--job-n', 'md', '-N2', '--ntasks', '4', '--cpus-per-t=2', '--hold', 'job.sh', '--late', '-x'],
    ['-HJ', 'md', '-N', '2', '-n', '4', '-c2', '--', 'job.sh', '--late', '-x'],
  ];
  for (const words of forms) {
    const { ok, ...rest } = read(...words);
    assert.equal(ok, true);
    const value = 'value' in rest ? rest.value : null;
    const given = { 'job-name': 'md', nodes: '2', ntasks: '4', 'cpus-per-task': '2', hold: '' };
    assert.deepEqual(value?.operands, ['job.sh', '--late', '-x']);
    assert.deepEqual({ ...value?.given }, given);
  }
});

test('[X1] another name of an option is that option', () => {
  const got = read('--ntasks-per-node=4', '--tasks-per-node=2');
  assert.deepEqual(got.ok && { ...got.value.given }, { 'ntasks-per-node': '2' });
});

test('[X1] of some options several are one list, of the others the last counts', () => {
  const rows = [{ long: 'jobs', short: 'j', value: 'always', many: true, words: '' }] as const;
  const got = readOptions(rows, ['-j', '1', '--jobs=2,3']);
  assert.equal(got.ok && got.value.given.jobs, '1,2,3');
});

test('[X1] what is no option is named in the words of getopt', () => {
  const said = (...words: string[]) => {
    const got = read(...words);
    return got.ok ? '' : got.error;
  };
  assert.equal(said('--foo'), "unrecognized option '--foo'");
  assert.equal(
    said('--no-'),
    "option '--no-' is ambiguous; possibilities: '--no-requeue' '--no-kill'",
  );
  assert.equal(said('-Z'), "invalid option -- 'Z'");
  assert.equal(said('--nodes'), "option '--nodes' requires an argument");
  assert.equal(said('-N'), "option requires an argument -- 'N'");
  assert.equal(said('--hold=1'), "option '--hold' doesn't allow an argument");
});

test('[X1] lines of a script end at its first command, and a remark is none', () => {
  const script =
    '#!/bin/sh\n#SBATCH --time=10 # ten\n  # a remark\n\n#SBATCH -J "a b" --comment=\'c#d\'\n#SBATCHED\n#SBATCH-N 2\necho\n#SBATCH --late\n';
  assert.deepEqual(readDirectives(script), [
    { line: 2, words: ['--time=10'] },
    { line: 5, words: ['-J', 'a b', '--comment=c#d'] },
    { line: 7, words: ['-N', '2'] },
  ]);
});

test('[X2] time limits are minutes, clocks and days', () => {
  const limits = {
    '10': 600,
    '10:30': 630,
    '1:00:00': 3600,
    '1-12': 129_600,
    '2-00:00:05': 172_805,
  };
  for (const [text, seconds] of Object.entries(limits)) {
    assert.deepEqual(parseLimit(text), { ok: true, value: seconds * 1000 }, text);
  }
  assert.deepEqual(parseLimit('UNLIMITED'), { ok: true, value: null });
  for (const text of ['', '1h', '-5', '1:2:3:4']) assert.equal(parseLimit(text).ok, false, text);
  assert.deepEqual(
    [formatElapsed(247_000), formatElapsed(3_723_000), formatElapsed(172_805_000)],
    ['4:07', '1:02:03', '2-00:00:05'],
  );
  assert.equal(formatLong(247_000), '00:04:07');
});

const NODES = ['n1', 'n2', 'n3'];
const request = (given: Given, cpusMax = 16) => {
  const got = requestOf(given, { cpusMax, nodes: NODES });
  assert.ok(got.ok, got.ok ? '' : got.error);
  return got.value;
};
const refused = (given: Given): string => {
  const got = requestOf(given, { cpusMax: 16, nodes: NODES });
  return got.ok ? '' : got.error;
};

test('[X2] input comes from the file that is named, whatever its name means to us', () => {
  for (const [input, stdin] of [
    ['attach', './attach'],
    ['-', './-'],
    ['/attach', '/attach'],
    ['in-%j', 'in-%j'],
  ] as const)
    assert.equal(request({ input }).request.stdin, stdin);
});

test('[X2] ranks and cpus become cpus of nodes, and as many nodes as hold them', () => {
  const shape = (given: Given, cpusMax?: number) => {
    const { nodes, ranksPerNode, cpus } = request(given, cpusMax).request;
    return [nodes, ranksPerNode, cpus];
  };
  assert.deepEqual(shape({}), ['1', undefined, '1']);
  assert.deepEqual(shape({ 'cpus-per-task': '4' }), ['1', undefined, '4']);
  assert.deepEqual(shape({ ntasks: '8' }), ['1', '8', '8']);
  assert.deepEqual(shape({ ntasks: '8', 'cpus-per-task': '2' }, 4), ['4', '2', '4']);
  assert.deepEqual(shape({ nodes: '2', 'ntasks-per-node': '4', 'cpus-per-task': '2' }), [
    '2',
    '4',
    '8',
  ]);
  assert.match(
    refused({ nodes: '2', 'ntasks-per-node': '2', ntasks: '9' }),
    /9 is more than 2 nodes with 2 each/,
  );
});

test('[X2] nodes that are left out, and what one of its name waits for', () => {
  assert.equal(request({ exclude: 'n2' }).request.nodesNamed, 'n1,n3');
  const both = request({ nodelist: 'n[1-2]', exclude: 'n2,n3' });
  assert.equal(both.request.nodesNamed, 'n1');
  const { request: single } = request({ dependency: 'singleton,afterok:9' });
  assert.deepEqual([single.after, single.singleton], [['9:ok'], true]);
});

test('[X2] conditions are in any letters, a number alone is one, and none is none', () => {
  const of = (dependency: string) => {
    const { after, singleton } = request({ dependency }).request;
    return [after, singleton];
  };
  assert.deepEqual(of(''), [undefined, undefined]);
  assert.deepEqual(of('AfterOK:1:2,Singleton'), [['1:ok', '2:ok'], true]);
  assert.deepEqual(of('afterok:1,2'), [['1:ok', '2:any'], undefined]);
  assert.equal(refused({ dependency: 'afterok' }), 'Job dependency problem');
});

test('[X2] times to begin are those of Slurm', () => {
  const times = {
    'now+2hours': '+2h',
    'now + 60': '+60s',
    'now+1week': '+7d',
    noon: '12:00',
    midnight: '00:00',
    teatime: '16:00',
    Today: 'now',
    '11:59pm': '23:59',
    '12:05:30 AM': '00:05:30',
    '01/02/30': '2030-01-02',
    '01/02/30-13:00': '2030-01-02T13:00',
    '010230': '2030-01-02',
    '16:00 2030-01-05': '2030-01-05T16:00',
    '2030-01-05 noon': '2030-01-05T12:00',
    '2030-01-05T10:00': '2030-01-05T10:00',
    tomorrow: 'tomorrow',
    'tomorrow 10:00': 'tomorrow 10:00',
    bogus: 'bogus',
  };
  for (const [text, ours] of Object.entries(times)) assert.equal(beginOf(text), ours, text);
});

test('[X2] an empty value of what names something says nothing', () => {
  const empty = { exclude: '', nodelist: '', constraint: '', qos: '', array: '', output: '' };
  assert.deepEqual(request({ ...empty, comment: '', account: '' }), request({}));
  assert.match(refused({ gres: '' }), /Invalid generic resource/);
});

test('[X2] of --export commas in quotes part no names, and ALL is in any letters', () => {
  const of = (text: string) => {
    const { env, cleanEnv } = request({ export: text }).request;
    return [env, cleanEnv];
  };
  assert.deepEqual(of("A='a,b',B"), [["A='a,b'", 'B'], true]);
  assert.deepEqual(of('all,X=y=z'), [['X=y=z'], undefined]);
  assert.deepEqual(of('none'), [undefined, true]);
});

test('[X3] mail to what is no address is left out with a warning, and keeps no job from running', () => {
  const of = (user: string) => {
    const { request: asked, warnings } = request({ 'mail-type': 'END', 'mail-user': user });
    return [asked.notify, warnings.length];
  };
  assert.deepEqual(of('ann@example.org'), [['mail:ann@example.org'], 0]);
  for (const user of ['$USER@x.org', 'ann']) assert.deepEqual(of(user), [undefined, 1], user);
});

test('[X1] a job finds what its options have said, and nothing of the others', () => {
  assert.deepEqual(saidVariables({ export: 'All', ntasks: '2' }), []);
  assert.deepEqual(saidVariables({ 'cpus-per-task': '2' }), ['WEFT_SLURM_CPUS_PER_TASK=2']);
  const given = { 'mem-per-cpu': '1G', gpus: '2', export: 'NONE', dependency: 'afterok:7' };
  assert.deepEqual(saidVariables(given), [
    'SLURM_JOB_DEPENDENCY=afterok:7',
    'SLURM_GPUS=2',
    'SLURM_MEM_PER_CPU=1024',
    'SLURM_EXPORT_ENV=NONE',
  ]);
});

test('[X2] variables that Slurm names stand for options, and flags may say no', () => {
  const said = (names: Readonly<Record<string, string>>, environment: Record<string, string>) => ({
    ...optionsSaid(BATCH_OPTIONS, names, environment),
  });
  const batch = { SBATCH_TIMELIMIT: '5', SBATCH_NODES: '7', SBATCH_WAIT: '0', SBATCH_QOS: '' };
  assert.deepEqual(said(SBATCH_VARIABLES, batch), { time: '5' });
  assert.deepEqual(said(SBATCH_VARIABLES, { SBATCH_WAIT: 'yes' }), { wait: '' });
  const step = { SRUN_CPUS_PER_TASK: '4', SLURM_EXPORT_ENV: 'NONE', SRUN_EXPORT_ENV: 'ALL' };
  const job = { SLURM_NTASKS: '8', SLURM_JOB_NAME: 'md' };
  assert.deepEqual(said(STEP_VARIABLES, { ...step, ...job }), {
    'cpus-per-task': '4',
    export: 'ALL',
  });
  assert.deepEqual(said(SRUN_VARIABLES, job), { ntasks: '8', 'job-name': 'md' });
});

test('[X2] starts of others, signals, whole memory, gpus of ranks and named nodes', () => {
  const of = (given: Given) => request(given).request;
  assert.deepEqual(of({ dependency: 'after:1:2+10' }).after, ['1:start', '2:start+10m']);
  assert.deepEqual([of({ mem: '0' }).memory, of({ mem: '0' }).exclusive], [undefined, true]);
  const signal = (text: string) => [of({ signal: text }).signal, of({ signal: text }).signalTo];
  assert.equal(of({ gpus: '0' }).gpus, undefined);
  assert.deepEqual(signal('B:USR1@60'), ['USR1@60', 'main']);
  assert.deepEqual(signal('USR2@90'), ['USR2@90', 'others']);
  assert.equal(of({ 'open-mode': 'append' }).append, true);
  assert.equal(of({ 'gpus-per-task': 'a100:1', 'ntasks-per-node': '4' }).gpus, 'a100:4');
  const perGpu = of({ 'gpus-per-node': '2', 'cpus-per-gpu': '8', 'mem-per-gpu': '4G' });
  assert.deepEqual([perGpu.cpus, perGpu.memory], ['16', '8192M']);
  const shared = of({ gpus: '4', nodes: '2', 'cpus-per-gpu': '8', 'mem-per-gpu': '4G' });
  assert.deepEqual([shared.gpus, shared.cpus, shared.memory], ['2', '16', '8192M']);
  assert.deepEqual([of({ nodelist: 'n[1-2]' }).nodes, of({ nodelist: 'n1' }).nodes], ['2', '1']);
  assert.equal(of({ output: 'o-%4A_%3a-%5N.txt', array: '1-2' }).output, 'o-%4j_%3a-%N.txt');
});

test('[X2] gpus of a node may be said in several ways that agree', () => {
  const of = (given: Given) => request(given).request.gpus;
  assert.equal(of({ gres: 'gpu:1', 'gpus-per-task': '1' }), '1');
  assert.equal(of({ 'gpus-per-node': 'a100:4', 'gpus-per-task': '1', ntasks: '4' }), 'a100:4');
  assert.equal(of({ gpus: '4', gres: 'gpu:2', nodes: '2' }), '2');
  assert.match(refused({ gres: 'gpu:1', gpus: '2' }), /exclude each other where they differ/);
  assert.match(refused({ gres: 'gpu:a100:1', gpus: 'h100:1' }), /exclude each other/);
});

test('[X2] ranks for each gpu are as many as Snakemake means', () => {
  const shape = (given: Given) => {
    const { nodes, ranksPerNode, cpus, gpus } = request({
      'ntasks-per-gpu': '1',
      ...given,
    }).request;
    return [nodes, ranksPerNode, cpus, gpus];
  };
  assert.deepEqual(shape({ gpus: '1', 'cpus-per-task': '4' }), ['1', undefined, '4', '1']);
  assert.deepEqual(shape({ gpus: '2', 'cpus-per-gpu': '3' }), ['1', '2', '6', '2']);
  assert.deepEqual(shape({ gres: 'gpu:2', nodes: '2' }), ['2', '2', '2', '2']);
  assert.deepEqual(shape({ gres: 'gpu:2', gpus: '4', nodes: '2' }), ['2', '2', '2', '2']);
  assert.deepEqual(shape({ gres: 'gpu:2', ntasks: '1' }), ['1', undefined, '1', '2']);
  assert.match(refused({ 'ntasks-per-gpu': '1' }), /--ntasks-per-gpu need --gpus/);
});

test('[X2] memory, gpus, files, conditions and environment mean the same here', () => {
  const { request: of } = request({
    'mem-per-cpu': '500',
    'cpus-per-task': '4',
    gpus: '4',
    nodes: '2',
    dependency: 'afterok:1:2,afterany:3',
    constraint: 'gpu&ssd',
    output: 'out-%A_%a.txt',
    array: '0-3%2',
    signal: 'B:USR1@90',
    export: 'A,B=1',
    begin: 'now+2hours',
  });
  assert.deepEqual(
    [of.memory, of.gpus, of.after, of.needs, of.output, of.error, of.signal, of.begin],
    [
      '2000M',
      '2',
      ['1:ok', '2:ok', '3:any'],
      ['gpu & ssd'],
      'out-%j_%a.txt',
      'out-%j_%a.txt',
      'USR1@90',
      '+2h',
    ],
  );
  assert.deepEqual([of.env, of.cleanEnv], [['A', 'B=1'], true]);
  const gpusOf = (given: Given) => request(given).request.gpus;
  assert.equal(gpusOf({ gres: 'gpu:a100:2' }), 'a100:2');
  assert.equal(gpusOf({ gres: 'gpu:A100' }), 'a100:1');
  assert.equal(gpusOf({ gres: 'gpu' }), '1');
  assert.equal(gpusOf({ 'gpus-per-node': 'h100:1' }), 'h100:1');
  assert.equal(gpusOf({ gpus: 'a100:4', nodes: '2' }), 'a100:2');
  assert.deepEqual(request({ licenses: 'matlab:2,hfss' }).request.resource, ['matlab=2', 'hfss=1']);
  assert.equal(request({}).request.output, 'slurm-%j.out');
  assert.equal(request({ array: '1-2' }).request.output, 'slurm-%j_%a.out');
});

test('[X5] files of ranks outside of a job are named by rank, and none is made up', () => {
  const known = { cpusMax: 16, nodes: NODES, filesOf: 'ranks' } as const;
  const output = (given: Given) => {
    const got = requestOf(given, known);
    return got.ok ? got.value.request.output : got.error;
  };
  assert.equal(output({ output: 'o.%t.%j.%s', ntasks: '2' }), 'o.%p.%j.0');
  assert.equal(output({ output: 'o.%3t', ntasks: '2', nodes: '2' }), 'o.%3n');
  assert.match(output({ output: 'o.%t', ntasks: '4', nodes: '2' }) ?? '', /in a script alone$/);
  assert.equal(output({ output: 'o.%n.%j', ntasks: '4', nodes: '2' }), 'o.%n.%j');
  assert.equal(output({ input: 'in' }), undefined);
  assert.equal(output({ error: 'err' }), undefined);
  assert.equal(output({ output: '%J.%3s.%4j', array: '1-2' }), '%j_%a.0.000.%4j_%a');
  assert.equal(request({ output: '%t.%s' }).request.output, '0.batch');
  assert.equal(request({ output: '%3t.%12j.%5%' }).request.output, '000.%10j.%%');
  assert.equal(request({ output: 'a\\%t/%j' }).request.output, 'a%%t/%%j');
});

test('[X3] what is not honoured is refused by name, and a hint gives a warning', () => {
  assert.equal(refused({ exclude: 'n[1-3]' }), '--exclude leaves no node');
  assert.equal(refused({ exclude: 'n9' }), 'Invalid node name specified: n9');
  assert.match(refused({ gres: 'gpu:a100:0' }), /Invalid generic resource \(gres\)/);
  assert.match(refused({ licenses: 'a|b' }), /Invalid license specification/);
  assert.match(refused({ gres: 'shard:2' }), /Invalid generic resource \(gres\)/);
  assert.match(refused({ dependency: 'expand:1' }), /not honoured here: there are afterok/);
  assert.match(refused({ dependency: 'afterok:1+5' }), /Job dependency problem/);
  assert.match(refused({ dependency: 'after:x' }), /Job dependency problem/);
  assert.match(refused({ 'open-mode': 'x' }), /Invalid --open-mode/);
  assert.match(refused({ 'mem-per-gpu': '1G' }), /need --gpus, --gpus-per-node or/);
  assert.match(refused({ output: '%Q' }), /%Q stands for nothing here/);
  assert.equal(refused({ exclusive: 'x' }), 'Invalid --exclusive specification');
  assert.match(refused({ 'kill-on-invalid-dep': 'x' }), /Invalid --kill-on-invalid-dep/);
  const nice = request({ nice: '-5000', exclusive: 'user', 'kill-on-invalid-dep': 'no' });
  assert.deepEqual([nice.request.nice, nice.request.exclusive], ['-100', true]);
  assert.deepEqual(nice.warnings, [
    '--exclusive=user has whole nodes here',
    '--nice=-5000 is -100 here',
    '--kill-on-invalid-dep=no is ignored: what can never start is ended',
  ]);
  const { warnings: first } = request({ partition: 'short,long' });
  assert.deepEqual(first, ['--partition=short,long is short here']);
  const { warnings } = request({ account: 'p' });
  assert.deepEqual(warnings, ['--account is ignored: there are no accounts here']);
  const kinds = BATCH_OPTIONS.filter((row) => 'kind' in row && row.kind === 'refused');
  for (const { long } of kinds)
    assert.match(refused({ [long]: '1' }), new RegExp(`^--${long} is not`));
});

test('[X4] every state of ours is one that clients of Slurm know', () => {
  const known = STATE_NAMES.map(({ long }) => long);
  for (const state of TASK_STATES) {
    for (const outcome of OUTCOMES) assert.ok(known.includes(slurmState(state, outcome).long));
  }
  assert.equal(slurmState('done', 'out_of_memory').short, 'OOM');
});

test('lists of hosts fold and unfold', () => {
  assert.deepEqual(expandHosts('n[1-3,07],login'), ['n1', 'n2', 'n3', 'n07', 'login']);
  assert.equal(hostsInOrder(['n3', 'n1', 'n2', 'x', 'n4']), 'n3,n[1-2],x,n4');
  assert.equal(expandHosts('n[1-'), null);
  assert.equal(expandHosts('n[1-99999999]'), null);
  assert.equal(compressHosts(['n3', 'n1', 'n2', 'x', 'n10']), 'n[1-3,10],x');
  assert.deepEqual(expandHosts(compressHosts(['a01', 'a02', 'b1'])), ['a01', 'a02', 'b1']);
});

test('ids are those of Slurm on the way in and out', () => {
  const ids = { '42': '42', '42_7': '42[7]', '42_[0-3,9]': '42[0-3,9]' };
  for (const [text, ours] of Object.entries(ids))
    assert.deepEqual(readId(text), { ok: true, value: ours }, text);
  for (const text of ['', 'x', '-1', '42_', '42[7]', '42.batch', '42.0'])
    assert.equal(readId(text).ok, false, text);
  assert.equal(slurmId('42[7]'), '42_7');
});

test('[X4] how a job ended is told as Slurm tells it', () => {
  const exit = { code: 0, signal: 15 };
  const { job, batch } = endedAs('timeout', exit);
  assert.deepEqual(job, { code: 0, signal: 0 });
  assert.deepEqual([batch.code, batch.signal, batch.state?.long], [0, 15, 'CANCELLED']);
  assert.deepEqual(endedAs('out_of_memory', exit).job, { code: 0, signal: 125 });
  assert.deepEqual(endedAs('failed', { code: 3, signal: 0 }).job, { code: 3, signal: 0 });
  assert.deepEqual(
    [formatUsed(4120), formatUsed(3_723_000), formatUsed(-1)],
    ['00:04.120', '01:02:03', '00:00.000'],
  );
});

test('formats cut and pad as squeue and sacct do', () => {
  const fields = { i: { title: 'JOBID', value: ({ id }: { id: string }) => id } };
  const pieces = byLetters('%.8i|%4i|%i', fields);
  assert.ok(pieces.ok);
  const lines = layOut(pieces.value, [{ id: '123456' }], { header: true, separator: null });
  assert.deepEqual(lines, ['   JOBID|JOBI|JOBID', '  123456|1234|123456']);
  assert.equal(byLetters('%y', fields).ok, false);
  const named = byNames(
    'jobid%3,JobID',
    { JobID: { ...fields.i, width: 8 } },
    { mark: '%', right: true },
  );
  assert.ok(named.ok);
  assert.deepEqual(layOut(named.value, [{ id: '12' }], { header: false, separator: '|' }), [
    '12|12',
  ]);
  const long = { header: false, separator: null, cutBy: '+' } as const;
  assert.deepEqual(layOut(named.value, [{ id: '12345' }], long), ['12+   12345']);
  const right = byNames('JobID:.4,JobID:3', { JobID: { ...fields.i, width: 8 } }, { mark: ':' });
  assert.ok(right.ok);
  assert.deepEqual(layOut(right.value, [{ id: '12' }], { header: false, separator: null }), [
    '  1212 ',
  ]);
});

test('[X2] ranks that nodes do not share evenly are held for the most of a node', () => {
  const shape = (given: Given, cpusMax?: number) => {
    const { nodes, ranksPerNode, ranks, cpus } = request(given, cpusMax).request;
    return [nodes, ranksPerNode, ranks, cpus];
  };
  assert.deepEqual(shape({ nodes: '2', ntasks: '5' }), ['2', '3', 5, '3']);
  assert.deepEqual(shape({ ntasks: '40' }, 16), ['3', '14', 40, '14']);
  assert.deepEqual(shape({ ntasks: '5', 'ntasks-per-node': '2', 'cpus-per-task': '2' }), [
    '3',
    '2',
    5,
    '4',
  ]);
  assert.deepEqual(shape({ ntasks: '4', nodes: '2' }), ['2', '2', undefined, '2']);
  const { request: one, warnings } = request({ nodes: '3', ntasks: '2' });
  assert.deepEqual([one.nodes, one.ranks], ['2', undefined]);
  assert.match(warnings.join(), /can't run 2 processes on 3 nodes, setting nnodes to 2/);
  assert.match(refused({ nodelist: 'n[1-3]', ntasks: '2' }), /each node has a rank here/);
  assert.deepEqual(
    [onEach(5, 2), onEach(4, 2), onEach(5, 4), onEach(8, 3), onEach(3, 1)],
    ['3,2', '2(x2)', '2,1(x3)', '3(x2),2', '3'],
  );
});

test('[X5] ranks of a job that nodes do not share evenly are laid out as the job is', () => {
  const held = { nodes: ['n1', 'n2', 'n3'], ranksPerNode: 2, ranks: 4 };
  const ranks = ranksOf(held, { tasks: null, nodeCount: null });
  const places = ranks.ok ? ranks.value.map(({ local, node }) => `${node}.${local}`) : [];
  assert.deepEqual(places, ['0.0', '0.1', '1.0', '2.0']);
});

test('[X5] ranks of a step fill the nodes of the job, and more are refused', () => {
  const held = { nodes: ['n1', 'n2'], ranksPerNode: 2 };
  const ranks = ranksOf(held, { tasks: null, nodeCount: null });
  assert.ok(ranks.ok);
  assert.deepEqual(
    ranks.value.map(({ rank, local, node }) => [rank, local, node]),
    [
      [0, 0, 0],
      [1, 1, 0],
      [2, 0, 1],
      [3, 1, 1],
    ],
  );
  assert.equal(ranksOf(held, { tasks: 5, nodeCount: null }).ok, false);
  assert.equal(ranksOf(held, { tasks: null, nodeCount: 3 }).ok, false);
  const wide = { ...held, cpusPerNode: 4 };
  assert.equal(ranksOf(wide, { tasks: 8, nodeCount: null }).ok, true);
  const on = (shape: Parameters<typeof ranksOf>[1]) => {
    const got = ranksOf(held, shape);
    return got.ok ? got.value.map(({ node }) => node) : got.error;
  };
  assert.deepEqual(on({ tasks: 1, nodeCount: 1, names: ['n2'] }), [1]);
  const size = sizeOf({ nodes: ['a', 'b', 'c', 'd'], ranksPerNode: 2 }, { tasks: 5, nodeCount: 4 });
  assert.deepEqual(size.ok && size.value, { used: 4, all: 5 });
  assert.deepEqual(on({ tasks: null, nodeCount: null, perNode: 1 }), [0, 1]);
  assert.match(String(on({ tasks: 1, nodeCount: 1, names: ['x'] })), /x is none of its nodes/);
  assert.deepEqual(nodesFor(['n1', 'n2', 'n3'], { used: 2 }, [2, 0, 1]), [1, 2]);
  const rank = { rank: 3, local: 1, node: 1 };
  assert.equal(rankFile('o-%j-%t.txt', rank, { job: '42', index: null }), 'o-42-3.txt');
  assert.equal(rankFile('%A_%a %j', rank, { job: '42', index: '7' }), '42_7 42_7');
  const job = { job: '42', index: '7', step: '1', user: 'ada' };
  assert.equal(
    rankFile('%4j %4a %J %3s %2n %20t', rank, job),
    '0042_7 0007 42_7.1 001 01 0000000003',
  );
  assert.equal(rankFile('%u %3N %% a\\%t', rank, job), '%u %3N %% a%t');
  assert.equal(rankFile('%3u-%%t', rank, job), 'ada-%t');
  assert.equal(rankFile('%3t-%x', rank, { job: '42', index: null, name: 'md' }), '003-md');
});

test('[X4] ranges of tasks are named one by one, and ends by the words of Slurm', () => {
  assert.deepEqual(expandIds('7, 1_[2-4,9%2],3_1,5.batch'), {
    ok: true,
    value: ['7', '1_2', '1_3', '1_4', '1_9', '3_1', '5.batch'],
  });
  assert.equal(expandIds('1_[0-99999999]').ok, false);
  assert.equal(endReason('completed', null), 'None');
  assert.equal(endReason('cancelled', null), 'None');
  const broken = 'waited for job 1 to complete; it ended as failed';
  assert.equal(endReason('cancelled', broken), 'DependencyNeverSatisfied');
  assert.equal(endReason('failed', null), 'NonZeroExitCode');
  assert.equal(endReason('timeout', null), 'TimeLimit');
  assert.equal(endReason('out_of_memory', null), 'OutOfMemory');
  assert.equal(endReason('launch_failed', 'no such folder'), 'JobLaunchFailure');
});

test('[X5] a file of programs gives each rank its own, and a wrong line is named', () => {
  const read = (text: string, ranks = 4) => multiProgram(text, { name: 'f', ranks });
  const script = (text: string): string => {
    const argv = read(text);
    return argv.ok ? (argv.value[2]?.replace(/ esac;.*/s, '') ?? '') : argv.error;
  };
  assert.equal(
    script("# c\n\n0,3 a %t:%o \\\n 'two words'\n1-2\tb\\ c x%tx \"q\n"),
    "case $SLURM_PROCID in 0) set -- a 0:0 'two words';; 3) set -- a 3:1 'two words';; " +
      `1) set -- 'b c' x1x '"q';; 2) set -- 'b c' x2x '"q';;`,
  );
  assert.equal(
    script("* a %o 'x y%t'\n1 b\n"),
    `case $SLURM_PROCID in 1) set -- b;; *) set -- a "$SLURM_PROCID" 'x y'"$SLURM_PROCID";;`,
  );
  assert.ok(script(`* ${'a'.repeat(85)}\n`).length < 150, 'one arm for all ranks');
  const wrong: readonly (readonly [text: string, words: RegExp])[] = [
    ['0 a\n', /f invalid, no record for task id 1/],
    ['', /f invalid, no record for task id 0/],
    ['0-3 a\n2 b\n', /Duplicate record for task 2 in f/],
    ['0-4 a\n', /Invalid task id, 4 >= ntasks. Line 1 of/],
    ['0 a \\\n b\nx b\n', /Invalid task range specification \(x\). Line 3 of/],
    ['3-1 a\n', /Invalid task range, 3-1. Line 1 of/],
    ['0 a\n* b\n* c\n', /^f:3: a line before is already that of all other tasks \(\*\)/],
    ['*\n', /^Line 1 of configuration file f invalid/],
    [`* ${'a'.repeat(20_000_000)}\n`, /^Configuration file f is longer than 1048576 characters/],
    [`0-3 a\n* ${'a'.repeat(1_000_000)}\n`, /^ok$/],
    ['0\n', /^Line 1 of configuration file f invalid/],
  ];
  for (const [text, words] of wrong) {
    const made = read(text);
    assert.match(made.ok ? 'ok' : made.error, words);
  }
});
