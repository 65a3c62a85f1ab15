// `weft config …`: what is in force and from where, and whether a file is right.

import path from 'node:path';
import type { ReloadReply, SettingChange } from '../../api/partitions.ts';
import { plural } from '../../base/plural.ts';
import type { Setting } from '../../config/config.ts';
import { formatValue } from '../../config/value.ts';
import { Failure, usage } from '../../model/failure.ts';
import type { Context } from '../context.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import type { Column } from '../output/table.ts';
import { defineVerb, type VerbGroup } from '../verb.ts';

const COLUMNS: Column<Setting>[] = [
  { title: 'KEY', value: ({ key }) => key.name },
  { title: 'VALUE', value: shown },
  { title: 'FROM', value: ({ source }) => source },
  { title: 'WHAT', value: ({ key }) => key.text, wide: true },
];

const show = defineVerb<ListingOptions>({
  define: defineListing,
  async run({ context, options }) {
    const config = await context.config();
    if (options.output === 'json') {
      const rows = config.all().map(({ key, value, source }) => ({ key: key.name, value, source }));
      context.print(JSON.stringify(rows, null, 2));
      return 0;
    }
    const name = ({ key }: Setting) => key.name;
    await context.list({ rows: config.all(), columns: COLUMNS, name, empty: '' }, options.output);
    return 0;
  },
});

const check = defineVerb({
  define: (command) => void command.argument('<file>', 'a weft.yaml, or an old cm-config.yml'),
  async run({ context, args: [file = ''] }) {
    const { readConfigFile } = await import('../../config/read-file.ts');
    const { schemaOf } = await import('../../config/schema.ts');
    const { values, tableValues } = readConfigFile(file, await schemaOf(context.wings));
    await checkForHead(file, context);
    context.print(`${file}: ${plural(values.size + tableValues.length, 'key')}, no problem found`);
    return 0;
  },
});

/** Checks what a head checks beyond single values, as whether two of them fit each other. */
async function checkForHead(file: string, { wings, environment, cwd }: Context): Promise<void> {
  const { loadConfig } = await import('../../config/config.ts');
  const { checkAsHead } = await import('../../config/head-options.ts');
  const { optionsOf } = await import('../../config/part.ts');
  // Without variables that override keys: the file alone is checked.
  const { HOME } = environment;
  const places = { environment: { HOME }, file, directory: path.dirname(path.resolve(cwd, file)) };
  try {
    checkAsHead(await loadConfig({ ...places, wings }), await optionsOf(wings));
  } catch (error) {
    if (!(error instanceof Failure) || error.hint !== null) throw error;
    throw usage(error.message, 'A head on this machine, started by you, would refuse it.');
  }
}

const reload = defineVerb({
  define: () => undefined,
  async run({ context }) {
    // The head reads it, and says what is wrong with it.
    await context.configOrDefaults(() => undefined);
    const api = await context.api();
    const reply = await api.call('reloadConfig');
    for (const line of reloadWords(reply)) context.print(line);
    const { settingsNotes = [] } = await api.call('info');
    for (const words of settingsNotes) context.note(words);
    return 0;
  },
});

function reloadWords({ file, changed, afterRestart }: ReloadReply): string[] {
  const read = file === null ? 'There is no file; the defaults are in force' : `Read ${file}`;
  const some = changed.length + afterRestart.length > 0;
  return [
    some ? `${read}.` : `${read}; nothing has changed.`,
    ...changed.map((change) => `  ${changeWords(change)}`),
    ...afterRestart.map((change) => `  ${changeWords(change)} - after the head restarts`),
  ];
}

function changeWords({ key, before, after }: SettingChange): string {
  return `${key}: ${before ?? 'not set'} -> ${after ?? 'not set'}`;
}

export const verb: VerbGroup = {
  verbs: {
    show: { summary: 'show every key, its value, and where it comes from', verb: show },
    reload: { summary: 'let the running head read its file again', verb: reload },
    check: { summary: 'check a configuration file', verb: check },
  },
};

function shown({ key, value, source }: Setting): string {
  if (value === null && source === 'default' && key.default === null) return '(found out)';
  return formatValue(key, value) || '(none)';
}
