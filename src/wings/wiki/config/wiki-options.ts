// The listener for wiki schedulers, from its configuration.

import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import type { Config } from '../../../kernel/config/config.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import type { OptionsPart } from '../../../kernel/config/part.ts';
import type { Fields } from '../../../kernel/config/table.ts';
import { parseAddress } from '../../../kernel/config/value.ts';
import { usage } from '../../../kernel/model/failure.ts';
import type { FilterRule } from '../../../kernel/model/filter-rule.ts';
import { SOCKET_PATH_BYTES_MAX } from '../../../kernel/model/limits.ts';

export interface WikiListenerSettings {
  readonly listen:
    | { readonly path: string }
    | {
        readonly host: string;
        readonly port: number;
        /** Addresses and networks of other machines. */
        readonly allow: readonly string[];
      };
  /** Whose members may connect from the head's machine; null: root and the head's user alone. */
  readonly group: string | null;
  /** Null when nobody can sign. */
  readonly keyFile: string | null;
  readonly unsigned: boolean;
  /** Names of external partitions; empty = all of them. */
  readonly partitions: readonly string[];
  readonly rules: readonly FilterRule[];
  /** Where the scheduler hears of changes; null: it asks. */
  readonly events: { readonly host: string; readonly port: number } | null;
  readonly eventsEveryMs: number;
}

declare module '../../../kernel/config/daemon-options.ts' {
  interface HeadOptions {
    /** The listener for wiki schedulers; absent = none. */
    readonly wiki?: WikiListenerSettings;
  }
}

const LOOPBACK = /^(127\.|localhost$|::1$)/;

/** Returns null when there is none. Throws a failure that says which key is wrong. */
export function wikiOptions(config: Config): WikiListenerSettings | null {
  const listen = listenOf(config);
  if (listen === null) return null;
  const keyFile = keyFileOf(config);
  // Who may connect to a unix socket has proven who they are: a signature adds nothing.
  const unsigned = config.flag('wiki.unsigned') || ('path' in listen && keyFile === null);
  if ('host' in listen) refuseOpen(listen, { keyFile, unsigned });
  return {
    listen,
    keyFile,
    unsigned,
    group: config.text('wiki.group'),
    partitions: config.texts('wiki.partitions'),
    rules: [...config.table('filters')].map(([name, fields]) => ruleOf(name, fields)),
    events: config.address('wiki.events'),
    eventsEveryMs: config.number('wiki.events_every'),
  };
}

type Listen = WikiListenerSettings['listen'];
type Tcp = Extract<Listen, { host: string }>;

function listenOf(config: Config): Listen | null {
  const text = config.text('wiki.listen');
  if (text === null || text === 'none') return null;
  const address = parseAddress(text);
  if (address.ok) return { ...address.value, allow: allowOf(config) };
  if (text.includes(':') && !text.includes('/')) {
    throw usage(
      `wiki.listen: '${text}' is neither host:port nor the path of a unix socket, as /run/weft/wiki.sock`,
    );
  }
  const file = besideConfig(config, text);
  const bytes = Buffer.byteLength(file);
  if (bytes > SOCKET_PATH_BYTES_MAX) {
    throw usage(
      `wiki.listen: ${file} has ${bytes} bytes; a socket's path has at most ${SOCKET_PATH_BYTES_MAX}, as /run/weft/wiki.sock`,
    );
  }
  return { path: file };
}

function allowOf(config: Config): readonly string[] {
  const allow = config.texts('wiki.allow');
  for (const text of allow) {
    const [address = '', bits, more] = text.split('/');
    const most = isIP(address) === 6 ? 128 : 32;
    const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
    if (isIP(address) !== 0 && isNetwork && more === undefined) continue;
    throw usage(`wiki.allow: '${text}' is no address; write 10.1.2.3 or 10.1.0.0/16`);
  }
  return allow;
}

function refuseOpen(
  { host, port, allow }: Tcp,
  { keyFile, unsigned }: Pick<WikiListenerSettings, 'keyFile' | 'unsigned'>,
): void {
  if (keyFile === null && !unsigned) {
    throw usage(
      'wiki.listen on TCP needs wiki.key_file, the file with the key of the scheduler, or wiki.unsigned: true',
    );
  }
  if (LOOPBACK.test(host)) return;
  if (unsigned) {
    throw usage(
      `wiki.unsigned is for loopback only: anybody who reaches ${host} could run jobs; set wiki.listen to 127.0.0.1:${port}, or wiki.key_file`,
    );
  }
  if (allow.length > 0) return;
  throw usage(
    `wiki.listen: ${host}:${port} can be reached from other machines; name those of the scheduler in wiki.allow, or set wiki.listen to the path of a unix socket`,
  );
}

function ruleOf(name: string, fields: Fields): FilterRule {
  const get = <T>(field: string, otherwise: T): T => (fields.get(field) as T) ?? otherwise;
  return {
    name,
    over: get('over', 'nodes'),
    when: get('when', []),
    hide: get('hide', false),
    add: get('add', []),
    queue: get('queue', null),
  };
}

/** Where it is not absolute, it lies beside the configuration. */
function besideConfig(config: Config, name: string): string {
  const [beside = ''] = (config.origin.file ?? config.file ?? '').split(' and ');
  return path.resolve(path.dirname(beside), name);
}

function keyFileOf(config: Config): string | null {
  const name = config.text('wiki.key_file');
  if (name === null) return null;
  const file = besideConfig(config, name);
  try {
    if ((statSync(file).mode & 0o077) !== 0) {
      throw usage(`wiki.key_file: others can read ${file}; run \`chmod 600 ${file}\``);
    }
    readFileSync(file);
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw usage(`wiki.key_file: ${file} cannot be read: ${fileProblem(error)}`);
  }
  return file;
}

/** The head keeps the listener it began with, but a wrong one is told at each reading. */
export const options: OptionsPart = {
  head(config) {
    const wiki = wikiOptions(config);
    return wiki === null ? {} : { wiki };
  },
  live(config) {
    wikiOptions(config);
    return {};
  },
};
