// The colours of style.css for what is drawn on a canvas, as the reader's scheme has them now.

import { HUES, type Hue } from '../pure/bar-colours.ts';
import { TONES, type Tone } from '../pure/state.ts';

export type Paint = Readonly<Record<Tone | Hue | 'text' | 'faint' | 'line' | 'back', string>>;

const NAMES = [...TONES, ...HUES, ...(['text', 'faint', 'line', 'back'] as const)];

export function colours(): Paint {
  const style = getComputedStyle(document.documentElement);
  const pairs = NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]);
  return Object.fromEntries(pairs) as Paint;
}
