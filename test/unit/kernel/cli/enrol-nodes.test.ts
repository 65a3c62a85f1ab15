// What the agents of `weft up` are told at each start.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { enrolNodes } from '../../../../src/kernel/cli/daemons/enrol-nodes.ts';
import { LocalPaths, readJson } from '../../../../src/kernel/cli/daemons/local-paths.ts';
import type { AgentOptions } from '../../../../src/kernel/config/daemon-options.ts';
import type { Api } from '../../../../src/kernel/connect/api.ts';

const NOTHING = { cpuCount: 1, memoryBytes: 0, gpuCount: 0, counted: {} };

async function enrolIn(directory: string, isKnown: boolean): Promise<AgentOptions | null> {
  const paths = new LocalPaths(directory);
  const api = { call: async () => ({ secret: 'made once' }) } as unknown as Api;
  await enrolNodes(
    { api, paths, known: [] },
    {
      names: ['n1'],
      enrolled: new Set(isKnown ? ['n1'] : []),
      resources: NOTHING,
      current: () => ({}),
    },
  );
  return readJson<AgentOptions>(paths.nodeOptions('n1'));
}

test('[N20] agents of a folder that was copied or moved work in that folder, for its head', async (t) => {
  const place = mkdtempSync(join(tmpdir(), 'weft-enrol-'));
  t.after(() => rmSync(place, { recursive: true }));
  const [original, copy, moved] = ['original', 'copy', 'moved'].map((name) => join(place, name));
  mkdirSync(original as string);
  await enrolIn(original as string, false);
  cpSync(original as string, copy as string, { recursive: true });
  renameSync(original as string, moved as string);
  for (const directory of [copy, moved] as string[]) {
    const options = await enrolIn(directory, true);
    assert.equal(options?.secret, 'made once', 'it is the node that its head knows');
    const places = [options?.stateDir, options?.logFile, JSON.stringify(options?.head)];
    for (const one of places) assert.ok(one?.includes(directory), one);
  }
});
