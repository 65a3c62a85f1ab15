// `weft init`: writes the configuration of a cluster of several machines.

import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { didYouMean } from '../../base/nearest-word.ts';
import { quoteWord } from '../../base/shell-word.ts';
import { namingFile } from '../../config/file-problem.ts';
import type { Key } from '../../config/key.ts';
import { schemaOf } from '../../config/schema.ts';
import { formatValue, parseValue } from '../../config/value.ts';
import { isOfService, writeClientFile } from '../../connect/client-file.ts';
import { directoryOption, SYSTEM_SOCKET } from '../../connect/locate.ts';
import { usage } from '../../model/failure.ts';
import type { HookWing } from '../context.ts';
import { LocalPaths, SERVICES } from '../daemons/local-paths.ts';
import type { Chosen, Template } from '../template.ts';
import { defineVerb } from '../verb.ts';

interface Options {
  readonly name: string;
  readonly listen?: string;
  readonly names?: string;
  readonly template?: string;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.option('--name <name>', 'name of the cluster', 'weft');
    command.option(
      '--listen <address>',
      `where agents and users reach the head (default: ${LISTEN}, or as the template has it)`,
    );
    command.option('--names <names>', 'names and addresses of this machine, separated by commas');
    command.option(
      '--template <template>',
      'a configuration for one kind of cluster; `list` shows them (default: all keys, as comments)',
    );
  },
  async run({ context, options }) {
    const templates = await templatesOf(context.wings);
    if (options.template === 'list') {
      for (const { name, summary } of templates) context.print(`${name.padEnd(12)} ${summary}`);
      return 0;
    }
    const template = options.template === undefined ? null : named(templates, options.template);
    const paths = new LocalPaths(context.directory);
    const file = path.join(paths.directory, 'weft.yaml');
    if (existsSync(file)) {
      throw usage(`${file} already exists`, 'Edit it, or remove it first.');
    }
    if (existsSync(paths.cluster)) {
      throw usage(
        `${paths.directory} has the cluster of \`weft up\``,
        'Choose another directory with --dir.',
      );
    }
    const { keys } = await schemaOf(context.wings);
    const chosen = chosenFrom(options, template?.listen ?? LISTEN, keys);
    const text = template?.text(chosen) ?? configText(chosen, keys);
    paths.make('shared');
    namingFile(file, () => writeNew(file, text));
    context.print(`Wrote ${file}. What next:`);
    const users = writeClientFile({ socket: SYSTEM_SOCKET }, context);
    if (users !== null) context.note(`users of this machine find the head by ${users}`);
    const steps = nextSteps(paths.directory, directoryOption(paths.directory, context.environment));
    const width = Math.max(...steps.map(([command]) => command.length));
    for (const [command, where] of steps) context.print(`  ${command.padEnd(width)}  ${where}`);
    return 0;
  },
});

/** All of it or nothing: half a file would be in the way of the next try. */
function writeNew(file: string, text: string): void {
  const made = openSync(file, 'wx', 0o640);
  try {
    writeFileSync(made, text);
  } catch (error) {
    rmSync(file);
    throw error;
  } finally {
    closeSync(made);
  }
}

type NextStep = readonly [command: string, where: string];

/**
 * What to type next, in this order. The head of a service is at the machine's socket, outside of
 * its directory, where commands with --dir do not look. `dir`: the option that names the directory.
 */
export function nextSteps(directory: string, dir: string): readonly NextStep[] {
  const byHand = isOfService(directory) ? `WEFT_DIR=${quoteWord(directory)} weft head` : null;
  const isUnit = directory === SERVICES.head;
  return [
    isUnit
      ? ['systemctl enable --now weft-head', `here; without systemd: ${byHand}`]
      : [byHand ?? `weft head${dir}`, 'here, as a service'],
    [`weft token join${byHand === null ? dir : ''}`, 'here, once it runs: prints weft-join:…'],
    ['weft join', 'on each machine that offers itself; reads weft-join:…'],
    ['weft agent', 'there, as a service'],
  ];
}

const LISTEN = '0.0.0.0:5001';

async function templatesOf(wings: readonly HookWing[]): Promise<readonly Template[]> {
  return (await Promise.all(wings.flatMap(({ cli }) => cli?.templates?.() ?? []))).flat();
}

function named(templates: readonly Template[], name: string): Template {
  const found = templates.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = templates.map((one) => one.name);
  const what = `--template: '${name}' is none.${didYouMean(name, names)}`;
  throw usage(what, `There are: ${names.join(', ')}.`);
}

/** What was chosen, as YAML has it. */
function chosenFrom(options: Options, usual: string, keys: readonly Key[]): Chosen {
  const { name, names, listen = usual } = options;
  const address = keys.find((key) => key.name === 'head.listen');
  const parsed = address === undefined ? null : parseValue(address, listen);
  if (!parsed?.ok) throw usage(`--listen: ${parsed?.error}`);
  const shown = address === undefined ? 'none' : formatValue(address, parsed.value);
  return { name: JSON.stringify(name), listen: shown, names: names ?? hostname() };
}

/** The file: what was chosen, and the rest as comments with defaults, each group's header too. */
function configText({ name, listen, names }: Chosen, keys: readonly Key[]): string {
  const chosen = new Map([
    ['cluster.name', name],
    ['head.listen', listen],
    ['head.names', `[${names}]`],
  ]);
  const lines = [
    '# Configuration of Weft; docs/config.md says more. Durations and sizes have units.',
    '# A key counts without the # before it, and without that before its group.',
  ];
  let section = '';
  for (const key of keys) {
    const [group = ''] = key.name.split('.');
    const word = key.name.slice(group.length + 1);
    if (group === 'up') continue;
    const value = chosen.get(key.name);
    // Without a value below it a header says that the group is there, and keeps it from being
    // added.
    if (group !== section) lines.push('', hasChosen(chosen, group) ? `${group}:` : `#${group}:`);
    section = group;
    lines.push(`  # ${key.text}`);
    lines.push(value === undefined ? `  #${word}: ${key.default ?? ''}` : `  ${word}: ${value}`);
  }
  return `${lines.join('\n').replace(/ +$/gm, '')}\n`;
}

function hasChosen(chosen: ReadonlyMap<string, string>, group: string): boolean {
  return [...chosen.keys()].some((name) => name.startsWith(`${group}.`));
}
