// The import table of the repository, as data: which folder may import which. What is not listed is
// not allowed; a folder may always import itself.

import path from 'node:path/posix';

/** Rows: a folder and the folders it may import. Names are below `src/` unless in OUTSIDE. */
export const IMPORTS: Readonly<Record<string, readonly string[]>> = withPrograms({
  'core/base': [],
  'core/model': ['core/base'],
  'core/scheduler': ['core/model', 'core/base'],
  'core/replay': ['core/scheduler', 'core/model', 'core/base'],
  'core/files': ['core/model', 'core/base'],
  'core/batch': ['core/files', 'core/model', 'core/base'],
  'core/runner': ['core/model', 'core/base'],
  'core/blobs': ['core/model', 'core/base'],
  'core/calls': ['core/model', 'core/base'],
  'core/goals': ['core/model', 'core/base'],
  'core/controller': ['core/scheduler', 'core/batch', 'core/model', 'core/base'],
  ports: ['core/model', 'core/base'],
  doors: [],
  steps: ['doors', 'core/base'],
  wire: ['core/calls', 'core/model', 'core/base'],
  store: ['ports', 'core/model', 'core/base'],
  adaptors: ['core/model', 'core/base'],
  functions: ['ports', 'wire', 'core/calls', 'core/model', 'core/base'],
  fabric: ['adaptors', 'ports', 'core/scheduler', 'core/model', 'core/base'],
  api: ['core/batch', 'core/files', 'core/model', 'core/base'],
  head: [
    ...['core/controller', 'core/scheduler', 'core/blobs', 'core/batch', 'core/files'],
    ...['core/calls', 'core/goals', 'core/model', 'core/base'],
    ...['doors', 'wire', 'ports', 'fabric', 'functions', 'api'],
  ],
  agent: [
    'core/runner',
    'core/blobs',
    'core/files',
    'core/model',
    'core/base',
    'doors',
    'wire',
    'ports',
    'functions',
  ],
  os: ['ports', 'core/base'],
  sdk: [
    ...['functions', 'wire', 'transfer', 'connect', 'batch', 'config', 'api'],
    ...['core/calls', 'core/batch', 'core/files', 'core/model', 'core/base'],
  ],
  config: ['api', 'core/goals', 'core/model', 'core/base'],
  connect: ['config', 'api', 'core/model', 'core/base'],
  transfer: [
    ...['connect', 'batch', 'config', 'api'],
    ...['core/batch', 'core/files', 'core/model', 'core/base'],
  ],
  staging: [
    ...['transfer', 'config', 'api', 'ports'],
    ...['core/blobs', 'core/batch', 'core/files', 'core/model', 'core/base'],
  ],
  batch: ['config', 'api', 'core/batch', 'core/files', 'core/model', 'core/base'],
  cli: [
    ...['sdk', 'transfer', 'connect', 'batch', 'config', 'api'],
    ...['core/replay', 'core/batch', 'core/files', 'core/model', 'core/base'],
  ],
  dashboard: ['api', 'core/model', 'core/base'],
});

/** Rows for folders beside `src/`; null means that anything may be imported. */
const OUTSIDE: Readonly<Record<string, readonly string[] | null>> = {
  tools: null,
  test: null,
  bench: null,
  launcher: null,
  examples: ['sdk'],
};

/** Rooms of one folder, the lowest first: a file may import its own room and those below it. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'core/scheduler': ['line', 'room', 'cycle', 'answers'],
};

/** Packages that a folder must not import: what it does with them belongs to somebody else. */
export const PACKAGE_BANS: readonly (readonly [layer: string, ban: RegExp, remedy: string])[] = [
  ['core/', /./, 'core imports no package and no node: module; take what you need as an argument'],
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

function withPrograms(rows: Record<string, readonly string[]>) {
  const all = Object.keys(rows);
  const simulated = all.filter(
    (name) =>
      ![
        'os',
        'config',
        'connect',
        'transfer',
        'staging',
        'batch',
        'sdk',
        'cli',
        'dashboard',
      ].includes(name),
  );
  return { ...rows, bin: all.filter((name) => name !== 'dashboard'), sim: simulated };
}

/** The row a file belongs to: `core/base`, `head`, `sim`, `test`; undefined outside the layout. */
export function layerOf(file: string): string | undefined {
  const [top = '', second = '', third = ''] = file.split('/');
  if (top in OUTSIDE || top === 'sim' || top === 'dashboard') return top;
  if (top !== 'src') return undefined;
  const name = second === 'core' ? `core/${third}` : second;
  return name in IMPORTS && name !== 'sim' && name !== 'dashboard' ? name : undefined;
}

/** The folder of a row, from the top of the repository. */
export function folderOf(layer: string): string {
  return layer in OUTSIDE || layer === 'sim' || layer === 'dashboard' ? layer : `src/${layer}`;
}

/** May a file of this row import a file of that row? */
export function mayImport(from: string, to: string): boolean {
  if (from === to) return true;
  const row = from in OUTSIDE ? OUTSIDE[from] : IMPORTS[from];
  return row === null || (row?.includes(to) ?? false);
}

/** The room of a higher floor that a file of a room imports; null when it imports none. */
export function roomAbove(layer: string, from: string, to: string): string | null {
  const rooms = ROOMS[layer] ?? [];
  const floor = (file: string) => rooms.indexOf(path.dirname(path.relative(folderOf(layer), file)));
  return floor(from) >= 0 && floor(to) > floor(from) ? (rooms[floor(to)] ?? null) : null;
}

/** What a row may import, in words for a message. */
export function allowedText(from: string): string {
  const row = from in OUTSIDE ? OUTSIDE[from] : IMPORTS[from];
  return row?.length ? row.join(', ') : 'nothing';
}
