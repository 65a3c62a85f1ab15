// What the page asks before it does something, and that every command it shows is one that can be
// typed.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';
import { buildProgram } from '../../../../src/kernel/cli/main.ts';
import {
  actionCommand,
  changeCommand,
  jobsCommand,
  NO_FILTER,
  runCommand,
} from '../../../../src/kernel/page/pure/command-line.ts';
import {
  drainCommand,
  maintenanceCommand,
  pauseCommand,
  unpauseCommand,
} from '../../../../src/kernel/page/pure/command-of-node.ts';
import { EMPTY_FORM } from '../../../../src/kernel/page/pure/job-form.ts';
import { askAbout, askAboutJobs } from '../../../../src/kernel/page/pure/questions.ts';
import { failedCount } from '../../../../src/kernel/page/pure/state.ts';
import { SILENT } from '../../../../tools/docs/commands.ts';
import { ROOT } from '../../../../tools/tree.ts';

const job = (id: number) => ({ id, name: 'solver-live', owner: 'root' });

test('a question names its thing, and its two answers cannot be mistaken', () => {
  assert.deepEqual(askAboutJobs('Cancel', [job(204)]), {
    question: 'Cancel job 204 solver-live of root?',
    about: [],
    leave: 'Keep it',
    agree: 'Cancel the job',
  });
  const many = askAboutJobs(
    'Hold',
    Array.from({ length: 12 }, (_, at) => job(at + 1)),
  );
  assert.deepEqual(
    [many.question, many.leave, many.agree],
    ['Hold 12 jobs?', 'Leave them', 'Hold the jobs'],
  );
  assert.deepEqual([many.about.length, many.about[0]], [9, '1 solver-live of root']);
  assert.equal(many.about.at(-1), 'and 4 more');
  assert.equal(askAbout('Stop', 'pool', '9 fits', 'anna').question, 'Stop pool 9 fits of anna?');
});

test('tasks that failed are counted: neither those that completed nor those somebody cancelled', () => {
  const outcomeCounts = { completed: 150, failed: 6, timeout: 1, cancelled: 3 };
  assert.equal(failedCount({ outcomeCounts }), 7);
});

test('every command that the page shows is one that can be typed', async () => {
  const program = await buildProgram(SILENT, { exitCode: 0 }, { word: '*' });
  const shown = [...made(), ...written()];
  assert.ok(shown.length > 40, String(shown.length));
  assert.deepEqual(
    shown.flatMap((line) => problemOf(program, line) ?? []),
    [],
  );
  assert.match(String(problemOf(program, 'weft node pause n1 1h')), /no such command/);
  assert.match(String(problemOf(program, 'weft pause 1h --nodes n1')), /no option --nodes/);
});

/** Commands put together out of parts. */
function made(): string[] {
  const maintenance = { duration: '1h', running: 'wait', reason: 'disk' };
  const request = { nodeCount: 2, cpuCount: 1, gpuCount: 0, memoryBytes: 2 ** 30 };
  const filter = { state: 'running', owner: 'a', outcome: 'failed', name: 'x', sort: 'priority' };
  return [
    ...['kill', 'hold', 'release', 'suspend', 'resume', 'requeue'].map((verb) =>
      actionCommand(verb, [1, 2]),
    ),
    changeCommand(1, { ...request, walltimeMs: null }),
    ...[jobsCommand(NO_FILTER), jobsCommand({ ...NO_FILTER, ...filter })],
    jobsCommand({ ...NO_FILTER, state: 'all' }),
    ...[drainCommand('n1', 'disk'), maintenanceCommand('n1', maintenance)],
    ...[pauseCommand('n1', '1h'), unpauseCommand('n1')],
    runCommand({
      ...EMPTY_FORM,
      command: 'x',
      name: 'x',
      memory: '1G',
      gpus: '1',
      partition: 'p',
      array: '0-9',
    }),
    runCommand({ ...EMPTY_FORM, command: 'x', chdir: '/tmp' }),
  ];
}

/** Those that stand in the sources as they are, but for names: `weft logs X`. */
function written(): string[] {
  const files = globSync('src/{kernel,wings/*}/page/**/*.{ts,tsx}', { cwd: ROOT });
  return files.flatMap((file) => {
    const text = filled(readFileSync(path.join(ROOT, file), 'utf8'));
    const found = text.matchAll(/(?:`(weft [^`]+)`|'(weft [^']+)'|"(weft [^"]+)"|>(weft [^<]+)<)/g);
    return [...found].map((one) => one.slice(1).find((part) => part !== undefined) ?? '');
  });
}

/** Without comments, and with an `X` for whatever is put in. */
function filled(source: string): string {
  let text = source.replace(/^\s*(\/\/|\/?\*).*$/gm, '');
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replaceAll(/\$\{[^{}]*\}/g, 'X');
  }
  return text.replaceAll("'weft run '.length", '');
}

/**
 * Why it could not be typed; null: it could. Only its first words, options and number of operands
 * count.
 */
function problemOf(program: Command, line: string): string | null {
  const words = line
    .replaceAll(/'[^']*'/g, 'X')
    .split(/\s+/)
    .slice(1);
  let command = program;
  while (command.commands.length > 0) {
    const word = words.shift();
    // A verb that the page fills in is tried with each of its own where it is made.
    if (word === 'X') return null;
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) return `${line}: no such command`;
    command = next;
  }
  const operands: string[] = [];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--') break;
    if (!word.startsWith('-')) operands.push(word);
    else {
      const name = word;
      const option = command.options.find(({ short, long }) => short === name || long === name);
      if (option === undefined) return `${line}: no option ${word}`;
      if (option.required && words.shift() === undefined) return `${line}: ${word} of what?`;
    }
  }
  const most = command.registeredArguments;
  const isMany = most.some(({ variadic }) => variadic);
  return operands.length > most.length && !isMany ? `${line}: too many operands` : null;
}
