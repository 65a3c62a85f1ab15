// The configuration in force: flag > environment > file > default, each value with its source.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { usage } from '../failure.ts';
import type { Key } from './key.ts';
import { environmentName, KEYS } from './keys.ts';
import type { FileReading, FileValue } from './read-file.ts';
import type { Entries } from './tables.ts';
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
  /** The file that was read; null when there is none. */
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

export interface ConfigSources {
  readonly flags?: Flags;
  readonly environment: Environment;
  /** `--config`, or null to look for one. */
  readonly file: string | null;
  /** The state directory, the first place to look. */
  readonly directory: string;
}

const NO_ENTRIES: Entries = new Map();
const NOTHING_READ = { values: new Map(), tables: new Map(), tableValues: [] };

/** Reads everything; throws a failure that says where the wrong value stands. */
export async function loadConfig(sources: ConfigSources): Promise<Config> {
  const file = sources.file ?? findConfigFile(sources.environment, sources.directory);
  // The YAML parser is loaded only when there is a file: most commands start without it.
  const reading: Pick<FileReading, 'values' | 'tables' | 'tableValues'> =
    file === null ? NOTHING_READ : (await import('./read-file.ts')).readConfigFile(file);
  const settings = KEYS.map((key) => [key.name, resolve(key, sources, reading.values)] as const);
  const written = reading.tableValues.map((setting) => [setting.key.name, setting] as const);
  return new Config({
    file,
    origin: originOf(sources),
    settings: new Map([...settings, ...written]),
    tables: reading.tables,
  });
}

/** As if nothing were configured anywhere. */
export function defaultConfig(): Config {
  const nowhere = { environment: {}, file: null };
  const settings = KEYS.map((key) => [key.name, resolve(key, nowhere, new Map())] as const);
  const origin = { file: null, flags: [] };
  return new Config({ file: null, origin, settings: new Map(settings), tables: new Map() });
}

function originOf({ file, environment, flags }: ConfigSources): ConfigOrigin {
  const named = file ?? (environment['WEFT_CONFIG'] || null);
  // Daemons work in another directory.
  return { file: named === null ? null : path.resolve(named), flags: [...(flags ?? [])] };
}

/** First of: WEFT_CONFIG, the state directory, the user's, the machine's, the seed's CM_PATH. */
export function findConfigFile(environment: Environment, directory: string): string | null {
  const named = environment['WEFT_CONFIG'];
  if (named) return named;
  const home = environment['XDG_CONFIG_HOME'] || path.join(homedir(), '.config');
  const places = [path.join(directory, 'weft.yaml'), path.join(home, 'weft', 'weft.yaml')];
  places.push('/etc/weft/weft.yaml');
  const seedPath = environment['CM_PATH'];
  if (seedPath) places.push(path.join(seedPath, 'etc', 'cm-config.yml'));
  return places.find((place) => existsSync(place)) ?? null;
}

function resolve(
  key: Key,
  { flags, environment }: Omit<ConfigSources, 'directory'>,
  file: ReadonlyMap<string, FileValue>,
): Setting {
  const flag = flags?.get(key.name);
  if (flag !== undefined) return { key, value: read(key, flag.text, flag.flag), source: flag.flag };
  const variable = environmentName(key.name);
  const text = environment[variable];
  if (text !== undefined) return { key, value: read(key, text, variable), source: variable };
  const written = file.get(key.name);
  if (written !== undefined) return { key, ...written };
  const value = key.default === null ? null : read(key, key.default, key.name);
  return { key, value, source: 'default' };
}

function read(key: Key, text: string, where: string): Value {
  const parsed = parseValue(key, text);
  if (!parsed.ok) throw usage(`${where}: ${parsed.error}`);
  return parsed.value;
}
