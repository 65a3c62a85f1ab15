// The layout as data: which layer may import which. A layer is a folder of the kernel, or of a
// wing, of that name (`src/kernel/head`, `src/wings/batches/head`); what is not listed is not
// allowed. A file may always import its own layer.

import path from 'node:path/posix';

/** A file's house, the kernel or one wing, and its layer there. */
export interface LayerPlace {
  readonly house: string;
  readonly layer: string;
}

const PURE_BELOW = ['model', 'base'];

/** Rows: a layer and the layers it may import. */
export const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  model: ['base'],
  scheduler: PURE_BELOW,
  files: PURE_BELOW,
  runner: PURE_BELOW,
  core: ['scheduler', 'files', ...PURE_BELOW],
  machine: ['scheduler', 'files', 'core', ...PURE_BELOW],
  ports: PURE_BELOW,
  listeners: [],
  steps: ['listeners', 'base'],
  wire: ['core', ...PURE_BELOW],
  store: ['ports', ...PURE_BELOW],
  adaptors: PURE_BELOW,
  functions: ['ports', 'wire', 'core', ...PURE_BELOW],
  fabric: ['adaptors', 'ports', 'scheduler', 'core', ...PURE_BELOW],
  api: ['core', 'files', ...PURE_BELOW],
  head: [
    ...['machine', 'scheduler', 'files', 'core', ...PURE_BELOW],
    ...['listeners', 'wire', 'ports', 'fabric', 'functions', 'api'],
  ],
  agent: ['runner', 'files', 'core', ...PURE_BELOW, 'listeners', 'wire', 'ports', 'functions'],
  os: ['ports', 'base'],
  config: ['api', 'core', ...PURE_BELOW],
  connect: ['config', 'api', ...PURE_BELOW],
  batch: ['transfer', 'config', 'api', 'core', 'files', ...PURE_BELOW],
  transfer: ['connect', 'batch', 'config', 'api', 'core', 'files', ...PURE_BELOW],
  staging: ['transfer', 'config', 'api', 'ports', 'files', 'core', ...PURE_BELOW],
  sdk: [
    ...['functions', 'wire', 'transfer', 'connect', 'batch', 'config', 'api'],
    ...['core', 'files', ...PURE_BELOW],
  ],
  cli: [
    ...['sdk', 'transfer', 'connect', 'batch', 'config', 'api'],
    ...['core', 'files', ...PURE_BELOW],
  ],
  page: ['api', ...PURE_BELOW],
};

/** Layers that read no clock, roll no die and never wait; `src/tsconfig.pure.json` has the same. */
export const PURE = ['base', 'model', 'scheduler', 'machine', 'runner', 'files', 'core'];

/** Programs and what is simulated: everything of the house, but not the page. */
const PROGRAMS = ['bin', 'sim'];
/** Folders beside `src/` that may import anything. */
const FREE = ['tools', 'test', 'bench', 'launcher'];

/** Rooms of one folder, the lowest first: a file may import its own room and those below it. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'src/kernel/scheduler': ['line', 'room', 'cycle', 'answers'],
};

/** Packages that a layer must not import: what it does with them belongs to somebody else. */
export const PACKAGE_BANS: readonly (readonly [layer: string, ban: RegExp, remedy: string])[] = [
  ...PURE.map((layer) => [layer, /./, 'it is pure; take what you need as an argument'] as const),
  [
    'wire',
    /^(ws|fastify|node:(net|http|https|tls|child_process))$/,
    'wire turns messages into bytes; sockets belong to os/',
  ],
  [
    'adaptors',
    /^node:(net|http|https|tls|child_process|fs)/,
    'an adaptor is text in, text out; fabric/ runs the programs',
  ],
];

/** Where a file stands; undefined outside the layout. */
export function placeOf(file: string): LayerPlace | undefined {
  const [top = '', second = '', third = '', fourth = ''] = file.split('/');
  if (FREE.includes(top) || top === 'sim' || top === 'examples') return { house: top, layer: top };
  if (top !== 'src') return undefined;
  if (second === 'bin') return { house: 'bin', layer: 'bin' };
  if (second === 'kernel' && third in IMPORTS) return { house: 'kernel', layer: third };
  if (second !== 'wings') return undefined;
  const layer = fourth === 'bin' || fourth in IMPORTS ? fourth : undefined;
  return layer === undefined ? undefined : { house: third, layer };
}

/** May a file of this layer import a file of that layer, whatever their houses? */
export function mayImport(from: string, to: string): boolean {
  if (from === to || FREE.includes(from)) return true;
  if (PROGRAMS.includes(from)) return to !== 'page' && !FREE.includes(to);
  if (from === 'examples') return to === 'sdk';
  return IMPORTS[from]?.includes(to) ?? false;
}

/** The room of a higher floor that a file of a room imports; null when it imports none. */
export function roomAbove(from: string, to: string): string | null {
  const folder = Object.keys(ROOMS).find((one) => from.startsWith(`${one}/`));
  const rooms = ROOMS[folder ?? ''];
  if (folder === undefined || rooms === undefined) return null;
  const floor = (file: string) => rooms.indexOf(path.dirname(path.relative(folder, file)));
  return floor(from) >= 0 && floor(to) > floor(from) ? (rooms[floor(to)] ?? null) : null;
}

/** What a layer may import, in words for a message. */
export function allowedText(from: string): string {
  const row = IMPORTS[from];
  return row?.length ? row.join(', ') : 'nothing';
}
