// The variables of a function as they live, and the names of scripts: what V8 tells a debugger
// alone. To reach a variable the function is entered and left at its first statement, before
// anything of it has run.

import { Session, url } from 'node:inspector';
import { type Ask, askOf, idOf, withGlobal } from './scopes.ts';

/** A variable that is captured, not a copy of it. */
export interface Variable {
  readonly get: () => unknown;
  /** Throws for a constant. */
  readonly set: (value: unknown) => void;
}

export interface ScriptName {
  readonly url: string;
  readonly sourceMapUrl: string | null;
}

interface InspectorBridge {
  fn: unknown;
  found: Variable[] | null;
}

/** A debugger costs a tenth of a second to begin, and slows what runs: it stays for a moment. */
const STAYS_MS = 100;
/** Makes the inspector forget that the entered function was ended; it is never reached. */
const EVALUATE_MS = 10_000;

class Debugger {
  readonly #session = new Session();
  readonly #ask: Ask;
  readonly #scripts = new Map<string, ScriptName>();
  #expression = '';
  #usedAt = 0;
  #timer: NodeJS.Timeout | null = null;
  #isSound: boolean | undefined;

  constructor() {
    this.#session.connect();
    this.#ask = askOf(this.#session);
    this.#session.on('Debugger.scriptParsed', ({ params }) => {
      const { scriptId, url, sourceMapURL } = params;
      this.#scripts.set(scriptId, { url, sourceMapUrl: sourceMapURL || null });
    });
    // Nothing waits here: the function goes on, to its end, as soon as this returns.
    this.#session.on('Debugger.paused', ({ params }) => {
      const callFrameId = params.callFrames[0]?.callFrameId;
      try {
        this.#ask('Debugger.evaluateOnCallFrame', { callFrameId, expression: this.#expression });
      } finally {
        this.#ask('Debugger.resume', { terminateOnResume: true });
      }
    });
  }

  scriptOf(scriptId: string): ScriptName | null {
    if (!this.#scripts.has(scriptId) && this.#timer === null) {
      this.#ask('Debugger.enable');
      this.#ask('Debugger.disable');
    }
    return this.#scripts.get(scriptId) ?? null;
  }

  textOf(scriptId: string): string {
    const isOn = this.#timer !== null;
    if (!isOn) this.#ask('Debugger.enable');
    try {
      return String(this.#ask('Debugger.getScriptSource', { scriptId })['scriptSource']);
    } finally {
      if (!isOn) this.#ask('Debugger.disable');
    }
  }

  /** Null when it cannot be entered. */
  variablesOf(fn: object, names: readonly string[], isGenerator: boolean): Variable[] | null {
    this.#begin();
    this.#isSound ??= this.#isLeftInTime();
    return this.#isSound ? this.#enter(fn, names, isGenerator) : null;
  }

  /** Looked at once, with a function of our own: those of the program must not run. */
  #isLeftInTime(): boolean {
    let hasRun = false;
    const own = () => {
      hasRun = true;
    };
    const found = this.#enter(own, ['hasRun'], false);
    return !hasRun && found?.[0]?.get() === false;
  }

  #enter(fn: object, names: readonly string[], isGenerator: boolean): Variable[] | null {
    const door: InspectorBridge = { fn, found: null };
    const accessors = names.map(
      (name) => `{ get: () => ${name}, set: ($weftValue) => { ${name} = $weftValue; } }`,
    );
    this.#expression = `void ($weftDoor.found = [${accessors.join(', ')}])`;
    const objectId = idOf(this.#ask, fn);
    withGlobal(door, () => {
      const set = this.#ask('Debugger.setBreakpointOnFunctionCall', { objectId });
      try {
        const expression = `$weftDoor.fn()${isGenerator ? '.next()' : ''}`;
        this.#ask('Runtime.evaluate', { expression, timeout: EVALUATE_MS });
      } catch {
        // It says that the function was ended, as it was to be.
      } finally {
        this.#ask('Debugger.removeBreakpoint', { breakpointId: set['breakpointId'] });
        this.#ask('Runtime.releaseObject', { objectId });
      }
    });
    return door.found;
  }

  /** Disables the debugger, which slows what runs, once it has not been used for a while. */
  rest(): void {
    if (this.#timer === null || performance.now() - this.#usedAt < STAYS_MS) return;
    clearTimeout(this.#timer);
    this.#ask('Debugger.disable');
    this.#timer = null;
  }

  #begin(): void {
    this.#usedAt = performance.now();
    if (this.#timer !== null) return;
    this.#ask('Debugger.enable');
    this.#timer = setInterval(() => this.rest(), STAYS_MS).unref();
  }
}

let debug: Debugger | undefined;

/** To be called now and then, also by a program that never waits. */
export function restDebugger(): void {
  debug?.rest();
}

/** The name of a script; null when it has none. */
export function scriptNamed(scriptId: string | null): ScriptName | null {
  if (scriptId === null) return null;
  debug ??= new Debugger();
  return debug.scriptOf(scriptId);
}

/** The text of a script as it runs. */
export function scriptText(scriptId: string): string {
  debug ??= new Debugger();
  return debug.textOf(scriptId);
}

/** Null when that cannot be had: a debugger of the program's own would be stopped there. */
export function enteredVariables(
  fn: object,
  { names, isGenerator }: { readonly names: readonly string[]; readonly isGenerator: boolean },
): Variable[] | null {
  if (url() !== undefined) return null;
  debug ??= new Debugger();
  return debug.variablesOf(fn, names, isGenerator);
}
