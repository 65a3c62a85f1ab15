// The generated part of the documentation: commands, configuration keys, errors. What people write
// by hand is below the line that `KEPT_FROM` names and stays as it is.

import type { Command, Option } from 'commander';
import { eventKindsOf } from '../../src/kernel/api/event-kinds.ts';
import type { ApiPart } from '../../src/kernel/api/part.ts';
import { buildProgram, runSingle } from '../../src/kernel/cli/main.ts';
import { verbsOf } from '../../src/kernel/cli/verbs.ts';
import type { Key } from '../../src/kernel/config/key.ts';
import { environmentName, SEED_DEFAULTS, SEED_KEYS } from '../../src/kernel/config/keys.ts';
import { type Schema, schemaOf } from '../../src/kernel/config/schema.ts';
import { tablesOf } from '../../src/kernel/config/tables.ts';
import { batchFileJsonSchema } from '../../src/wings/batches/api/batch-file.ts';
import { WINGS } from '../../src/wings.ts';
import { COMMON, SILENT, wingPrograms } from './commands.ts';
import { errorsText } from './errors-page.ts';
import { libraryPage } from './library-page.ts';
import { slurmPage } from './slurm-page.ts';

/** From this heading on a page is kept. */
export const KEPT_FROM = '## Example';

export interface Page {
  /** From the top of the repository. */
  readonly path: string;
  readonly text: string;
  /** Whether the page ends with a part written by hand. */
  readonly kept: boolean;
}

/** Every page that is made from the code. */
export async function makePages(): Promise<Page[]> {
  const program = await buildProgram(SILENT, { exitCode: 0 }, { word: '*' });
  const pages = verbsOf(WINGS).map(({ name }) => {
    const command = program.commands.find((candidate) => candidate.name() === name);
    if (command === undefined) throw new Error(`no command ${name}`);
    return commandPage(`weft ${name}`, command);
  });
  const errors = { path: 'docs/errors.md', text: errorsText(), kept: false };
  pages.push(...(await programPages()));
  const library = { path: 'docs/api/library.md', text: libraryPage(), kept: false };
  return [
    ...pages,
    configPage(await schemaOf(WINGS)),
    eventsPage(await Promise.all(WINGS.flatMap(({ api }) => api?.() ?? []))),
    errors,
    library,
    { path: 'docs/migration/slurm-commands.md', text: slurmPage(), kept: true },
    batchSchema(),
  ];
}

function commandPage(title: string, command: Command): Page {
  const inner = command.commands.map((one) => section(`${title} ${one.name()}`, one, '## '));
  const own = command.commands.length === 0 ? [usage(title, command), options(command)] : inner;
  const parts = [`# ${title}`, sentence(command.description()), ...own.flat(), EXITS];
  const name = title.replace(/^weft /, '');
  return { path: `docs/commands/${name}.md`, text: join(parts), kept: true };
}

function section(title: string, command: Command, mark: string): string[] {
  const text = sentence(command.summary());
  return [`${mark}${title}`, text, usage(title, command), options(command)];
}

function usage(title: string, command: Command): string {
  return ['```', `${title} ${command.usage()}`, '```'].join('\n');
}

function options(command: Command): string {
  const rows = command.registeredArguments.map((argument) => [
    argument.name(),
    argument.description,
  ]);
  for (const option of command.options) {
    if (!COMMON.has(option.long ?? '') && !option.hidden)
      rows.push([option.flags, optionText(option)]);
  }
  if (rows.length === 0)
    return 'It takes no options but those for [finding the cluster](README.md).';
  const lines = rows.map(([name, text]) => `| \`${cell(name ?? '')}\` | ${cell(text ?? '')} |`);
  return ['| operand or option | what it is |', '|---|---|', ...lines].join('\n');
}

function optionText({ description, defaultValue }: Option): string {
  return defaultValue === undefined ? description : `${description} (default: ${defaultValue})`;
}

const EXITS =
  'Exit codes are those of [errors](../errors.md); `run --wait`, `submit --wait` and `wait` end ' +
  'with the exit code of the job.';

async function programPages(): Promise<Page[]> {
  const { singles, commands } = await wingPrograms();
  const pages = commands.map((command) => commandPage(command.name(), command));
  for (const [name, { summary, verb }] of singles) {
    let help = '';
    const terminal = {
      ...SILENT.terminal,
      out: (text: string | Uint8Array) => {
        help += text;
      },
    };
    await runSingle({ ...SILENT, program: name, argv: ['--help'], terminal }, summary, verb);
    const parts = [`# ${name}`, summary, ['```', help.trimEnd(), '```'].join('\n')];
    pages.push({ path: `docs/commands/${name}.md`, text: join(parts), kept: true });
  }
  return pages;
}

const KEY_COLUMNS = ['| key | type | default | what it is |', '|---|---|---|---|'];

function keyRow({ name, type, default: value, text, choices }: Key, none: string): string {
  const kind = choices === undefined ? type : choices.join(', ');
  const shown = value === null ? none : value === '' ? 'none' : `\`${value}\``;
  return `| \`${name}\` | ${kind} | ${shown} | ${cell(text)} |`;
}

