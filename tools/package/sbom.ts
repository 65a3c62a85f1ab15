// What is in the packages beside our own sources, as a bill of materials (CycloneDX 1.5): from the
// lock file, so that the same sources give the same bytes.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../tree.ts';
import type { How } from './tree.ts';

/** Packages whose code the web page has in its own files; nothing else of npm is bundled. */
export const IN_PAGE = ['@preact/signals', '@preact/signals-core', 'preact', 'uplot'] as const;

export interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
}

export interface Shipped {
  readonly version: string;
  readonly license: string;
  /** By their places below the root, as the lock file has them. */
  readonly packages: Readonly<Record<string, Locked>>;
  readonly nodeVersion: string;
  /** Seconds since 1970. */
  readonly date: number;
}

/** The text of the bill. */
export function sbomText({ version, license, packages, nodeVersion, date }: Shipped): string {
  const weft = { type: 'application', name: 'weft', version, 'bom-ref': `weft@${version}` };
  const components = Object.entries(packages)
    .map(([place, locked]) => npmComponent(place, locked))
    .concat(nodeComponent(nodeVersion))
    .sort((one, other) => (one['bom-ref'] < other['bom-ref'] ? -1 : 1));
  const own = {
    metadata: metadataOf({ ...weft, licenses: licensesOf(license) }, date),
    components,
  };
  const serial = createHash('sha256').update(JSON.stringify(own)).digest('hex');
  const head = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 };
  return `${JSON.stringify({ ...head, serialNumber: `urn:uuid:${uuidOf(serial)}`, ...own }, null, 2)}\n`;
}

function metadataOf(component: object, date: number): object {
  return { timestamp: new Date(date * 1000).toISOString(), component };
}

interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly 'bom-ref': string;
  readonly purl: string;
}

function npmComponent(place: string, { version, license, integrity }: Locked): Component {
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const named = { type: 'library', name, version, 'bom-ref': `${purl}#${place}`, purl };
  const known = { ...named, licenses: licensesOf(license ?? 'NOASSERTION') };
  const [algorithm, sum] = integrity?.split('-') ?? [];
  if (algorithm !== 'sha512' || sum === undefined) return known;
  const content = Buffer.from(sum, 'base64').toString('hex');
  const hashes = [{ alg: 'SHA-512', content }];
  return Object.assign(known, { hashes });
}

function nodeComponent(version: string): Component {
  const purl = `pkg:generic/node@${version}`;
  const named = { type: 'platform', name: 'node', version, 'bom-ref': purl, purl };
  return Object.assign(named, { licenses: licensesOf('MIT') });
}

function licensesOf(license: string): object[] {
  return /^[\w.+-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }];
}

/** From a digest, in the form of version 8 (RFC 9562). */
function uuidOf(hex: string): string {
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ];
  return [...parts, hex.slice(20, 32)].join('-');
}

/** The file that was made: of what the tree has, and of the page. */
export function makeSbom({ tree, out, date }: Omit<How, 'quick'>): string {
  const read = (name: string) => JSON.parse(readFileSync(path.join(ROOT, name), 'utf8'));
  const { license } = read('package.json') as { license: string };
  const locked = (read('package-lock.json') as { packages: Record<string, Locked> }).packages;
  const lib = path.join(tree.folder, 'lib', 'weft');
  const packages = shippedOf(locked, (place) => existsSync(path.join(lib, place)));
  const nodeVersion = process.version.slice(1);
  const text = sbomText({ version: tree.version, license, packages, nodeVersion, date });
  const file = path.join(out, `weft-${tree.version}.cdx.json`);
  writeFileSync(file, text);
  return file;
}

/** Those that lie in the tree, and those that the page has. */
export function shippedOf(
  locked: Readonly<Record<string, Locked>>,
  isThere: (place: string) => boolean,
): Record<string, Locked> {
  const inPage = new Set<string>(IN_PAGE.map((name) => `node_modules/${name}`));
  const kept = Object.entries(locked).filter(([place]) => {
    return place !== '' && (inPage.has(place) || isThere(place));
  });
  return Object.fromEntries(kept);
}
