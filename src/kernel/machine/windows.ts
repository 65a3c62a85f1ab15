// What the scheduler has to heed: reservations, maintenance, and what wings set aside.

import type { Window } from '../scheduler/room/lane.ts';
import { windowsOf } from '../scheduler/room/windows.ts';
import type { State } from './state.ts';

export function allWindows(state: State): Window[] {
  return [...windowsOf(state.reservations.values()), ...windowsOfWings(state)];
}

/** What a window is called, by its id. */
export function namedWindow(
  state: State,
  id: string,
): Pick<Window, 'name' | 'purpose'> | undefined {
  return state.reservations.get(id) ?? windowsOfWings(state).find((window) => window.id === id);
}

function windowsOfWings(state: State): Window[] {
  return state.machine.hooks.windows.flatMap((hook) => [...hook(state)]);
}
