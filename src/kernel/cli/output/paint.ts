// Colours of states and outcomes, for people at a terminal: never in pipes, nor where NO_COLOR is
// set (no-color.org).

import type { Environment } from '../../config/config.ts';

/** SGR parameters (ECMA-48 8.3.117). */
const CODES = { red: 31, green: 32, yellow: 33, cyan: 36, grey: 90 } as const;

export type Colour = keyof typeof CODES;

/** The text in that colour, or as it is. */
export type Paint = (text: string, colour: Colour | null) => string;

export const PLAIN: Paint = (text) => text;

const IN_COLOUR: Paint = (text, colour) =>
  colour === null ? text : `\u001b[${CODES[colour]}m${text}\u001b[39m`;

export function paintFor(to: 'terminal' | 'file', environment: Environment): Paint {
  const isUnwanted = Boolean(environment['NO_COLOR']) || environment['TERM'] === 'dumb';
  return to === 'terminal' && !isUnwanted ? IN_COLOUR : PLAIN;
}

const COLOURS: Readonly<Record<string, Colour>> = {
  pending: 'yellow',
  held: 'yellow',
  suspended: 'yellow',
  starting: 'cyan',
  completing: 'cyan',
  staging_in: 'cyan',
  staging_out: 'cyan',
  running: 'green',
  completed: 'green',
  cancelled: 'grey',
  failed: 'red',
  timeout: 'red',
  out_of_memory: 'red',
  node_fail: 'red',
  launch_failed: 'red',
  build_failed: 'red',
  stage_failed: 'red',
  deadline: 'red',
  // Nodes.
  idle: 'green',
  'in use': 'green',
  draining: 'yellow',
  drained: 'yellow',
  paused: 'yellow',
  maintenance: 'cyan',
  down: 'red',
  unreachable: 'red',
  'disk full': 'red',
};

/** Colour of a state or an outcome, by its first word as listings have it; null: none. */
export function colourOf(state: string): Colour | null {
  const words = state.split(/[,(:]/)[0]?.trim() ?? '';
  return Object.hasOwn(COLOURS, words) ? (COLOURS[words] as Colour) : null;
}
