// Contents that compress as what people send does: program text, and columns of numbers.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/**
 * Weft's own sources, again from the first after the last. They are some megabytes, far more than
 * the window in which a compressor finds what it has seen.
 */
export function sources(bytes: number): Buffer {
  const below = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  const files = below.filter((name) => name.endsWith('.ts')).sort();
  const text = Buffer.concat(files.map((name) => readFileSync(join(ROOT, 'src', name))));
  const whole = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at += text.length) text.copy(whole, at);
  return whole;
}

/** Rows of a simulation: a step, and three walks at random to six digits. */
export function numbers(bytes: number): Buffer {
  const whole = Buffer.alloc(bytes, '\n');
  const walks = [0, 10, -100];
  for (let at = 0, step = 0; ; step += 1) {
    const row = walks.map((value, which) => {
      walks[which] = value + Math.random() - 0.5;
      return value.toFixed(6);
    });
    const line = `${step},${row.join(',')}\n`;
    if (at + line.length > bytes) return whole;
    at += whole.write(line, at);
  }
}
