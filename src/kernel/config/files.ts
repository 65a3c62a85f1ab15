// Which files the configuration stands in, and what they say together: a `weft.yaml`, and under it
// the seed's `cm-config.yml`, which CM_PATH names. Whoever sets CM_PATH wants that file read,
// whatever else is there.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { refuse } from '../model/errors.ts';
import { failure } from '../model/failure.ts';
import { homeOf } from './home.ts';
import type { FileReading } from './read-file.ts';
import type { Schema } from './schema.ts';

const SEED_FILE = 'cm-config.yml';

export interface FilePlaces {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `--config`, or null to look for one. */
  readonly file: string | null;
  /** The state directory, the first place to look. */
  readonly directory: string;
}

type Read = Pick<FileReading, 'values' | 'tables' | 'tableValues'>;

interface Files extends Read {
  /** The one that wins first; empty when there is none. */
  readonly files: readonly string[];
  /** One of them is the seed's: where all are silent, the seed's defaults hold. */
  readonly hasSeedFile: boolean;
}

/** Reads them; throws a failure that says where the wrong value stands. */
export async function readConfigFiles(places: FilePlaces, schema: Schema): Promise<Files> {
  const files = findConfigFiles(places);
  const hasSeedFile = files.some((file) => path.basename(file) === SEED_FILE);
  // The YAML parser is loaded only when there is a file: most commands start without it.
  if (files.length === 0) return { ...NOTHING_READ, files, hasSeedFile };
  const { readConfigFile } = await import('./read-file.ts');
  const read = files.map((file): Read => readConfigFile(file, schema));
  return { ...read.reduceRight(laidOver, NOTHING_READ), files, hasSeedFile };
}

/** Where a value comes from that no file sets but the seed did. */
export const SEED_SOURCE = `default with a ${SEED_FILE}`;

const NOTHING_READ: Read = { values: new Map(), tables: new Map(), tableValues: [] };

/** Key by key; of a table the upper file has all entries or none. */
function laidOver(under: Read, over: Read): Read {
  const isHidden = (name: string) =>
    [...over.tables.keys()].some((one) => name.startsWith(`${one}.`));
  return {
    values: new Map([...under.values, ...over.values]),
    tables: new Map([...under.tables, ...over.tables]),
    tableValues: [
      ...under.tableValues.filter(({ key }) => !isHidden(key.name)),
      ...over.tableValues,
    ],
  };
}

/** False: nothing but variables of the environment can say anything. */
export function mayHaveFiles({ file, environment, directory }: FilePlaces): boolean {
  return Boolean(environment['CM_PATH']) || (file ?? findOwnFile(environment, directory)) !== null;
}

function findConfigFiles({ file, environment, directory }: FilePlaces): string[] {
  const own = file ?? findOwnFile(environment, directory);
  const seed = findSeedFile(environment);
  const isOne = own !== null && seed !== null && path.resolve(own) === path.resolve(seed);
  return [own, isOne ? null : seed].filter((found) => found !== null);
}

/** First of: WEFT_CONFIG, the state directory, the user's, the machine's. */
function findOwnFile(environment: FilePlaces['environment'], directory: string): string | null {
  const named = environment['WEFT_CONFIG'];
  if (named) return named;
  const home = environment['XDG_CONFIG_HOME'] || path.join(homeOf(environment) ?? '/', '.config');
  const places = [path.join(directory, 'weft.yaml'), path.join(home, 'weft', 'weft.yaml')];
  places.push('/etc/weft/weft.yaml');
  return places.find((place) => existsSync(place)) ?? null;
}

function findSeedFile({ CM_PATH: folder }: FilePlaces['environment']): string | null {
  if (!folder) return null;
  const file = path.join(folder, 'etc', SEED_FILE);
  if (existsSync(file)) return file;
  const hint = 'Set CM_PATH to the folder that contains etc/cm-config.yml, or unset it.';
  throw failure(refuse('config.invalid', { where: 'CM_PATH', what: `there is no ${file}` }, hint));
}
