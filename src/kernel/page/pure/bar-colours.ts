// Which of a few colours a bar of the schedule has: by its state, its user or its job.

import type { ScheduleBar } from '../../api/schedule.ts';
import { type Tone, toneOf } from './state.ts';

/** Names of colours in style.css that say nothing but 'another one'. */
export const HUES = ['h0', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'h7'] as const;
export type Hue = (typeof HUES)[number];

export const COLOURINGS = ['state', 'user', 'job'] as const;
export type Colouring = (typeof COLOURINGS)[number];

export function colouringOf(text: string): Colouring {
  return COLOURINGS.find((one) => one === text) ?? 'state';
}

/** A colour for each bar, and for each user the one that is theirs. */
export interface BarColours {
  readonly of: (bar: ScheduleBar) => Tone | Hue;
  readonly users: readonly (readonly [string, Hue])[];
}

/** Users by name: each keeps a colour while the same people have jobs. */
export function barColours(bars: readonly ScheduleBar[], by: Colouring): BarColours {
  if (by === 'state') {
    const of = ({ kind, word }: ScheduleBar): Tone => (kind === 'planned' ? 'wait' : toneOf(word));
    return { of, users: [] };
  }
  if (by === 'job') return { of: ({ jobId }) => hueOf(jobId), users: [] };
  const names = [...new Set(bars.map(({ owner }) => owner))].sort();
  const users = names.map((name, at): [string, Hue] => [name, hueOf(at)]);
  const hues = new Map(users);
  return { of: ({ owner }) => hues.get(owner) ?? 'h0', users };
}

/** Neighbours in number are far apart in colour. */
function hueOf(number: number): Hue {
  return HUES[(number * 3) % HUES.length] as Hue;
}
