// Runs every script of this folder and compares what came of each line with what was recorded:
// a line, then `----`, then the outcome, then an empty line. `--update` records anew.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Trace } from '../support/trace.ts';

const UPDATE = process.argv.includes('--update');
const FOLDER = import.meta.dirname;

/** Plays a script; comments and the order of blocks stay as they are. */
function play(script: string): string {
  const trace = new Trace();
  const blocks = script.trimEnd().split(/\n\n+/);
  const played = blocks.map((block) => {
    const lines = block.split('\n');
    const end = lines.indexOf('----');
    const commands = end < 0 ? lines : lines.slice(0, end);
    const wanted = commands.filter((line) => !line.startsWith('#'));
    if (wanted.length === 0) return block;
    const outcome = wanted.flatMap((line) => trace.run(line));
    return [...commands, '----', ...outcome].join('\n');
  });
  trace.finish();
  return `${played.join('\n\n')}\n`;
}

const scripts = readdirSync(FOLDER).filter((file) => file.endsWith('.txt'));

test('there are traces', () => {
  assert.ok(scripts.length > 0);
});

for (const file of scripts) {
  const where = path.join(FOLDER, file);
  const recorded = readFileSync(where, 'utf8');
  const title = recorded.split('\n')[0]?.replace(/^# /, '') ?? file;
  test(`${file}: ${title}`, () => {
    const played = play(recorded);
    if (UPDATE) writeFileSync(where, played);
    else assert.equal(played, recorded, 'as recorded; if it should change, run with --update');
  });
}
