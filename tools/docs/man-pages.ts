// Manual pages, roff for man(7), made from the commands: one for `weft`, one per command, one per
// program of the seed.

import { Command, type Option } from 'commander';
import { buildProgram } from '../../src/kernel/cli/main.ts';
import { verbsOf } from '../../src/kernel/cli/verbs.ts';
import { VERSION } from '../../src/kernel/cli/version.ts';
import { KINDS } from '../../src/kernel/model/errors.ts';
import { WINGS } from '../../src/wings.ts';
import { COMMON, SILENT, wingPrograms } from './commands.ts';

export interface ManPage {
  /** `weft-run.1`. */
  readonly file: string;
  readonly text: string;
}

/** Every page, those of the commands in the order of `weft --help`. */
export async function makeManPages(): Promise<ManPage[]> {
  const program = await buildProgram(SILENT, { exitCode: 0 }, { word: '*' });
  const { singles, commands } = await wingPrograms();
  const seed = singles.map(([name, { summary, verb }]) => {
    const command = new Command(name).description(summary).summary(summary.replace(/\.$/, ''));
    verb.define(command);
    return page(name, command, []);
  });
  const common = program.options.filter(({ long }) => COMMON.has(long ?? ''));
  const verbs = program.commands.map((command) => page(`weft ${command.name()}`, command, common));
  const groups = commands.map((command) => page(command.name(), command, common));
  return [overview(program, common), ...verbs, ...seed, ...groups];
}

function page(name: string, command: Command, common: readonly Option[]): ManPage {
  const inner = command.commands.flatMap((one) => [
    `.SS ${quoted(`${name} ${one.name()}`)}`,
    sentence(one.summary()),
    '.PP',
    ...usage(`${name} ${one.name()}`, one),
    ...options(one),
  ]);
  const own = inner.length > 0 ? ['.SH COMMANDS', ...inner] : ownPart(name, command);
  return manual(name, command.summary() || command.description(), [
    ...own,
    ...(common.length > 0 ? ['.SH WHICH CLUSTER', ...common.flatMap(option)] : []),
  ]);
}

function ownPart(name: string, command: Command): string[] {
  return ['.SH SYNOPSIS', ...usage(name, command), '.SH OPTIONS', ...options(command)];
}

function usage(name: string, command: Command): string[] {
  return [`.B ${escaped(name)}`, escaped(command.usage())];
}

function options(command: Command): string[] {
  const operands = command.registeredArguments.flatMap((argument) => [
    '.TP',
    `\\fI${escaped(argument.name())}\\fR`,
    line(sentence(argument.description)),
  ]);
  const own = command.options.filter(({ long, hidden }) => !COMMON.has(long ?? '') && !hidden);
  return [...operands, ...own.flatMap(option)];
}

function option({ flags, description, defaultValue }: Option): string[] {
  const shown = flags.replace(/-{1,2}[\w-]+/g, (flag) => `\\fB${flag}\\fR`);
  const usual = defaultValue === undefined ? '' : ` (default: ${defaultValue})`;
  return ['.TP', keepFonts(shown), line(sentence(`${description}${usual}`))];
}

function overview(program: Command, common: readonly Option[]): ManPage {
  const groups = new Map<string, string[]>();
  for (const { name, summary, group } of verbsOf(WINGS)) {
    const lines = ['.TP', `\\fBweft ${escaped(name)}\\fR(1)`, line(sentence(summary))];
    groups.set(group, [...(groups.get(group) ?? []), ...lines]);
  }
  return manual('weft', program.description(), [
    '.SH SYNOPSIS',
    '.B weft',
    escaped('COMMAND [options] [operands]'),
    '.SH COMMANDS',
    ...[...groups].flatMap(([group, lines]) => [
      `.SS ${quoted(group.replace(/:$/, ''))}`,
      ...lines,
    ]),
    '.SH WHICH CLUSTER',
    ...common.flatMap(option),
    '.SH ENVIRONMENT',
    ...Object.entries(ENVIRONMENT).flatMap(([name, text]) => ['.TP', `.B ${name}`, line(text)]),
  ]);
}

const ENVIRONMENT = {
  WEFT_DIR: 'As --dir.',
  WEFT_HEAD: 'As --head.',
  WEFT_FINGERPRINT: 'As --fingerprint.',
  WEFT_TOKEN: 'The token for a head elsewhere.',
  WEFT_TOKEN_FILE: 'As --token-file.',
  WEFT_CONFIG: 'As --config.',
};

/** The frame that every page has. */
function manual(name: string, summary: string, parts: readonly string[]): ManPage {
  const title = name.replace(' ', '-');
  const text = [
    `.TH ${title.toUpperCase()} 1 "" ${quoted(`Weft ${VERSION}`)} "Weft manual"`,
    '.nh',
    '.ad l',
    '.SH NAME',
    `${escaped(title)} \\- ${escaped(summary.replace(/\.$/, ''))}`,
    ...parts,
    '.SH EXIT STATUS',
    ...EXITS,
    '.SH SEE ALSO',
    title === 'weft' ? '.BR weft-run (1)' : '.BR weft (1)',
  ];
  return { file: `${title}.1`, text: `${text.join('\n')}\n` };
}

const EXITS = [
  ...['.TP', '.B 0', 'It worked.'],
  ...Object.entries(KINDS).flatMap(([kind, { exit }]) => [
    '.TP',
    `.B ${exit}`,
    escaped(`${kind}.`),
  ]),
  '.PP',
  line('With --wait, and for wait, the exit code is that of the job.'),
];

function sentence(text: string): string {
  const end = /[.!?]$/.test(text) ? '' : '.';
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${end}`;
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll('"', '\\(dq')}"`;
}

/** A line of text: one that begins with a dot or a quote would be a request. */
function line(text: string): string {
  const safe = escaped(text);
  return /^[.']/.test(safe) ? `\\&${safe}` : safe;
}

/** With the font changes that are in it. */
function keepFonts(text: string): string {
  return text
    .split(/(\\f[BIR])/)
    .map((part) => (/^\\f/.test(part) ? part : escaped(part)))
    .join('');
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^\x20-\x7e]/gu, unicode);
}

function unicode(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `\\[u${code.toString(16).toUpperCase().padStart(4, '0')}]`;
}
