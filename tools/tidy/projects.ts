// The compiler's view of purity: the project without Node's types must have exactly the pure
// layers, or it would let through what the layout forbids.

import type { Finding } from './finding.ts';
import { PURE } from './layers.ts';

export const PURE_PROJECT = 'src/tsconfig.pure.json';
/** Pure layers that only a wing has, and those that only the kernel has. */
const OF_WINGS = ['core'];
const OF_KERNEL = ['base', 'scheduler', 'files'];

/** Checks what the pure project includes. `text`: its tsconfig. */
export function checkPureProject(text: string): Finding[] {
  const { include } = JSON.parse(text) as { readonly include: readonly string[] };
  const wanted = [
    ...without(OF_WINGS).map((layer) => `kernel/${layer}/**/*.ts`),
    ...without(OF_KERNEL).map((layer) => `wings/*/${layer}/**/*.ts`),
  ];
  return [
    ...wanted.filter((one) => !include.includes(one)).map((one) => finding(`include '${one}'`)),
    ...include
      .filter((one) => !wanted.includes(one))
      .map((one) => finding(`do not include '${one}': no such layer is pure`)),
  ];
}

function without(names: readonly string[]): string[] {
  return PURE.filter((layer) => !names.includes(layer));
}

function finding(message: string): Finding {
  return { path: PURE_PROJECT, line: 1, level: 'error', message };
}
