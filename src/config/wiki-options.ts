// The door for wiki schedulers, from its configuration.

import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { usage } from '../core/model/failure.ts';
import type { FilterRule } from '../core/model/filter-rule.ts';
import type { Config } from './config.ts';
import type { WikiDoorOptions } from './daemon-options.ts';
import { fileProblem } from './file-problem.ts';
import type { Fields } from './tables.ts';

const LOOPBACK = /^(127\.|localhost$|::1$)/;

/** Null: there is none. Throws a failure that says which key is wrong. */
export function wikiOptions(config: Config): WikiDoorOptions | null {
  const listen = config.address('wiki.listen');
  if (listen === null) return null;
  const unsigned = config.flag('wiki.unsigned');
  const keyFile = keyFileOf(config);
  if (keyFile === null && !unsigned) {
    throw usage(
      'wiki.listen needs wiki.key_file, the file with the key of the scheduler, or wiki.unsigned: true',
    );
  }
  if (unsigned && !LOOPBACK.test(listen.host)) {
    throw usage(
      `wiki.unsigned is for loopback only: anybody who reaches ${listen.host} could run jobs; set wiki.listen to 127.0.0.1:${listen.port}, or wiki.key_file`,
    );
  }
  return {
    ...{ listen, keyFile, unsigned },
    partitions: config.texts('wiki.partitions'),
    rules: [...config.table('filters')].map(([name, fields]) => ruleOf(name, fields)),
    events: config.address('wiki.events'),
    eventsEveryMs: config.number('wiki.events_every'),
  };
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

/** Its absolute path; where it is not absolute, it lies beside the configuration. */
function keyFileOf(config: Config): string | null {
  const name = config.text('wiki.key_file');
  if (name === null) return null;
  const [beside = ''] = (config.origin.file ?? config.file ?? '').split(' and ');
  const file = path.resolve(path.dirname(beside), name);
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
