// A stand-in for `amd-smi`: what an agent asks it.

import { answers, type FakeCard, type FakeWorld, readWorld } from './world.ts';

const size = (value: number) => ({ value, unit: 'MB' });

const ROWS: Readonly<Record<string, (card: FakeCard, world: FakeWorld) => object>> = {
  list: ({ bus, uuid, index }) => ({ bdf: `0000:${bus}`, hip_uuid: uuid, hip_id: index }),
  static: ({ name, memory, numa }, { driver = '6.14.5' }) => ({
    asic: { market_name: name },
    driver: { name: 'amdgpu', version: driver },
    vram: { size: size(memory) },
    ...(numa === undefined ? {} : { numa: { node: numa, affinity: numa } }),
  }),
  topology: ({ index, bus }, { amd = [], links = [] }) => ({
    bdf: `0000:${bus}`,
    links: amd.map((other) => {
      const isJoined = links.some((one) => one.includes(index) && one.includes(other.index));
      const type = other.index === index ? 'SELF' : isJoined ? 'XGMI' : 'PCIE';
      return {
        gpu: other.index,
        bdf: `0000:${other.bus}`,
        link_status: 'ENABLED',
        link_type: type,
      };
    }),
  }),
  metric: ({ busy = 0, used = 0 }) => ({
    usage: { gfx_activity: { value: busy, unit: '%' } },
    mem_usage: { used_vram: size(used) },
  }),
  process: ({ uuid }, { processes = [] }) => ({
    process_list: processes
      .filter(({ card }) => card === uuid)
      .map(({ pid, program, memory }) => ({
        process_info: { name: program, pid, memory_usage: { vram_mem: size(memory) } },
      })),
  }),
};

const world = readWorld();
const row = ROWS[process.argv[2] ?? ''];
const { amd = [] } = world;
if (answers(world)) {
  if (process.argv[2] === 'version') {
    const version = { tool: 'AMDSMI Tool', version: '26.0.0', rocm_version: world.rocm ?? '7.0' };
    process.stdout.write(`${JSON.stringify([version])}\n`);
  } else sayRows();
}

function sayRows(): void {
  if (row === undefined || amd.length === 0) {
    process.stdout.write('ERROR:root:Unable to detect any GPU devices\n');
    process.exitCode = 255;
  } else {
    const rows = amd.map((card) => ({ gpu: card.index, ...row(card, world) }));
    process.stdout.write(`${JSON.stringify(rows)}\n`);
  }
}
