// A stand-in for `nvidia-smi`: what an agent asks it.

import { answers, type FakeCard, type FakeWorld, readWorld, writeWorld } from './world.ts';

const CELLS: Readonly<Record<string, (card: FakeCard, world: FakeWorld) => string>> = {
  index: ({ index }) => String(index),
  uuid: ({ uuid }) => uuid,
  'pci.bus_id': ({ bus }) => `00000000:${bus}`,
  name: ({ name }) => name,
  'memory.total': ({ memory }) => String(memory),
  'memory.used': (card, world) => String(card.used ?? usedOn(card, world)),
  'utilization.gpu': ({ busy = 0 }) => String(busy),
  'mig.mode.current': ({ slices }) => (slices === undefined ? 'Disabled' : 'Enabled'),
  driver_version: (_, { driver = '580.95.05' }) => driver,
};

function usedOn(card: FakeCard, { processes = [] }: FakeWorld): number {
  return processes.reduce((sum, one) => sum + (one.card === card.uuid ? one.memory : 0), 0);
}

function cellOf(field: string, card: FakeCard, world: FakeWorld): string {
  return card.cells?.[field] ?? CELLS[field]?.(card, world) ?? '[N/A]';
}

function lostLine({ index, bus, lost }: FakeCard): string {
  return `Unable to determine the device handle for GPU${index}: 0000:${bus}: ${lost}`;
}

function cardLines(world: FakeWorld, fields: readonly string[]): string[] {
  const unknown = fields.find((field) => world.unknown?.includes(field));
  if (unknown !== undefined) {
    process.exitCode = 2;
    return [`Field "${unknown}" is not a valid field to query.`];
  }
  const { nvidia = [] } = world;
  if (nvidia.length === 0) {
    process.exitCode = 6;
    return ['No devices were found'];
  }
  return nvidia.map((card) => {
    if (card.lost !== undefined) return lostLine(card);
    return fields.map((field) => cellOf(field, card, world)).join(', ');
  });
}

/** Processes on slices are told under the card. */
function appLines({ nvidia = [], processes = [] }: FakeWorld): string[] {
  return processes.flatMap(({ card: uuid, pid, program, memory }) => {
    const card = nvidia.find(
      (one) => one.uuid === uuid || one.slices?.some((slice) => slice.uuid === uuid),
    );
    return card === undefined ? [] : [`${card.uuid}, ${pid}, ${program}, ${memory}`];
  });
}

function listLines({ nvidia = [] }: FakeWorld): string[] {
  if (nvidia.some(({ lost }) => lost !== undefined)) process.exitCode = 15;
  return nvidia.flatMap((card) => [
    card.lost === undefined
      ? `GPU ${card.index}: ${card.name} (UUID: ${card.uuid})`
      : lostLine(card),
    ...(card.slices ?? []).map((slice, at) => {
      return `  MIG ${slice.profile.padEnd(12)}Device ${String(at).padStart(2)}: (UUID: ${slice.uuid})`;
    }),
  ]);
}

/** Only what says which process is on which slice; the slice at place 0 is instance 1. */
function xmlLines({ nvidia = [], processes = [] }: FakeWorld): string[] {
  return nvidia.flatMap(({ uuid, slices = [] }) => [
    '<gpu>',
    ...slices.map((_, at) => {
      return `<mig_device><index>${at}</index><gpu_instance_id>${at + 1}</gpu_instance_id></mig_device>`;
    }),
    `<uuid>${uuid}</uuid>`,
    ...processes.flatMap(({ card, pid }) => {
      const at = slices.findIndex((slice) => slice.uuid === card);
      if (at < 0) return [];
      return [
        `<process_info><gpu_instance_id>${at + 1}</gpu_instance_id><pid>${pid}</pid></process_info>`,
      ];
    }),
    '</gpu>',
  ]);
}

/** Table of links: a header that is underlined, then a row for each card. */
function topoLines({ nvidia = [], links = [] }: FakeWorld): string[] {
  const names = nvidia.map(({ index }) => `GPU${index}`);
  const isJoined = (a: number, b: number) =>
    links.some((one) => one.includes(a) && one.includes(b));
  const wordFor = (a: number, b: number) => (a === b ? ' X ' : isJoined(a, b) ? 'NV4' : 'SYS');
  return [
    `\t\x1b[4m${[...names, 'CPU Affinity', 'NUMA Affinity'].join('\t')}\x1b[0m`,
    ...nvidia.map(({ index }) => {
      const words = nvidia.map((other) => wordFor(index, other.index));
      return [`GPU${index}`, ...words, '0-31', '0', '', 'N/A'].join('\t');
    }),
  ];
}

/** What was wrong with these cards is over: the file is written anew. */
function resetLines(world: FakeWorld, addresses: readonly string[]): string[] {
  const isMeant = ({ bus }: FakeCard) => addresses.includes(`0000:${bus}`);
  const nvidia = world.nvidia?.map((card) => {
    const { cells: _, ...well } = card;
    return isMeant(card) ? well : card;
  });
  writeWorld({ ...world, ...(nvidia === undefined ? {} : { nvidia }) });
  return addresses.map((one) => `GPU ${one} was successfully reset.`);
}

function linesFor(
  world: FakeWorld,
  [first = '', second = '', third = '']: readonly string[],
): string[] {
  const [option, value = ''] = first.split('=');
  if (option === '--query-gpu') return cardLines(world, value.split(','));
  if (option === '--query-compute-apps') return appLines(world);
  if (first === '--gpu-reset' && second === '-i') return resetLines(world, third.split(','));
  if (first === '-L') return listLines(world);
  if (first === 'topo') return topoLines(world);
  if (first === '--version') return [`CUDA Version        : ${world.cuda ?? '13.0'}`];
  if (first === '-q' && second === '-x') return xmlLines(world);
  process.exitCode = 2;
  return [`Invalid combination of input arguments: ${first} ${second}`];
}

const world = readWorld();
if (answers(world)) {
  for (const line of linesFor(world, process.argv.slice(2))) process.stdout.write(`${line}\n`);
}
