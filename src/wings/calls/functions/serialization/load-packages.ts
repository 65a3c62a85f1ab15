// Packages that packed values name, on the side of a worker: imported before a packed value is
// opened.

import { constants, Script } from 'node:vm';
import { readGraph } from './graph-bytes.ts';
import { noteImport, type PackageRef } from './packages.ts';
import { type Ref, type Table, WITH_GROUPS, WITH_VARIABLES } from './packed-value.ts';

const namespaces = new Map<string, object>();

/** Returns null when there is nothing to wait for. Rejects with what the import threw. */
export function loadPackages(bytes: Uint8Array): Promise<void> | null {
  const mayNameThem = bytes[0] === WITH_GROUPS || bytes[0] === WITH_VARIABLES;
  if (!mayNameThem || bytes.length < 5) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { refs } = readGraph(bytes.subarray(5, 5 + view.getUint32(1, true))) as Table;
  const missing = refs.filter(isPackage).filter((ref) => !namespaces.has(keyOf(ref)));
  return missing.length === 0 ? null : Promise.all(missing.map(load)).then(() => undefined);
}

function isPackage(ref: Ref): ref is PackageRef {
  return ref.is === 'package';
}

async function load(ref: PackageRef): Promise<void> {
  try {
    namespaces.set(keyOf(ref), await importFrom(ref));
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause);
    const remedy =
      'give the workers a directory that has it, or send `{ module, name, bundle: true }`';
    throw new Error(`The package of a captured function is not here: ${words}; ${remedy}`, {
      cause,
    });
  }
}

function importFrom({ base, from }: PackageRef): Promise<object> {
  const loader = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const source = `import(${JSON.stringify(from)})`;
  const script = new Script(source, { filename: base, importModuleDynamically: loader });
  return script.runInThisContext() as Promise<object>;
}

/** The value of a ref. Throws when it was not loaded, or the package has no such export. */
export function packageValue(ref: PackageRef): unknown {
  const namespace = namespaces.get(keyOf(ref));
  if (namespace === undefined) throw new Error(`the package ${ref.from} was not loaded`);
  const value = ref.name === '*' ? namespace : memberOf(namespace, ref);
  noteImport(value, ref);
  return value;
}

function memberOf(namespace: object, { from, name }: PackageRef): unknown {
  let at: unknown = namespace;
  for (const step of name.split('.')) at = (at as Record<string, unknown> | undefined)?.[step];
  if (at === undefined) throw new TypeError(`${from} exports no \`${name}\` here`);
  return at;
}

function keyOf({ base, from }: PackageRef): string {
  return `${base} ${from}`;
}
