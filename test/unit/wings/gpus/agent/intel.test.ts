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

test('[V1] without its tool a card of Intel is what the kernel lists, but no graphics of a processor', async () => {
  const GIB = 2 ** 30;
  const files: Record<string, string> = {
    'card0/device/vendor': '0x8086\n',
    'card1/device/vendor': '0x8086\n',
    'card1/device/tile0/physical_vram_size_bytes': `${16 * GIB}\n`,
    'card1/device/uevent': 'DRIVER=xe\nPCI_SLOT_NAME=0000:03:00.0\n',
    'card2/device/vendor': '0x8086\n',
    'card2/lmem_total_bytes': `${14 * GIB}\n`,
    'card3/device/vendor': '0x1002\n',
    'card3/device/mem_info_vram_total': `${16 * GIB}\n`,
  };
  const view: MachineView = {
    ...viewOf(() => Promise.reject(new Error('there is no tool'))),
    tool: () => ({ isThere: false, run: () => Promise.reject(new Error('there is no tool')) }),
    namesIn: (folder) =>
      folder === '/sys/class/drm' ? ['card0', 'card1', 'card2', 'card3', 'renderD128'] : [],
    read: (path) => files[path.replace('/sys/class/drm/', '')] ?? null,
  };
  const answer = await new Intel(view).look();
  assert.ok(answer?.kind === 'answered');
  assert.deepEqual(
    answer.cards.map(({ uuid, busId, memoryBytes }) => [uuid, busId, memoryBytes]),
    [
      ['INTEL-0000:03:00.0', '0000:03:00.0', 16 * GIB],
      ['INTEL-2', '', 14 * GIB],
    ],
  );
  assert.equal(answer.remark, 'there is no xpu-smi: who uses the cards is not known');
  const none = { ...view, namesIn: () => ['card0'] };
  assert.equal(await new Intel(none).look(), null);
});
