// Keyboards and mice themselves, for root: whatever draws on the screen, keys come through here.
// That something came is noted, never what: the bytes are thrown away as they are read.

import { closeSync, constants, openSync, readSync } from 'node:fs';
import type { Sign } from '../ports/presence.ts';
import { type Detector, type Instant, namesIn, plain, readOrNull, reasonOf } from './detector.ts';

const BY = 'input devices';
/** One look empties at most this much of what a device has buffered. */
const READS_MAX = 64;
const BYTES = Buffer.alloc(4096);

interface Open {
  readonly file: number;
  readonly name: string;
}

export interface InputPlaces {
  readonly devices: string;
  /** Where the kernel describes them. */
  readonly described: string;
}

const PLACES: InputPlaces = { devices: '/dev/input', described: '/sys/class/input' };

/** Devices that are plugged in later are seen at the next look. */
export function inputDevices(places: InputPlaces = PLACES): Detector {
  const open = new Map<string, Open>();
  let last: { readonly what: string; readonly at: Instant } | null = null;
  return {
    of: 'input',
    look(now) {
      const blind = openNew(places, open);
      for (const [device, one] of open) {
        const came = drain(one.file);
        if (came === 'input') last = { what: plain(one.name), at: now };
        if (came !== 'gone') continue;
        closeSync(one.file);
        open.delete(device);
      }
      const what = last?.what ?? (open.size > 0 ? 'keyboards and mice' : 'no keyboard or mouse');
      const seen: Sign = { kind: 'input', by: BY, what, last: last?.at ?? null };
      return open.size === 0 && blind.length > 0 ? blind : [seen, ...blind];
    },
    close() {
      for (const { file } of open.values()) closeSync(file);
      open.clear();
    },
  };
}

/** One sign for all that cannot be opened. */
function openNew({ devices, described }: InputPlaces, open: Map<string, Open>): Sign[] {
  const failed: string[] = [];
  let why = '';
  for (const device of namesIn(described).filter((name) => /^event\d+$/.test(name))) {
    if (open.has(device) || !isForPeople(`${described}/${device}/device/capabilities`)) continue;
    const name = readOrNull(`${described}/${device}/device/name`)?.trim() || device;
    try {
      const file = openSync(`${devices}/${device}`, constants.O_RDONLY | constants.O_NONBLOCK);
      open.set(device, { file, name });
    } catch (error) {
      failed.push(name);
      why = reasonOf(error);
    }
  }
  if (failed.length === 0) return [];
  const text = plain(`${devices} cannot be read: ${why}; ${failed.join(', ')}`);
  return [{ kind: 'blind', by: BY, of: 'input', why: text }];
}

function drain(file: number): 'input' | 'nothing' | 'gone' {
  let came: 'input' | 'nothing' = 'nothing';
  try {
    for (let reads = 0; reads < READS_MAX; reads += 1) {
      if (readSync(file, BYTES) === 0) return came;
      came = 'input';
    }
    return came;
  } catch (error) {
    // ENODEV: it was unplugged. Whatever else: it is opened anew, which says why it cannot be.
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? came : 'gone';
  }
}

/** Letters of a keyboard, or the buttons of mice, pads and joysticks: not a power button. */
export function isForPeople(capabilities: string): boolean {
  const keys = bitsOf(readOrNull(`${capabilities}/key`) ?? '');
  const hasOf = (from: number, to: number): boolean => {
    for (const bit of keys) if (bit >= from && bit <= to) return true;
    return false;
  };
  return hasOf(KEY_Q, KEY_M) || hasOf(BTN_MISC, BTN_GEAR_UP);
}

/** Codes of linux/input-event-codes.h. */
const [KEY_Q, KEY_M, BTN_MISC, BTN_GEAR_UP] = [16, 50, 0x100, 0x151];

/** Words of the kernel's own length in hexadecimal, the highest one first. */
export function bitsOf(text: string): Set<number> {
  const bits = new Set<number>();
  const words = text.trim().split(/\s+/).reverse();
  for (const [index, word] of words.entries()) {
    if (!/^[0-9a-f]{1,16}$/i.test(word)) return new Set();
    const value = BigInt(`0x${word}`);
    for (let bit = 0; bit < 64; bit += 1) {
      if ((value >> BigInt(bit)) & 1n) bits.add(index * 64 + bit);
    }
  }
  return bits;
}
