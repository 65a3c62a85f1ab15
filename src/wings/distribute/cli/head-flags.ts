// `--ip` and `-p`, by which the seed's commands named the head: what they come to here.

import { isIPv6 } from 'node:net';
import type { Command } from 'commander';
import { type CommonOptions, Context } from '../../../kernel/cli/context.ts';
import { type Call, defineVerb, type Verb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';

/** Where the seed's head listened, and where `distribute server` does. */
export const SEED_PORT = 8952;

export interface HeadFlags {
  readonly ip?: string;
  readonly port?: string;
}

/** A verb that takes `--ip` and `-p`, and is run with the head that they name. */
export function headVerb<Options extends object>(verb: {
  define(command: Command): void;
  run(call: Call<Options>): Promise<number>;
}): Verb {
  return defineVerb<Options & HeadFlags>({
    define(command) {
      verb.define(command);
      command.option('--ip <address>', 'the machine of the head; 127.0.0.1: this one, as without');
      command.option(
        '-p, --port <port>',
        `port of that head (default: that of WEFT_HEAD, else ${SEED_PORT})`,
      );
    },
    async run(call) {
      const { context, options } = call;
      const named = namedHead(options, context);
      if (named === null) return verb.run(call);
      const there = new Context({
        ...parts(context),
        options: { ...context.options, head: named },
      });
      try {
        return await verb.run({ ...call, context: there });
      } finally {
        there.close();
      }
    },
  });
}

/** What a context was made of. */
export function parts(context: Context) {
  const { program, terminal, environment, cwd, programs, commands, wings } = context;
  return { program, terminal, environment, cwd, programs, commands, wings };
}

/** The URL that `--ip` and `-p` come to; null: they say nothing that is not said already. */
function namedHead(
  { ip, port }: HeadFlags,
  { options, environment }: { options: CommonOptions; environment: Context['environment'] },
): string | null {
  const said = port === undefined ? null : readPort('--port', port);
  if (ip === undefined || isThisMachine(ip)) return null;
  if (!/^[\w.:-]+$/.test(ip)) throw usage(`--ip: '${ip}' is no address of a machine`);
  if (options.head !== undefined) throw usage('--ip and --head both name the head; write one');
  return `https://${hostOf(ip)}:${said ?? portOf(environment['WEFT_HEAD'], ip) ?? SEED_PORT}`;
}

export function readPort(flag: string, text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw usage(`${flag}: '${text}' is no port; write a number from 1 to 65535`);
}

function isThisMachine(ip: string): boolean {
  return ip === 'localhost' || ip === '::1' || /^127\.[\d.]+$/.test(ip);
}

function hostOf(ip: string): string {
  return isIPv6(ip) ? `[${ip}]` : ip;
}

/** The port in WEFT_HEAD where that is about the same machine. */
function portOf(head: string | undefined, ip: string): string | null {
  if (!head) return null;
  const full = head.includes('://') ? head : `https://${head}`;
  if (!URL.canParse(full)) return null;
  const { hostname, port } = new URL(full);
  // Weft's own port is what such a variable means when it says none.
  return hostname === hostOf(ip) ? port || '5001' : null;
}
