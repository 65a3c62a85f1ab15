// Makes the virtual nodes of `weft up` known to their head, and writes what their agents are told.

import { existsSync, mkdirSync } from 'node:fs';
import { withoutCacheOptions } from '../../config/cache-options.ts';
import type { AgentOptions } from '../../config/daemon-options.ts';
import type { Api } from '../../connect/api.ts';
import type { Resources } from '../../model/resources.ts';
import { type LocalPaths, readJson, writeJson } from './local-paths.ts';

interface EnrolTarget {
  readonly api: Api;
  readonly paths: LocalPaths;
  /** Names of all nodes of this machine, as far as they have been made. */
  readonly known: readonly string[];
}

interface EnrolRequest {
  readonly names: readonly string[];
  /** Those that the head knows. */
  readonly enrolled: ReadonlySet<string>;
  readonly resources: Resources;
  /** What may change from one start of an agent to the next. */
  readonly current: (name: string) => Partial<AgentOptions>;
}

/** Options that go when the configuration does not have them any more. */
const MAY_GO: ReadonlySet<string> = new Set(['health', 'keeps', 'pause', 'gpus']);

/** At once, and the head writes them down together; more would only wait for each other. */
const AT_ONCE_MAX = 32;

export async function enrolNodes(
  place: EnrolTarget,
  { names, ...wish }: EnrolRequest,
): Promise<void> {
  const { paths } = place;
  const gpus = new GpuNumbers(place);
  const waiting = names.map((name) => {
    const file = paths.nodeOptions(name);
    // A head whose store was removed knows no node, whatever secrets lie here.
    const isNew = !existsSync(file) || !wish.enrolled.has(name);
    return { name, file, gpuFrom: isNew ? gpus.take(name, wish.resources) : null };
  });
  const work = async (): Promise<void> => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      const { name, file, gpuFrom } = one;
      const options =
        gpuFrom === null
          ? (readJson<AgentOptions>(file) as AgentOptions)
          : await enrol(place, { name, gpuFrom, resources: wish.resources });
      const current = wish.current(name);
      const known = Object.entries(withoutCacheOptions(options)).filter(
        ([key]) => !MAY_GO.has(key),
      );
      writeJson(file, { ...Object.fromEntries(known), ...placesOf(paths, name), ...current });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE_MAX }, work));
}

async function enrol(
  { api, paths }: EnrolTarget,
  node: { readonly name: string; readonly gpuFrom: number; readonly resources: Resources },
): Promise<AgentOptions> {
  const { name, gpuFrom, resources } = node;
  const places = placesOf(paths, name);
  // Passable, as the agent makes it too: jobs have their private folders below.
  mkdirSync(places.stateDir, { recursive: true, mode: 0o711 });
  const body = { name, resources, labels: [], replace: true };
  const { secret } = await api.call('createNode', { body });
  return {
    name,
    ...places,
    secret,
    resources,
    gpuFrom,
    labels: [],
    sharedPaths: ['/'],
    switchUser: false,
  };
}

/** Said at every start: a folder may be moved or copied, and its agents work in this one. */
function placesOf(paths: LocalPaths, name: string): Pick<AgentOptions, Places> {
  const head = { socketPath: paths.socket };
  return { stateDir: paths.node(name), head, logFile: paths.nodeLog(name) };
}

type Places = 'stateDir' | 'head' | 'logFile';

/** A node's gpus come after those of the nodes already there: no two give out the same one. */
class GpuNumbers {
  readonly #paths: LocalPaths;
  #next = 0;

  constructor({ paths, known }: EnrolTarget) {
    this.#paths = paths;
    for (const name of known) {
      const { gpuFrom = 0, resources } = this.#read(name) ?? {};
      this.#next = Math.max(this.#next, gpuFrom + (resources?.gpuCount ?? 0));
    }
  }

  /** One that is enrolled anew keeps its own. */
  take(name: string, { gpuCount }: Resources): number {
    const before = this.#read(name)?.gpuFrom;
    if (before !== undefined) return before;
    const first = this.#next;
    this.#next += gpuCount;
    return first;
  }

  #read(name: string): AgentOptions | null {
    return readJson<AgentOptions>(this.#paths.nodeOptions(name));
  }
}
