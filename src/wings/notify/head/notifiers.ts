// The means of telling people, as the site has set them up. Each attempt takes bounded time.

import {
  type Attempt,
  NOTIFIER_KINDS,
  type NotifierKind,
  type Target,
} from '../../../kernel/model/notification.ts';
import type { Clock } from '../../../kernel/ports/clock.ts';
import type { Commands } from '../../../kernel/ports/commands.ts';
import { runNotifier, tellCommand } from './command.ts';
import { failureWords } from './http-call.ts';
import { Matrix, type MatrixOptions } from './matrix.ts';
import type { Message } from './message.ts';
import { tellWebhook, type WebhookOptions } from './webhook.ts';

export interface NotifierOptions {
  readonly matrix: MatrixOptions | null;
  readonly webhook: WebhookOptions | null;
  /** Program and arguments by name. */
  readonly commands: Readonly<Record<string, readonly string[]>>;
  readonly mail: MailOptions | null;
  /** One attempt. */
  readonly timeoutMs: number;
}

export interface Notifiers {
  /** Those that are set up. */
  readonly kinds: readonly NotifierKind[];
  /** Never rejects. */
  tell(target: Target, message: Message): Promise<Attempt>;
}

type Tell = (to: string, message: Message) => Promise<Attempt>;

export function notifiersOf(
  options: NotifierOptions,
  { commands, clock }: { readonly commands: Commands; readonly clock: Clock },
): Notifiers {
  const { timeoutMs, webhook, mail } = options;
  const matrix = options.matrix === null ? null : new Matrix({ ...options.matrix, timeoutMs });
  const means: Readonly<Record<NotifierKind, Tell | null>> = {
    matrix: matrix === null ? null : (to, message) => matrix.tell(to, message),
    webhook: webhook && ((to, message) => tellWebhook({ ...webhook, timeoutMs }, to, message)),
    command: Object.keys(options.commands).length === 0 ? null : tellNamed,
    mail:
      mail &&
      ((to, message) => tellMail(mail, { commands, timeoutMs, now: clock.now() }, to, message)),
  };
  function tellNamed(name: string, message: Message): Promise<Attempt> {
    const argv = Object.hasOwn(options.commands, name) ? options.commands[name] : undefined;
    if (argv === undefined) throw new Error(`the command ${name} is not configured any more`);
    return tellCommand({ commands, timeoutMs }, argv, message);
  }
  return {
    kinds: NOTIFIER_KINDS.filter((kind) => means[kind] !== null),
    async tell({ kind, to }, message) {
      try {
        const tell = means[kind];
        if (tell === null) throw new Error(`${kind} is not configured any more`);
        return await tell(to, message);
      } catch (error) {
        return { kind: 'failed', why: failureWords(error) };
      }
    },
  };
}

// Notifications by mail, through a program with the interface of sendmail(8).

interface MailOptions {
  readonly program: string;
  readonly from: string;
}

interface MailWorld {
  readonly commands: Commands;
  readonly timeoutMs: number;
  /** Ms since 1970. */
  readonly now: number;
}

function tellMail(
  { program, from }: MailOptions,
  { commands, timeoutMs, now }: MailWorld,
  to: string,
  message: Message,
): Promise<Attempt> {
  const input = letterOf({ from, to, message, at: now });
  // The address is behind `--`, and its form was checked: it is never an option or a second one.
  return runNotifier(commands, { argv: [program, '-i', '-f', from, '--', to], timeoutMs, input });
}

interface Letter {
  readonly from: string;
  readonly to: string;
  readonly message: Message;
  readonly at: number;
}

/** RFC 5322; its Message-ID is the same each time, so that readers show a double once. */
function letterOf({ from, to, message: { id, title, text }, at }: Letter): string {
  const host = from.slice(from.indexOf('@') + 1);
  const headers = [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${encodeHeader(title)}`,
    `Date: ${new Date(at).toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${id}@${host}>`,
    // RFC 3834: no absence notes, please.
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
  ];
  const body = Buffer.from(`${text}\n`).toString('base64').replace(/.{76}/g, '$&\n');
  return `${headers.join('\n')}\n\n${body}\n`;
}

/** Characters of one encoded word that surely fit its 75 (RFC 2047): four bytes each at most. */
const WORD_LENGTH = 10;

/** Plain text as it is, everything else in encoded words: no line of a header is ever a user's. */
function encodeHeader(text: string): string {
  if (/^[ -~]{0,200}$/.test(text) && !text.includes('=?')) return text;
  const letters = [...text.slice(0, 400)];
  const words: string[] = [];
  for (let at = 0; at < letters.length; at += WORD_LENGTH) {
    const part = Buffer.from(letters.slice(at, at + WORD_LENGTH).join('')).toString('base64');
    words.push(`=?utf-8?B?${part}?=`);
  }
  return words.join('\n ');
}
