// Text of the pages of `weft top`: fetched when one is opened, and again at each look.

import { headNow } from '../../api/head-time.ts';
import type { Api } from '../../connect/api.ts';
import type { HookWing } from '../context.ts';
import { ofJob } from '../glance.ts';
import { describeJob } from '../jobs/describe.ts';
import { logSize } from '../jobs/log-size.ts';
import { describeNode } from '../nodes/describe.ts';
import { titledLines } from '../output/one.ts';
import { PLAIN } from '../output/paint.ts';
import { prose } from '../output/prose.ts';
import { printable } from '../output/table.ts';
import { HELP } from './frame.ts';
import type { Page } from './view.ts';

/** How far back a log is read, and how much of it is kept. */
const LOG_BYTES_MAX = 262_144;

/** Output of one job, read on from where it was. */
interface Log {
  readonly subject: string;
  readonly offset: number;
  readonly text: string;
}

export class Pages {
  readonly #api: Api;
  readonly #wings: readonly HookWing[];
  #log: Log | null = null;

  constructor(api: Api, wings: readonly HookWing[]) {
    this.#api = api;
    this.#wings = wings;
  }

  /** Printable lines; those of a log are as long as they were written. */
  async lines({ kind, subject }: Page, width: number): Promise<readonly string[]> {
    switch (kind) {
      case 'help':
        return HELP;
      case 'node': {
        const node = await this.#api.call('getNode', { params: { name: subject } });
        return describeNode(node, PLAIN);
      }
      case 'why': {
        const { words } = await this.#api.call('explainJob', { params: { id: subject } });
        return prose(words, headNow(), width);
      }
      case 'job': {
        const job = await this.#api.call('getJob', { params: { id: subject } });
        const added = await ofJob(this.#wings);
        const more = added.flatMap(({ titled }) => titled?.(job) ?? []);
        return titledLines(describeJob(job, headNow(), more), 12);
      }
      case 'logs':
        return logLines(await this.#readOn(subject));
    }
  }

  async #readOn(subject: string): Promise<string> {
    const known = this.#log?.subject === subject ? this.#log : await this.#begin(subject);
    const query = { offset: known.offset, limit: LOG_BYTES_MAX, follow: false };
    const stream = await this.#api.stream('readLogs', { params: { id: subject }, query });
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    const more = Buffer.concat(chunks);
    const text = (known.text + more.toString('latin1')).slice(-LOG_BYTES_MAX);
    this.#log = { subject, offset: known.offset + more.length, text };
    // Kept as bytes: a character may come in two pieces.
    return Buffer.from(text, 'latin1').toString();
  }

  async #begin(subject: string): Promise<Log> {
    const size = await logSize(this.#api, subject);
    return { subject, offset: Math.max(0, size - LOG_BYTES_MAX), text: '' };
  }
}

/** Lines of what a program wrote; a cursor moved back begins its line anew, as on a terminal. */
export function logLines(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => {
    const last = line.slice(line.lastIndexOf('\r') + 1);
    return printable(withoutColours(last).replaceAll('\t', '    '));
  });
}

/** Control sequences of ECMA-48 are for a terminal, and this is a list. */
function withoutColours(line: string): string {
  return line.replace(/\u001b\[[0-9;:<=>?]*[ -/]*[@-~]/g, '');
}
