// What a site says, shown in a terminal.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLAIN } from '../../../../../src/kernel/cli/output/paint.ts';
import { siteLines } from '../../../../../src/wings/sites/cli/columns.ts';

const ESCAPE = 'gone\u001b[2J';

test('what a site says cannot drive a terminal', () => {
  const lines = siteLines(
    {
      name: 'hpc',
      system: 'pbs',
      mode: 'submit',
      takeover: null,
      state: 'up',
      problem: ESCAPE,
      ageMs: 0,
      nodes: [],
      queues: [],
      jobs: [],
      filters: {
        rules: [{ name: ESCAPE, over: 'nodes', matched: 0, of: 3 }],
        sources: [{ name: 'racks', ageMs: null, problem: ESCAPE }],
        problem: ESCAPE,
      },
    } as unknown as Parameters<typeof siteLines>[0],
    PLAIN,
    'raw',
  );
  assert.ok(lines.includes('Warning: source racks: gone?[2J.'), lines.join('\n'));
  assert.doesNotMatch(lines.join(''), /\u001b/);
});
