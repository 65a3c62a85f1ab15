// Cards of Intel, by a tool that fails at times.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Intel } from '../../../../../src/wings/gpus/agent/makers/intel.ts';
import type { MachineView, Said } from '../../../../../src/wings/gpus/ports/machine-view.ts';

const CARD = { device_id: 0, device_name: 'Arc', uuid: 'U-1', pci_bdf_address: '0000:21:00.0' };

function viewOf(run: (...args: readonly string[]) => Promise<Said>): MachineView {
  return {
    tool: () => ({ isThere: true, run }),
    device: () => null,
    read: () => null,
    namesIn: () => [],
    kernelLog: () => [],
    owners: () => new Map(),
    isContained: false,
  };
}

test('a card of which the tool did not get to say what it has is asked for it again', async () => {
  let ofCard: Said = { kind: 'mute', words: 'timed out' };
  let asked = 0;
  const run = (...args: readonly string[]): Promise<Said> => {
    const isOfCard = args.includes('-d');
    asked += Number(isOfCard);
    const text = args[0] === 'discovery' ? JSON.stringify({ device_list: [CARD] }) : '';
    return Promise.resolve(isOfCard ? ofCard : { kind: 'said', code: 0, text });
  };
  const intel = new Intel(viewOf(run));
  const memory = async () => {
    const answer = await intel.look();
    return answer?.kind === 'answered' ? answer.cards[0]?.memoryBytes : undefined;
  };
  assert.equal(await memory(), null);
  ofCard = { kind: 'said', code: 0, text: '{"memory_physical_size_byte": "1024"}' };
  assert.equal(await memory(), 1024);
  assert.equal(await memory(), 1024);
  assert.equal(asked, 2, 'it stays');
});

test('[V5] a query of use that fails once is asked again after a while', async () => {
  let asked = 0;
  let code = 1;
  const run = (...args: readonly string[]): Promise<Said> => {
    const isOfUse = args[0]?.startsWith('--query-gpu') === true;
    asked += Number(isOfUse);
    const row = isOfUse ? '0, 16384, 100, 42, 50, 30' : '';
    const text = args[0] === 'discovery' ? JSON.stringify({ device_list: [CARD] }) : row;
    return Promise.resolve({ kind: 'said', code: isOfUse ? code : 0, text });
  };
  const intel = new Intel(viewOf(run));
  const busy = async () => {
    const answer = await intel.look();
    return answer?.kind === 'answered' ? answer.cards[0]?.busyPercent : undefined;
  };
  assert.equal(await busy(), null);
  code = 0;
  for (let look = 0; look < 29; look += 1) assert.equal(await busy(), null);
  assert.equal(asked, 1, 'of version 1 it is not asked at each look');
  assert.deepEqual([await busy(), await busy()], [42, 42]);
});
