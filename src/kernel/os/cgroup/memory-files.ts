// The numbers of memory that a group is asked for.

import { existsSync, readFileSync } from 'node:fs';
import type { GroupMemory, GroupUse } from '../../ports/containment.ts';
import type { KeptFile, KeptFiles } from './kept-files.ts';
import type { Base } from './layout.ts';

/** Version 1 has no word for "no limit", but the largest number of whole pages. */
const NO_LIMIT = 2 ** 62;

export class MemoryFiles {
  readonly #version: 1 | 2;
  readonly #isLimited: boolean;
  readonly #events: KeptFile;
  readonly #peak: KeptFile | null;
  readonly #now: KeptFile;
  readonly #parts: KeptFile | null;
  #peakBefore = 0;
  #peakSeen = 0;

  constructor(base: Base, name: string, files: KeptFiles) {
    const path = `${base.path}/${name}`;
    const isOld = base.version === 1;
    this.#version = base.version;
    this.#isLimited = hasLimit(`${path}/${isOld ? 'memory.limit_in_bytes' : 'memory.max'}`);
    this.#events = files.open(`${path}/${isOld ? 'memory.oom_control' : 'memory.events'}`);
    this.#now = files.open(`${path}/${isOld ? 'memory.usage_in_bytes' : 'memory.current'}`);
    const peak = `${path}/${isOld ? 'memory.max_usage_in_bytes' : 'memory.peak'}`;
    const hasPeak = this.#isLimited && existsSync(peak);
    this.#peak = hasPeak ? files.open(peak, isOld ? 'r+' : 'r') : null;
    this.#parts = this.#isLimited ? null : files.open(`${path}/memory.stat`);
  }

  /** Version 2 has no way back: a peak counts there only when it is higher than the one before. */
  reset(): boolean {
    if (this.#kills() > 0) return false;
    this.#peakSeen = 0;
    if (this.#peak === null) return true;
    if (this.#version === 1) this.#peak.write('0');
    else this.#peakBefore = Number(this.#peak.read());
    return true;
  }

  use(): GroupUse {
    const outOfMemory = this.#kills() > 0;
    if (!this.#isLimited) return { outOfMemory, memoryPeakBytes: this.#peakSeen || null };
    const peak = this.#peak === null ? 0 : Number(this.#peak.read());
    return { outOfMemory, memoryPeakBytes: peak > this.#peakBefore ? peak : null };
  }

  now(): GroupMemory {
    const bytes = Math.max(0, Number(this.#now.read()) - this.#cacheBytes());
    this.#peakSeen = Math.max(this.#peakSeen, bytes);
    const peakBytes = Math.max(bytes, this.use().memoryPeakBytes ?? 0);
    return { bytes, peakBytes, kills: this.#kills() };
  }

  /**
   * What the kernel keeps of files that were read, and gives up when somebody needs the room. Under
   * a limit it is part of what the limit is for; without one it would grow to the whole machine.
   */
  #cacheBytes(): number {
    if (this.#parts === null) return 0;
    const parts = this.#parts.read();
    const bytesOf = (name: string): number =>
      Number(new RegExp(`^${name} (\\d+)`, 'm').exec(parts)?.[1] ?? 0);
    return bytesOf('inactive_file') + bytesOf('active_file');
  }

  #kills(): number {
    return Number(/^oom_kill (\d+)/m.exec(this.#events.read())?.[1] ?? 0);
  }

  close(): void {
    for (const file of [this.#events, this.#now, this.#peak, this.#parts]) file?.close();
  }
}

function hasLimit(file: string): boolean {
  const text = readFileSync(file, 'utf8').trim();
  return text !== 'max' && Number(text) < NO_LIMIT;
}
