// The examples of docs/migration/cm.md, typed as they stand there, say what they say there.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { LocalCluster } from './support/local-cluster.ts';
import { typePage } from './support/typed-page.ts';

const PROGRAMS = ['weft', 'cminfo', 'cmrun', 'cmkill', 'cmconfigure', 'cmdaemon'];

describe('the page for those who come from cm', () => {
  const cluster = new LocalCluster();
  after(() => cluster.close());

  it('does what it shows', async () => {
    const steps = await typePage(cluster, 'docs/migration/cm.md', PROGRAMS);
    assert.ok(steps > 15, 'the examples were found');
  });
});
