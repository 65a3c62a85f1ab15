// The configuration in force: flag > environment > file > default, each value with its source.

import path from 'node:path';
import { usage } from '../model/failure.ts';
import { type FilePlaces, readConfigFiles, SEED_SOURCE } from './files.ts';
import type { Key } from './key.ts';
import { environmentName, SEED_DEFAULTS } from './keys.ts';
import type { FileValue } from './read-file.ts';
import { type KeysWing, schemaOf } from './schema.ts';
import type { Entries } from './table.ts';
import { type Address, parseValue, type Value } from './value.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Setting {
  readonly key: Key;
  readonly value: Value;
  /** `--cpus`, `WEFT_UP_CPUS`, `weft.yaml:3` or `default`. */
  readonly source: string;
}

/** How to read the same configuration again, in another process or later. */
export interface ConfigOrigin {
  /** Named by a flag or the environment; null: the first that is found. */
  readonly file: string | null;
  readonly flags: readonly (readonly [key: string, given: Flag])[];
}

interface ConfigParts {
  readonly file: string | null;
  readonly origin: ConfigOrigin;
  readonly settings: ReadonlyMap<string, Setting>;
  readonly tables: ReadonlyMap<string, Entries>;
}

export class Config {
  /** The file that was read, or both of them; null when there is none. */
  readonly file: string | null;
  readonly origin: ConfigOrigin;
  readonly #settings: ReadonlyMap<string, Setting>;
  readonly #tables: ReadonlyMap<string, Entries>;

  constructor({ file, origin, settings, tables }: ConfigParts) {
    this.file = file;
    this.origin = origin;
    this.#settings = settings;
    this.#tables = tables;
  }

  all(): Setting[] {
    return [...this.#settings.values()];
  }

  /** What the file says under `partitions`, `qos` and the like, by name. */
  table(section: string): Entries {
    return this.#tables.get(section) ?? NO_ENTRIES;
  }

  get(name: string): Value {
    const setting = this.#settings.get(name);
    if (setting === undefined) throw new Error(`no configuration key ${name}`);
    return setting.value;
  }

  /** Whether somebody wrote the value: a flag, the environment or the file. */
  isGiven(name: string): boolean {
    const source = this.#settings.get(name)?.source;
    return source !== DEFAULT_SOURCE && source !== SEED_SOURCE;
  }

  /** Where the value stands, `weft.yaml:3`. */
  source(name: string): string {
    return this.#settings.get(name)?.source ?? name;
  }

  text(name: string): string | null {
    return this.get(name) as string | null;
  }

  texts(name: string): readonly string[] {
    return (this.get(name) as readonly string[] | null) ?? [];
  }

  /** Counts, sizes in bytes, durations in ms. */
  number(name: string): number {
    return this.get(name) as number;
  }

  optionalNumber(name: string): number | null {
    return this.get(name) as number | null;
  }

  flag(name: string): boolean {
    return this.get(name) as boolean;
  }

  address(name: string): Address | null {
    return this.get(name) as Address | null;
  }
}

interface Flag {
  readonly text: string;
  readonly flag: string;
}

/** Flags by key name, as text. */
export type Flags = ReadonlyMap<string, Flag>;

export interface ConfigSources extends FilePlaces {
  readonly flags?: Flags;
  /** Whose keys there are besides the kernel's. */
  readonly wings: readonly KeysWing[];
}

/** Defaults other than those of the keys, by key name, and whose they are. */
interface Defaults {
  readonly texts: Readonly<Record<string, string>>;
  readonly source: string;
}

const DEFAULT_SOURCE = 'default';
const NO_DEFAULTS: Defaults = { texts: {}, source: DEFAULT_SOURCE };

/** A site that brings its old file expects what the old program did where the file is silent. */
const OLD_DEFAULTS: Defaults = { texts: SEED_DEFAULTS, source: SEED_SOURCE };

const NO_ENTRIES: Entries = new Map();

/** Reads everything; throws a failure that says where the wrong value stands. */
export async function loadConfig(sources: ConfigSources): Promise<Config> {
  const schema = await schemaOf(sources.wings);
  const reading = await readConfigFiles(sources, schema);
  const places = { ...sources, defaults: reading.hasSeedFile ? OLD_DEFAULTS : NO_DEFAULTS };
  const settings = schema.keys.map((key) => {
    return [key.name, resolve(key, places, reading.values)] as const;
  });
  const written = reading.tableValues.map((setting) => [setting.key.name, setting] as const);
  return new Config({
    file: reading.files.join(' and ') || null,
    origin: originOf(sources),
    settings: new Map([...settings, ...written]),
    tables: reading.tables,
  });
}

/** The defaults alone: nothing is configured anywhere. */
export async function defaultConfig(wings: readonly KeysWing[]): Promise<Config> {
  const nowhere = { environment: {}, defaults: NO_DEFAULTS };
  const { keys } = await schemaOf(wings);
  const settings = keys.map((key) => [key.name, resolve(key, nowhere, new Map())] as const);
  const origin = { file: null, flags: [] };
  return new Config({ file: null, origin, settings: new Map(settings), tables: new Map() });
}

function originOf({ file, environment, flags }: ConfigSources): ConfigOrigin {
  const named = file ?? (environment['WEFT_CONFIG'] || null);
  // Daemons work in another directory.
  return { file: named === null ? null : path.resolve(named), flags: [...(flags ?? [])] };
}

function resolve(
  key: Key,
  {
    flags,
    environment,
    defaults,
  }: Pick<ConfigSources, 'flags' | 'environment'> & {
    readonly defaults: Defaults;
  },
  file: ReadonlyMap<string, FileValue>,
): Setting {
  const flag = flags?.get(key.name);
  if (flag !== undefined) return { key, value: read(key, flag.text, flag.flag), source: flag.flag };
  const variable = environmentName(key.name);
  const text = environment[variable];
  if (text !== undefined) return { key, value: read(key, text, variable), source: variable };
  const written = file.get(key.name);
  if (written !== undefined) return { key, ...written };
  const special = defaults.texts[key.name];
  if (special !== undefined) return unwritten(key, special, defaults.source);
  return unwritten(key, key.default, DEFAULT_SOURCE);
}

/** Read when it is asked for: nobody has written it, so that nothing in it can be wrong. */
function unwritten(key: Key, text: string | null, source: string): Setting {
  return {
    key,
    source,
    get value() {
      return text === null ? null : read(key, text, key.name);
    },
  };
}

function read(key: Key, text: string, where: string): Value {
  const parsed = parseValue(key, text);
  if (!parsed.ok) throw usage(`${where}: ${parsed.error}`);
  return parsed.value;
}
