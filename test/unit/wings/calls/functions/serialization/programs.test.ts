// Random programs here and on a worker: they give the same, or are refused by name.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import {
  readGraph,
  writeGraph,
} from '../../../../../../src/wings/calls/functions/serialization/graph-bytes.ts';
import { NotSendable } from '../../../../../../src/wings/calls/functions/serialization/not-sendable.ts';
import {
  type Table,
  WITH_GROUPS,
} from '../../../../../../src/wings/calls/functions/serialization/packed-value.ts';
import {
  capture,
  releaseWhole,
} from '../../../../../../src/wings/calls/functions/serialization/values.ts';
import { programOf, STATE } from './support/programs.ts';

type Entry = () => unknown;

const folder = mkdtempSync(join(tmpdir(), 'weft-programs-'));
after(() => rmSync(folder, { recursive: true }));

let next = 1;

/** A program and its modules, loaded anew. */
async function load(decisions: readonly number[]): Promise<Entry> {
  const state = join(folder, `state${next}.mjs`);
  const file = join(folder, `program${next}.mjs`);
  next += 1;
  writeFileSync(state, STATE);
  writeFileSync(file, programOf(decisions, pathToFileURL(state).href));
  const { entry } = (await import(pathToFileURL(file).href)) as { entry: Entry };
  return entry;
}

/** A value, or in words what was thrown: the same mistakes count as the same. */
function told(act: () => unknown): unknown {
  try {
    return structuredClone(act());
  } catch (error) {
    if (error instanceof NotSendable) throw error;
    return String(error);
  }
}

interface Tally {
  sent: number;
  refused: number;
}

/** Throws where a value there is another than here. */
async function compare(
  decisions: readonly number[],
  { tally, spoil }: { tally: Tally; spoil: (code: Uint8Array) => Uint8Array },
): Promise<void> {
  const here = told(await load(decisions));
  const entry = await load(decisions);
  try {
    const code = spoil(capture(entry).code);
    tally.sent += 1;
    const { fn, isForOneCall } = releaseWhole(code);
    assert.deepStrictEqual(told(fn), here);
    const next = isForOneCall ? releaseWhole(code).fn : fn;
    if (isForOneCall || !programOf(decisions, '').includes('h'))
      assert.deepStrictEqual(told(next), here, 'the second call');
  } catch (error) {
    if (!(error instanceof NotSendable)) throw error;
    tally.refused += 1;
  }
  assert.deepStrictEqual(told(entry), here, 'what was looked at is as it was');
}

const DECISIONS = fc.array(fc.nat(10_000), { minLength: 40, maxLength: 80 });

async function compareMany(
  runs: number,
  { spoil = (code: Uint8Array) => code, isShrunk = true } = {},
): Promise<Tally> {
  const tally = { sent: 0, refused: 0 };
  const property = fc.asyncProperty(DECISIONS, (decisions) => compare(decisions, { tally, spoil }));
  await fc.assert(property, { numRuns: runs, endOnFailure: !isShrunk });
  return tally;
}

test('[C12] random programs give the same here and there, or are refused by name', async (t) => {
  const { sent, refused } = await compareMany(100);
  t.diagnostic(`${sent} sent, ${refused} refused`);
  assert.ok(sent > 50, `only ${sent} were sent, ${refused} were refused`);
});

/** The same packed value with another table. */
function withTable(code: Uint8Array, change: (table: Table) => Table): Uint8Array {
  if (code[0] !== WITH_GROUPS) return code;
  const bytes = Buffer.from(code);
  const headEnd = 5 + bytes.readUInt32LE(1);
  const head = writeGraph(change(readGraph(bytes.subarray(5, headEnd)) as Table));
  const prefix = Buffer.concat([bytes.subarray(0, 5), head]);
  prefix.writeUInt32LE(head.length, 1);
  return Buffer.concat([prefix, bytes.subarray(headEnd)]);
}

const PLANTED: Readonly<Record<string, (table: Table) => Table>> = {
  'each function has variables of its own': (table) => ({
    ...table,
    groups: (table.groups ?? []).flatMap(({ members, ...group }) =>
      members.map((at) => ({ ...group, members: [at] })),
    ),
  }),
  'variables of one name and value are one': (table) => {
    const [group] = table.groups ?? [];
    if (group === undefined) return table;
    const others = table.functions.map((_, at) => at).filter((at) => !group.members.includes(at));
    const free = others.filter((at) => !table.groups?.some(({ members }) => members.includes(at)));
    const functions = table.functions.map((sent, at) => {
      if (!free.includes(at)) return sent;
      const kept = sent.names
        .map((_, nth) => nth)
        .filter((nth) => !group.names.includes(sent.names[nth]!));
      return {
        ...sent,
        names: kept.map((nth) => sent.names[nth]!),
        cells: kept.map((nth) => sent.cells[nth]!),
      };
    });
    const [first, ...rest] = table.groups ?? [];
    return {
      ...table,
      functions,
      groups: [{ ...first!, members: [...group.members, ...free] }, ...rest],
    };
  },
  'names that hide others are not told apart': (table) => ({
    ...table,
    functions: table.functions.map((sent) => ({
      ...sent,
      expression: sent.expression.replaceAll(/([abc])\$\d+/g, '$1'),
    })),
    groups: (table.groups ?? []).map((group) => ({
      ...group,
      names: group.names.map((name, _at, all) =>
        all.indexOf(name.replace(/\$\d+$/, '')) < 0 ? name.replace(/\$\d+$/, '') : name,
      ),
    })),
  }),
};

for (const [bug, change] of Object.entries(PLANTED)) {
  test(`[C12] a planted mistake is found: ${bug}`, async () => {
    const spoil = (code: Uint8Array) => withTable(code, change);
    const runs = compareMany(150, { spoil, isShrunk: false });
    await assert.rejects(runs, /Property failed/);
  });
}
