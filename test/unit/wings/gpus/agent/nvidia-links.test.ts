// Which cards are joined is only a wish of placement, and versions are for people: asking for them
// holds up no look.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Nvidia } from '../../../../../src/wings/gpus/agent/makers/nvidia.ts';
import { FIELDS } from '../../../../../src/wings/gpus/core/nvidia/csv.ts';
import type { MachineView, Said } from '../../../../../src/wings/gpus/ports/machine-view.ts';

const CELLS: Readonly<Record<string, string>> = {
  name: 'NVIDIA L40S',
  'memory.total': '46068',
  driver_version: '580.1',
};
const CARDS = ['GPU-a', 'GPU-b'].map((uuid, index) => {
  const own: Record<string, string> = {
    index: String(index),
    uuid,
    'pci.bus_id': `0000:0${index}:00.0`,
  };
  return FIELDS.map((field) => own[field] ?? CELLS[field] ?? '[N/A]').join(', ');
});

/** Counts how often the table of links was asked for. */
function machineSaying(links: Said): { readonly view: MachineView; readonly asked: () => number } {
  let count = 0;
  const said = (text: string): Said => ({ kind: 'said', code: 0, text });
  const run = async (first = ''): Promise<Said> => {
    if (first !== 'topo') return said(first.startsWith('--query-gpu') ? CARDS.join('\n') : '');
    count += 1;
    return links;
  };
  const view: MachineView = {
    tool: () => ({ isThere: true, run }),
    device: () => null,
    read: () => null,
    namesIn: () => [],
    kernelLog: () => [],
    owners: () => new Map(),
    isContained: false,
  };
  return { view, asked: () => count };
}

test('[V5] a tool that hangs when it is asked for its version holds up no look', async () => {
  const { view } = machineSaying({ kind: 'said', code: 0, text: '' });
  let asked = 0;
  const tool: MachineView['tool'] = (program) => {
    const { isThere, run } = view.tool(program);
    let hangs = false;
    return {
      isThere,
      run: (first = '', ...more) => {
        if (first === '--version') {
          asked += 1;
          hangs = true;
          return new Promise(() => undefined);
        }
        if (hangs) return Promise.resolve({ kind: 'mute', words: 'it hangs' });
        return run(first, ...more);
      },
    };
  };
  const nvidia = new Nvidia({ ...view, tool });
  for (let look = 0; look < 500; look += 1) {
    const answer = await nvidia.look();
    assert.equal(answer?.kind === 'answered' && answer.driver, '580.1');
  }
  assert.equal(asked, 1);
});

for (const links of [
  { kind: 'mute', words: 'nvidia-smi: ran into its limit of 30 s' },
  { kind: 'said', code: 9, text: 'NVIDIA-SMI has failed' },
] as const) {
  test(`[V23] a tool that is ${links.kind} about links is not asked at each look`, async () => {
    const { view, asked } = machineSaying(links);
    const nvidia = new Nvidia(view);
    for (let look = 0; look < 500; look += 1) {
      assert.equal((await nvidia.look())?.kind, 'answered');
    }
    assert.equal(asked(), 1);
    for (let look = 0; look < 2; look += 1) await nvidia.look();
    assert.equal(asked(), 2, 'now and then it is asked again');
  });
}