/** The parts of the file whose entries have names of the site's own. */
function tableParts({ tables }: Schema): string[] {
  return tablesOf(tables).flatMap(({ section, fields }) => {
    const rows = fields.map((field) => {
      const name = field.name === '' ? `${section}.NAME` : field.name;
      return keyRow({ ...field, name }, '');
    });
    return [`### \`${section}\``, [...KEY_COLUMNS, ...rows].join('\n')];
  });
}

const TABLES_TEXT = [
  'These stand in the file only, each under a name of your own; there are no variables for them.',
  'The partition `default` is always there, with all nodes, and takes the jobs that name none; an',
  'entry of that name changes it. A node may be in several partitions. `normal` is the QoS of jobs',
  'that name none. In an expression over labels `!` binds before `&`, and `&` before `|`.',
  '',
  '```yaml',
  'partitions:',
  '  default: {policy: easy, limits: {time: 2d, default_time: 1h}}',
  '  gpu:',
  '    labels: gpu & !old',
  '    groups: [chem, bio]',
  '    limits: {tasks_per_user: 8}',
  '  test: {nodes: "n[1-2]", tier: 1, limits: {time: 10m}}',
  'qos:',
  '  urgent: {priority: 1, running_tasks: 4, users: [olga]}',
  'fair_share:',
  '  half_life: 7d',
  '  groups: {chem: {share: 3, users: [ann, bob]}}',
  '```',
].join('\n');

function configPage(schema: Schema): Page {
  const rows = schema.keys.map((one) => keyRow(one, 'found out'));
  const old = Object.entries(SEED_KEYS).map(
    ([name, { key, unit, least }]) =>
      `| \`${name}\` | \`${key}\` | ${UNITS[unit]}${least > 0 ? `; less than ${least} counts as that` : ''} |`,
  );
  const sample = environmentName('head.node_timeout');
  const intro = [
    'One YAML file, read strictly: an unknown key or a wrong value is reported with file, line and',
    'column, and with the nearest right name. A flag wins over the environment, that over the file,',
    `that over the default; \`weft config show\` says where each value comes from. Every key has a`,
    `variable: \`${sample}\` for \`head.node_timeout\`. Keys may be nested or written with a dot.`,
    '',
    'The file is the first of: `--config`, `WEFT_CONFIG`, `weft.yaml` in the state directory,',
    '`~/.config/weft/weft.yaml`, `/etc/weft/weft.yaml`. Where `CM_PATH` is set, `$CM_PATH/etc/cm-config.yml`',
    'is read too, and what it sets holds where the first file is silent. Beside a wrong file',
    'that was not named by `--config` or `WEFT_CONFIG`, commands that only ask the head go on.',
    '',
    'Durations have units: `90s`, `15m`, `1h30m`, `2d`, `2-12:00:00`; `none` is no limit. Sizes have',
    'units: `512M` and `4GiB` are powers of 1024, `100MB` of 1000.',
  ].join('\n');
  const parts = [
    '# Configuration',
    intro,
    [...KEY_COLUMNS, ...rows].join('\n'),
    '## Partitions, qualities of service, shares',
    TABLES_TEXT,
    ...tableParts(schema),
    '## Old keys',
    [
      'A `cm-config.yml` is understood as it is; its bare numbers have the units they always had. Where it',
      `sets nothing, it has defaults of its own: ${seedDefaults()}.`,
    ].join('\n'),
    ['| old key | key | unit of a bare number |', '|---|---|---|', ...old].join('\n'),
  ];
  return { path: 'docs/config.md', text: join(parts), kept: true };
}

function seedDefaults(): string {
  return Object.entries(SEED_DEFAULTS)
    .map(([name, text]) => `\`${name}: ${text}\``)
    .join(', ');
}

const AUDIENCES = { job: "the job's owner, operators", all: 'every user', admin: 'admins' };

function eventsPage(parts: readonly ApiPart[]): Page {
  const intro = [
    'What `GET /v1/events` shows ([api](api.md)): each event has its `kind`, and `jobId` when it is about',
    'one job, besides the fields of its kind; a field is absent where it has no value. A newer head may',
    'send kinds and fields that are not listed here: pass them over.',
  ].join('\n');
  const rows = Object.entries(eventKindsOf(parts)).map(([kind, { audience, says, fields }]) => {
    const names = fields.map((name) => `\`${name}\``).join(', ');
    return `| \`${kind}\` | ${AUDIENCES[audience]} | ${says} | ${names} |`;
  });
  const head = ['| kind | who sees it | what it says | fields |', '|---|---|---|---|'];
  const table = [...head, ...rows].join('\n');
  return { path: 'docs/events.md', text: join(['# Events', intro, table]), kept: false };
}

/** What editors complete batch files by. */
function batchSchema(): Page {
  const text = `${JSON.stringify(batchFileJsonSchema(), null, 2)}\n`;
  return { path: 'docs/schema/weft.batch.schema.json', text, kept: false };
}

const UNITS = {
  ms: 'milliseconds',
  s: 'seconds',
  h: 'hours; below 1 none',
  M: 'megabytes of 1024 × 1024 bytes',
  count: 'count',
  port: 'port on 127.0.0.1',
} as const;

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function join(parts: readonly string[]): string {
  return `${parts.join('\n\n')}\n`;
}
