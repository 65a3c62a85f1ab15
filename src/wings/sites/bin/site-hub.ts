// What all nodes of one site have in common in a gateway's process: its adaptor, its listings, and
// who steers it.

import { join } from 'node:path';
import { systemClock } from '../../../kernel/os/clock.ts';
import { systemDataReader } from '../../../kernel/os/data-reader.ts';
import type { Commands } from '../../../kernel/ports/commands.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { Adaptor } from '../adaptors/adaptor.ts';
import { readFilterFile } from '../config/read-filters.ts';
import type { SiteOptions } from '../config/site-options.ts';
import { Filters } from '../fabric/filters/site-filters.ts';
import { KnownArrays } from '../fabric/site/known-arrays.ts';
import { NodeStops } from '../fabric/site/node-stops.ts';
import { SiteWatch } from '../fabric/site/site-watch.ts';
import { Steerer } from '../fabric/site/steerer.ts';
import { siteNotes } from '../os/site-notes.ts';
import { adaptorOf } from './site-adaptors.ts';
import { siteCommands } from './site-commands.ts';

export interface SiteHub {
  /** The name of the gateway, and so of the site. */
  readonly name: string;
  readonly adaptor: Adaptor;
  /** That run what the adaptor says. */
  readonly commands: Commands;
  readonly watch: SiteWatch;
  /** Null when the site's own scheduler decides. */
  readonly steerer: Steerer | null;
  /** Null when its nodes are none of ours. */
  readonly stops: NodeStops | null;
  /** What the site wants to be seen of it; null: all as it is. */
  readonly filters: Filters | null;
}

export function openHub(
  site: SiteOptions,
  own: { readonly name: string; readonly stateDir: string; readonly log: Log },
): SiteHub {
  const { name, stateDir, log } = own;
  const adaptor = adaptorOf(site);
  const commands = siteCommands(adaptor, site.before);
  const common = { commands, clock: systemClock, log, settings: site };
  const { steering } = adaptor;
  const steerer = steering === null ? null : new Steerer({ ...common, steering });
  const notes = siteNotes(join(stateDir, 'site-stops'));
  const stops = steering === null ? null : new NodeStops({ ...common, adaptor, notes });
  const filters = filtersOf(site);
  // Elsewhere a listing has all that is known of an end.
  const isNoted = steering !== null && adaptor.end !== null;
  const notedArrays = () => new KnownArrays(siteNotes(join(stateDir, 'site-arrays')), log);
  const arrays = isNoted ? { arrays: notedArrays() } : {};
  const seen = { ...common, ...arrays, adaptor, steerer, stops, filters };
  const watch = new SiteWatch({ ...seen, mode: site.mode });
  return { name, adaptor, commands, watch, steerer, stops, filters };
}

/**
 * Filters of a site; the file is read again with every look, so that a change needs no restart.
 * Null: there is no file.
 */
export function filtersOf({ filters: file }: Pick<SiteOptions, 'filters'>): Filters | null {
  if (file === null) return null;
  const load = () => readFilterFile(file);
  return new Filters({ clock: systemClock, reader: systemDataReader, load });
}
