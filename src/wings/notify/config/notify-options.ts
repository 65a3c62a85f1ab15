// What the configuration says of notifications: to the controller who may be told, to the head's
// shell how.

import { readFileSync, statSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import type { Config } from '../../../kernel/config/config.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { whyNotRunnable } from '../../../kernel/config/health-options.ts';
import type { OptionsPart } from '../../../kernel/config/part.ts';
import { usage } from '../../../kernel/model/failure.ts';
import type { NotifyRules } from '../../../kernel/model/notification.ts';

/** How notifications are sent: secrets stay in their files, read anew for each attempt. */
export interface NotifyOptions {
  readonly matrix: { readonly homeserver: string; readonly tokenFile: string } | null;
  readonly webhook: {
    /** Private networks that are open, as `10.1.0.0/16`. */
    readonly networks: readonly string[];
    readonly secretFile: string;
  } | null;
  /** Program and arguments by name. */
  readonly commands: Readonly<Record<string, readonly string[]>>;
  readonly mail: { readonly program: string; readonly from: string } | null;
  /** One attempt. */
  readonly timeoutMs: number;
}

declare module '../../../kernel/config/daemon-options.ts' {
  interface HeadOptions {
    /** How those are told who want to know of the end of a job. */
    readonly notify?: NotifyOptions;
  }
}

/** Throws a failure that says where the wrong value stands. */
export function notifyOptions(config: Config): NotifyOptions {
  return {
    matrix: matrixOf(config),
    webhook: webhookOf(config),
    commands: commandsOf(config),
    mail: mailOf(config),
    timeoutMs: config.number('notify.timeout'),
  };
}

/** Rules on targets: means that are not set up cannot be used. */
export function notifyRules(config: Config): NotifyRules {
  const { matrix, webhook, commands, mail } = notifyOptions(config);
  const names = Object.keys(commands);
  return {
    matrix: matrix === null ? null : config.texts('notify.matrix_to'),
    webhook: webhook === null ? null : config.texts('notify.webhook_hosts'),
    command: names.length === 0 ? null : names,
    mail: mail === null ? null : config.texts('notify.mail_to'),
    giveUpMs: config.number('notify.give_up_after'),
  };
}

function matrixOf(config: Config): NotifyOptions['matrix'] {
  const names = ['notify.matrix_homeserver', 'notify.matrix_token_file'] as const;
  const both = together(config, names);
  if (both === null) return null;
  const [homeserver, tokenFile] = both;
  checkSecret(config, names[1], tokenFile);
  return { homeserver: homeserver.replace(/\/$/, ''), tokenFile };
}

function webhookOf(config: Config): NotifyOptions['webhook'] {
  const networks = config.texts('notify.webhook_networks');
  for (const network of networks) checkNetwork(config, network);
  if (config.texts('notify.webhook_hosts').length === 0) return null;
  const name = 'notify.webhook_secret_file';
  const secretFile = config.text(name);
  if (secretFile === null) {
    throw wrong(config, 'notify.webhook_hosts', `needs ${name}, by which webhooks are signed`);
  }
  checkSecret(config, name, secretFile);
  return { networks, secretFile };
}

function commandsOf(config: Config): NotifyOptions['commands'] {
  const commands: Record<string, readonly string[]> = {};
  for (const [name, fields] of config.table('notify.commands')) {
    const argv = fields.get('') as readonly string[];
    const key = `notify.commands.${name}`;
    const why = argv[0] === undefined ? 'names no program' : whyNotRunnable(argv[0]);
    if (why !== null) throw wrong(config, key, `cannot be run: ${why}`);
    commands[name] = argv;
  }
  return commands;
}

function mailOf(config: Config): NotifyOptions['mail'] {
  const names = ['notify.mail_program', 'notify.mail_from'] as const;
  const both = together(config, names);
  if (both === null) return null;
  const [program, from] = both;
  const why = whyNotRunnable(program);
  if (why !== null) throw wrong(config, names[0], `cannot be run: ${why}`);
  return { program, from };
}

/** Both or none. */
function together(
  config: Config,
  [first, second]: readonly [string, string],
): readonly [string, string] | null {
  const [one, other] = [config.text(first), config.text(second)];
  if (one !== null && other !== null) return [one, other];
  if (one !== null) throw wrong(config, first, `needs ${second} as well`);
  if (other !== null) throw wrong(config, second, `needs ${first} as well`);
  return null;
}

/** A secret that others can read is none. */
function checkSecret(config: Config, name: string, file: string): void {
  try {
    const isEmpty = readFileSync(file, 'utf8').trim() === '';
    if (isEmpty) throw wrong(config, name, `${file} is empty`);
    if ((statSync(file).mode & 0o077) === 0) return;
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw wrong(config, name, `${file} cannot be read: ${fileProblem(error)}`);
  }
  throw wrong(config, name, `others can read ${file}; run \`chmod 600 ${file}\``);
}

function checkNetwork(config: Config, network: string): void {
  const [address = '', bits = ''] = network.split('/');
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  try {
    new BlockList().addSubnet(address, Number(bits), family);
  } catch {
    throw wrong(config, 'notify.webhook_networks', `'${network}' is not a network`);
  }
}

function wrong(config: Config, name: string, what: string): Error {
  return usage(`${config.source(name)}: ${name} ${what}`);
}

/** What the head is told, also while it runs. */
export const options: OptionsPart = {
  live: (config) => ({ notify: notifyOptions(config) }),
  settings: (config) => ({ notify: notifyRules(config) }),
};
