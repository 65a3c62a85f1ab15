// Colours of the page: what stands side by side can be told apart, in both schemes, and be read.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { HUES } from '../../../../src/kernel/page/pure/bar-colours.ts';
import { NODE_TONES, TONES } from '../../../../src/kernel/page/pure/state.ts';
import { ROOT } from '../../../../tools/tree.ts';

/** The least distance in OKLab at which patches are not taken for one another. */
const APART_MIN = 0.06;
/** WCAG 2.2, 1.4.3. */
const CONTRAST_MIN = 4.5;

const css = readFileSync(path.join(ROOT, 'src', 'kernel', 'page', 'style.css'), 'utf8');
const schemes = [...css.matchAll(/:root \{([^}]*--fault: #[^}]*)\}/g)].map(([, block = '']) => {
  const pairs = [...block.matchAll(/--([a-z0-9]+): (#[0-9a-f]{6});/g)];
  return new Map(pairs.map(([, name = '', value = '']) => [name, value]));
});

test('each word of a node has a colour of its own, apart from all others in both schemes', () => {
  const tones = Object.values(NODE_TONES);
  assert.equal(new Set(tones).size, tones.length);
  assert.equal(schemes.length, 2);
  for (const scheme of schemes) {
    // Those of users and jobs stand side by side, too.
    for (const all of [tones, HUES]) {
      for (const [at, one] of all.entries()) {
        for (const other of all.slice(at + 1)) {
          const apart = distance(scheme.get(one) ?? '', scheme.get(other) ?? '');
          assert.ok(apart >= APART_MIN, `${one} and ${other}: ${apart.toFixed(3)}`);
        }
      }
    }
  }
});

test('words in every colour can be read on the page and on its panels', () => {
  for (const scheme of schemes) {
    for (const tone of [...TONES, ...HUES]) {
      for (const under of ['back', 'panel', 'under']) {
        const much = contrast(scheme.get(tone) ?? '', scheme.get(under) ?? '');
        assert.ok(much >= CONTRAST_MIN, `${tone} on ${under}: ${much.toFixed(2)}`);
      }
    }
  }
});

test('each tone has a class that colours by it', () => {
  for (const tone of [...TONES, ...HUES])
    assert.ok(css.includes(`.${tone} {\n  --tone: var(--${tone});`), tone);
});

function linear(colour: string): [number, number, number] {
  const part = (at: number): number => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [part(1), part(3), part(5)];
}

function contrast(one: string, other: string): number {
  const light = (colour: string): number => {
    const [red, green, blue] = linear(colour);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low, high] = [light(one), light(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** In OKLab (B. Ottosson, 2020). */
function distance(one: string, other: string): number {
  const lab = (colour: string): number[] => {
    const [red, green, blue] = linear(colour);
    const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
    const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
    const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
    return [
      0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
      1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
      0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ];
  };
  const [a, b] = [lab(one), lab(other)];
  return Math.hypot(...a.map((value, at) => value - (b[at] ?? 0)));
}
