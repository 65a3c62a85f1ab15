// Where this process's cgroups are: read from /proc/self/mountinfo and /proc/self/cgroup, because
// distributions mount them in different places and versions, or both versions at once.

export interface Hierarchy {
  readonly version: 1 | 2;
  /** Controllers of a version 1 hierarchy; empty for version 2, where a file names them. */
  readonly controllers: readonly string[];
  /** The directory of our own group. */
  readonly path: string;
}

/** All hierarchies that are mounted writable. */
export function parseHierarchies(mountinfo: string, ownCgroups: string): Hierarchy[] {
  const own = parseOwn(ownCgroups);
  const found: Hierarchy[] = [];
  for (const line of mountinfo.split('\n')) {
    const mount = parseMount(line);
    if (mount === null || !mount.writable || isOutside(mount)) continue;
    if (mount.type === 'cgroup2') {
      const path = own.get('');
      if (path !== undefined) found.push({ version: 2, controllers: [], path: join(mount, path) });
      continue;
    }
    const controllers = mount.options.filter((option) => own.has(option));
    const path = controllers[0] === undefined ? undefined : own.get(controllers[0]);
    if (path !== undefined) found.push({ version: 1, controllers, path: join(mount, path) });
  }
  return found;
}

/** Controller → path; the empty name is version 2 (cgroups(7)). */
function parseOwn(text: string): Map<string, string> {
  const own = new Map<string, string>();
  for (const line of text.split('\n')) {
    const match = /^\d+:([^:]*):(.*)$/.exec(line);
    if (match === null) continue;
    for (const controller of (match[1] as string).split(','))
      own.set(controller, match[2] as string);
  }
  return own;
}

interface Mount {
  readonly root: string;
  readonly point: string;
  readonly type: string;
  readonly writable: boolean;
  readonly options: readonly string[];
}

/** One line of mountinfo (proc_pid_mountinfo(5)); null when it is no cgroup mount. */
function parseMount(line: string): Mount | null {
  const [front, back] = line.split(' - ');
  if (front === undefined || back === undefined) return null;
  const [type, , options] = back.split(' ');
  if (type !== 'cgroup' && type !== 'cgroup2') return null;
  const [, , , root, point, flags] = front.split(' ');
  return {
    root: unescapeOctal(root ?? '/'),
    point: unescapeOctal(point ?? ''),
    type,
    writable: (flags ?? '').split(',').includes('rw'),
    options: (options ?? '').split(','),
  };
}

// A host's mount in a container with a cgroup namespace of its own: our group is not found by its
// name there, and the kernel refuses to move processes out of the namespace (cgroup_namespaces(7)).
function isOutside({ root }: Mount): boolean {
  return root === '/..' || root.startsWith('/../');
}

/** Spaces and the like are written as octal escapes. */
function unescapeOctal(text: string): string {
  return text.replace(/\\(\d{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

/** A container sees only what is below the mount's root; above it there is nothing to join. */
function join({ root, point }: Mount, path: string): string {
  const inside = root !== '/' && path.startsWith(root) ? path.slice(root.length) : path;
  const below = root !== '/' && !path.startsWith(root) ? '' : inside;
  return below === '/' ? point : point + below;
}
