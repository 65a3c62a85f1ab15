// How much room the disk of the head has, looked at each hour, and when it will be full.

import { ok } from '../../../kernel/base/result.ts';
import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import { type Scrape, value } from '../../../kernel/head/http/scrape.ts';
import type { Services } from '../../../kernel/head/http/services.ts';
import type { Clock } from '../../../kernel/ports/clock.ts';
import type { labRoutes, RoomReply } from '../api/room.ts';
import { fullAt, LOOK_MS, LOOKS_MAX, type Look, lossOf } from '../core/growth.ts';

const DAY_MS = 86_400_000;
const UNKNOWN: Disk = { freeBytes: 0, totalBytes: 0 };

export interface Disk {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

declare module '../../../kernel/head/http/services.ts' {
  interface Services {
    readonly room: Room;
  }
}

export class Room {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #look: () => Disk | null;
  /** The oldest first; since the head was started. */
  #looks: Look[] = [];
  /** By the clock that nobody sets. */
  #nextAt = 0;

  /** `look`: null where the disk does not say. */
  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, look: () => Disk | null) {
    this.#clock = clock;
    this.#look = look;
  }

  tick(): void {
    const elapsed = this.#clock.monotonic();
    if (elapsed < this.#nextAt) return;
    this.#nextAt = elapsed + LOOK_MS;
    const at = this.#clock.now();
    const disk = this.#look();
    if (disk === null) return;
    // A clock that was set back begins anew.
    const before = this.#looks.filter((one) => one.at < at);
    this.#looks = [...before, { at, freeBytes: disk.freeBytes }].slice(-LOOKS_MAX);
  }

  view(): RoomReply {
    const loss = lossOf(this.#looks);
    return {
      ...(this.#look() ?? UNKNOWN),
      lookedAtSince: this.#looks[0]?.at ?? null,
      lostBytesPerDay: loss === null ? null : Math.round(loss * DAY_MS),
      fullAt: fullAt(this.#looks),
    };
  }
}

export const handlers: HandlersOf<typeof labRoutes> = { showRoom: ({ room }) => ok(room.view()) };

export function measure({ room }: Services, scrape: Scrape): void {
  const { freeBytes, totalBytes } = room.view();
  value(scrape, 'weft_disk_free_bytes', "Bytes free on the disk of the head's state.", freeBytes);
  value(scrape, 'weft_disk_bytes', "Bytes of the disk of the head's state.", totalBytes);
}
