// What can be asked about fleets of pilots, and what the head's own shell says of them.

import type { PilotRequest } from '../model/pilot.ts';

export type PilotCommand = StartFleet | ScaleFleet | StopFleet | NoteLaunch | ObservePilots;

export interface StartFleet {
  readonly kind: 'start_fleet';
  /** Null: the system's name and a number. */
  readonly name: string | null;
  /** A fresh one. */
  readonly tag: string;
  /** For work of its user alone, as on a head for several. */
  readonly ownOnly?: true;
  readonly isOnce: boolean;
  readonly min: number;
  readonly max: number;
  readonly idleMs: number;
  readonly wish: PilotRequest;
}

/** What is absent stays as it is. A paused fleet starts pilots again. */
export interface ScaleFleet {
  readonly kind: 'scale_fleet';
  readonly fleet: string;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly idleMs?: number | undefined;
}

export interface StopFleet {
  readonly kind: 'stop_fleet';
  readonly fleet: string;
}

/** By the shell: what became of a submission. */
export interface NoteLaunch {
  readonly kind: 'note_launch';
  readonly fleet: string;
  readonly launch: number;
  readonly said:
    | { readonly kind: 'submitted'; readonly site: string }
    | { readonly kind: 'refused'; readonly why: string };
}

/** By the shell: what a listing says that was asked for after the submission was known. */
export interface ObservePilots {
  readonly kind: 'observe_pilots';
  readonly fleet: string;
  readonly launch: number;
  readonly seen: readonly PilotSeen[];
}

export type PilotSeen = { readonly index: number } & (
  | { readonly state: 'waiting' }
  | { readonly state: 'running'; readonly endsAt: number | null }
  /** The pilot is to end, and its batch system has not accepted that. */
  | { readonly state: 'held'; readonly why: string }
  /** The pilot's processes are gone. */
  | { readonly state: 'gone'; readonly why: string }
);
