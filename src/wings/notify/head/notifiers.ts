// The means of telling people, as the site has set them up. Each attempt takes bounded time.

import {
  type Attempt,
  NOTIFIER_KINDS,
  type NotifierKind,
  type Target,
} from '../../../kernel/model/notification.ts';
import type { Clock } from '../../../kernel/ports/clock.ts';
import type { Commands } from '../../../kernel/ports/commands.ts';
import { tellCommand } from './command.ts';
import { failureWords } from './http-call.ts';
import { type MailOptions, tellMail } from './mail.ts';
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
