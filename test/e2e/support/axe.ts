// What stumbles a reader who cannot see: axe-core on a page of a test's browser.

import axe, { type AxeResults } from 'axe-core';
import type { Visit } from '../../../tools/browser.ts';

/**
 * What axe-core finds on the page as it is: sentences, none when all is well. Targets of 24 pixels
 * are of WCAG 2.2, and looked at only when asked for; a row half under the head of its table is
 * none.
 */
export async function axeFindings({ page }: Visit, { hasTargets = true } = {}): Promise<string[]> {
  await page.evaluate(axe.source);
  const options = { rules: { 'target-size': { enabled: hasTargets } } };
  const found = await page.evaluate(`axe.run(${JSON.stringify(options)})`);
  const { violations } = found as AxeResults;
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
}
