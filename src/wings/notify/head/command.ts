// Notifications by a command of the site: the event as JSON on its standard input, the main words
// as variables.

import type { Attempt } from '../../../kernel/model/notification.ts';
import type { Commands } from '../../../kernel/ports/commands.ts';
import { failureWords } from './http-call.ts';
import type { Message } from './message.ts';

export interface CommandOptions {
  readonly commands: Commands;
  readonly timeoutMs: number;
}

/** Characters of its output that a failure shows. */
const OUTPUT_LENGTH_MAX = 150;

export async function tellCommand(
  { commands, timeoutMs }: CommandOptions,
  argv: readonly string[],
  { title, text, data, id, news }: Message,
): Promise<Attempt> {
  const environment = {
    WEFT_NOTIFY_ID: id,
    WEFT_NOTIFY_TITLE: title,
    WEFT_NOTIFY_TEXT: text,
    WEFT_NOTIFY_OWNER: news.owner,
    WEFT_NOTIFY_OUTCOME: news.outcome,
  };
  return runNotifier(commands, { argv, timeoutMs, input: `${data}\n`, environment });
}

export interface NotifierRun {
  readonly argv: readonly string[];
  readonly timeoutMs: number;
  readonly input: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export async function runNotifier(commands: Commands, run: NotifierRun): Promise<Attempt> {
  const keep = { part: 'first', length: OUTPUT_LENGTH_MAX } as const;
  const { succeeded, how, output } = await commands.run({ ...run, keep });
  if (succeeded) return { kind: 'told' };
  const [line = ''] = output.trim().split('\n');
  return { kind: 'failed', why: failureWords(line === '' ? how : `${how}: ${line}`) };
}
