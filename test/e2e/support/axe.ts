// What stumbles a reader who cannot see: axe-core on a page of a test's browser.

import axe, { type AxeResults } from 'axe-core';
import type { Visit } from '../../../tools/browser.ts';

/** What axe-core finds on the page as it is: sentences, none when all is well. */
export async function axeFindings({ page }: Visit): Promise<string[]> {
  await page.evaluate(axe.source);
  // Targets of 24 pixels: WCAG 2.2, which axe-core leaves out unasked.
  const found = await page.evaluate("axe.run({ rules: { 'target-size': { enabled: true } } })");
  const { violations } = found as AxeResults;
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
}
