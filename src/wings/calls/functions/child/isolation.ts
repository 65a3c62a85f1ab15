// What a call may have changed in its process, put back after it: directory, environment, umask,
// listeners, exit code. Nothing is compared while nobody has changed anything.

/** To be begun when the child's own listeners are there; `restore` comes after each call. */
export interface Isolation {
  restore(): void;
  /** What is set now is what calls find from now on: a set-up function has run. */
  readonly adopt: () => void;
  /** A variable of the environment that is Weft's. */
  readonly tell: (name: string, value: string) => void;
  /** Timers, sockets and the like that calls have left; null when there are none that are new. */
  leaked(): string | null;
}

interface Watch {
  readonly restore: () => void;
  readonly adopt: () => void;
}

export function isolate(): Isolation {
  const environment = watchEnvironment();
  const watches = [watchDirectory(), environment, watchUmask(), watchListeners()];
  const reported = new Set<string>();
  let idle = countsOf(process.getActiveResourcesInfo());
  return {
    restore: () => {
      for (const { restore } of watches) restore();
      if (process.exitCode !== undefined) process.exitCode = undefined;
    },
    adopt: () => {
      for (const { adopt } of watches) adopt();
    },
    tell: environment.tell,
    leaked: () => {
      const now = countsOf(process.getActiveResourcesInfo());
      const more = [...now].filter(([kind, count]) => count > (idle.get(kind) ?? 0));
      idle = now;
      const fresh = more.map(([kind]) => kind).filter((kind) => !reported.has(kind));
      for (const kind of fresh) reported.add(kind);
      return fresh.length === 0 ? null : fresh.join(', ');
    },
  };
}

function countsOf(kinds: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of kinds) {
    // Come and go with Node's own work, and with what a call leaves to finish by itself.
    if (!TRANSIENT.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

const TRANSIENT = new Set(['Immediate', 'FSReqCallback', 'FSReqPromise', 'CloseReq', 'TickObject']);

function watchDirectory(): Watch {
  let home = process.cwd();
  const { chdir } = process;
  let isChanged = false;
  process.chdir = (directory) => {
    isChanged = true;
    chdir(directory);
  };
  return {
    restore: () => {
      if (!isChanged) return;
      isChanged = false;
      chdir(home);
    },
    adopt: () => {
      home = process.cwd();
    },
  };
}

/**
 * The environment behind a Proxy that notes writes: comparing it after each call would cost more.
 */
function watchEnvironment(): Watch & Pick<Isolation, 'tell'> {
  const real = process.env;
  let kept = { ...real };
  let isChanged = false;
  const changing = <T>(act: () => T): T => {
    isChanged = true;
    return act();
  };
  const watched = new Proxy(real, {
    set: (env, name, value) => changing(() => Reflect.set(env, name, value)),
    deleteProperty: (env, name) => changing(() => Reflect.deleteProperty(env, name)),
    defineProperty: (env, name, to) => changing(() => Reflect.defineProperty(env, name, to)),
  });
  Object.defineProperty(process, 'env', {
    configurable: true,
    enumerable: true,
    get: () => watched,
    set: (value: NodeJS.ProcessEnv) => {
      for (const name of Object.keys(watched)) if (!(name in value)) delete watched[name];
      Object.assign(watched, value);
    },
  });
  return {
    restore: () => {
      if (!isChanged) return;
      isChanged = false;
      for (const name of Object.keys(real)) if (!(name in kept)) delete real[name];
      for (const [name, value] of Object.entries(kept))
        if (real[name] !== value) real[name] = value;
    },
    adopt: () => {
      kept = { ...real };
    },
    tell: (name, value) => {
      real[name] = value;
      kept[name] = value;
    },
  };
}

function watchUmask(): Watch {
  const { umask } = process;
  let home = umask();
  let isChanged = false;
  process.umask = ((mask?: string | number) => {
    if (mask === undefined) return umask();
    isChanged = true;
    return umask(mask);
  }) as typeof process.umask;
  return {
    restore: () => {
      if (!isChanged) return;
      isChanged = false;
      umask(home);
    },
    adopt: () => {
      home = umask();
    },
  };
}

/**
 * A handler for `uncaughtException` that a call leaves on the process would take the next one's.
 */
function watchListeners(): Watch {
  let isChanged = false;
  let mine = new Set<unknown>();
  const adopt = (): void => {
    mine = new Set(process.eventNames().flatMap((event) => process.rawListeners(event as 'exit')));
    isChanged = false;
  };
  process.on('newListener', () => {
    isChanged = true;
  });
  adopt();
  return {
    restore: () => {
      if (!isChanged) return;
      isChanged = false;
      for (const event of process.eventNames()) {
        for (const one of process.rawListeners(event as 'exit')) {
          if (!mine.has(one)) process.removeListener(event as 'exit', one as () => void);
        }
      }
    },
    adopt,
  };
}
