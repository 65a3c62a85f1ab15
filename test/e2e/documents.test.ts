// Types what the documents show, page by page on local clusters, and compares the shape of what
// is printed. With WEFT_DOCS_UPDATE=1 it writes what it saw into the pages instead.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { filesBelow, ROOT } from '../../tools/tree.ts';
import { type Block, readBlocks, type Typed } from '../support/console-blocks.ts';
import { hasShape } from '../support/output-shape.ts';
import { DocumentCluster } from './support/document-cluster.ts';

const UPDATE = process.env['WEFT_DOCS_UPDATE'] === '1';
const ONLY = process.env['WEFT_DOCS_PAGE'] ?? '';
/** What is read again until it is as shown: states come when they come. */
const READS =
  /^(weft (--\S+ )?(jobs?|why|history|schedule|info|notice show|node (list|show)|partition (list|show)|qos|reserve (list|show)|maint (list|show)|user|logs|status|config show|doctor|run --dry-run)\b|cminfo|find|curl|cat)/;
/** A line that names what a command has made. */
const NAMED =
  /^(?:(?:Job )?(\d+)(?: started, .*)?|Maintenance (m\d+) of .*|weft: .* kept on the head: weft pull (\d+))$/;
/** Commands whose operands are numbers of jobs or maintenance, and those operands. */
const ABOUT_NUMBERS =
  /\b(weft (?:why|exec|attach|logs|pull|cancel|kill|wait|jobs?|hold|release|suspend|resume|requeue|history|status|change|retry|maint (?:show|cancel))|cmkill)\b([^;|]*)/g;
const OPERAND =
  /(?<=[ ',])(?<!--(?:limit|index|rank|node|timeout|nice|time|after) )m?\d+(?:-\d+)?(?=$|[ ',[)])/g;
/** Counts what other pages have left, too. */
const SUMS_ALL = /^\$ weft (usage|efficiency)\b/m;
const READ_MS_MAX = UPDATE ? 2_000 : 60_000;

/** Readers at a time, each with a cluster: commands wait for states more than they work. */
const READERS = 2;

interface Page {
  readonly file: string;
  readonly text: string;
  readonly blocks: readonly Run[];
}

function pages(): Page[] {
  const files = ['README.md', ...filesBelow('docs', '.md')].filter((file) => file.includes(ONLY));
  const read = files.map((file): Page => {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    return { file, text, blocks: readBlocks(text).filter((block) => block.kind === 'run') };
  });
  return read.filter(({ blocks }) => blocks.length > 0);
}

describe('the documents', { concurrency: READERS }, () => {
  const all = pages();
  for (let reader = 0; reader < Math.min(READERS, all.length); reader++) {
    describe(`reader ${reader + 1}`, { concurrency: 1 }, () => {
      const cluster = new DocumentCluster();
      after(() => cluster.close());
      for (const page of all.filter((_, at) => at % READERS === reader)) shows(page, cluster);
    });
  }
});

function shows({ file, text, blocks }: Page, cluster: DocumentCluster): void {
  test(`${file} shows what is printed`, async () => {
    await cluster.begin(UPDATE || SUMS_ALL.test(text));
    const visit = new Visit(cluster);
    for (const block of blocks) await visit.block(block);
    if (!UPDATE) return assert.deepEqual(visit.differences, []);
    writeFileSync(path.join(ROOT, file), visit.updated(text));
  });
}

function numberIn(line: string): string | undefined {
  const found = NAMED.exec(line);
  return found?.[1] ?? found?.[2] ?? found?.[3];
}

type Run = Extract<Block, { kind: 'run' }>;

/** One page from top to bottom. */
class Visit {
  readonly differences: { command: string; shown: readonly string[]; said: readonly string[] }[] =
    [];
  /** Jobs and maintenance by the numbers that the page gives them. */
  readonly #numbers = new Map<string, string>();
  readonly #cluster: DocumentCluster;

  constructor(cluster: DocumentCluster) {
    this.#cluster = cluster;
  }

  async block({ before, typed }: Run): Promise<void> {
    for (const one of before)
      this.#learn(one, await this.#cluster.type(this.#translate(one.command)));
    for (const one of typed) await this.#compare(one);
  }

  /** The page with what was said; one after the other, because commands may be typed twice. */
  updated(text: string): string {
    let rest = text;
    let done = '';
    for (const { command, shown, said } of this.differences) {
      const was = `${[`$ ${command}`, ...shown].join('\n')}\n`;
      const at = rest.indexOf(was);
      done += `${rest.slice(0, at)}${[`$ ${command}`, ...said].join('\n')}\n`;
      rest = rest.slice(at + was.length);
    }
    return done + rest;
  }

  async #compare(one: Typed): Promise<void> {
    const command = this.#translate(one.command);
    const until = performance.now() + READ_MS_MAX;
    for (;;) {
      const done = await this.#cluster.type(command);
      if (hasShape(one.output, done.lines)) return this.#learn(one, done);
      if (READS.test(one.command) && performance.now() < until) {
        await sleep(200);
        continue;
      }
      this.differences.push({ command: one.command, shown: one.output, said: done.lines });
      return this.#learn(one, done);
    }
  }

  /** A command that prints a job's number gives it the number that the page shows. */
  #learn({ output }: Typed, { lines }: { lines: readonly string[] }): void {
    for (const [at, shown] of output.entries()) {
      const wanted = numberIn(shown);
      const given = numberIn(lines[at] ?? '');
      if (wanted !== undefined && given !== undefined) this.#numbers.set(wanted, given);
    }
  }

  #translate(command: string): string {
    const after = command.replace(/(?<=--after )\d+/g, (id) => this.#numbers.get(id) ?? id);
    return after.replace(ABOUT_NUMBERS, (_, verb: string, words: string) => {
      const known = words.replace(OPERAND, (numbers) =>
        numbers.replace(/m?\d+/g, (id) => this.#numbers.get(id) ?? id),
      );
      return verb + known;
    });
  }
}
