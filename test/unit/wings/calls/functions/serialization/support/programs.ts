// Random programs of nested functions: shared and shadowed variables, modules with state, classes,
// getters, generators, loops. Each is the text of a module that exports `entry`.

/** Decisions, one after another, from a list that a property shrinks. */
class Tape {
  readonly #list: readonly number[];
  #at = 0;

  constructor(list: readonly number[]) {
    this.#list = list;
  }

  below(count: number): number {
    const found = this.#list[this.#at % this.#list.length] ?? 0;
    this.#at += 1;
    return found % count;
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

const NAMES = ['a', 'b', 'c'];

/** What a scope can say: expressions that have effects and values. */
interface World {
  readonly tape: Tape;
  /** Expressions that anybody further on may use. */
  readonly said: string[];
  next: number;
}

/** The module that others import: its state is one for all of them. */
export const STATE = `
export let count = 0;
let hidden = 10;
export const inc = () => { count += 1; hidden += count; return hidden; };
export function get() { return [count, hidden]; }
export { count as total };
`;

/** The text of a module whose export \`entry\` is to be run here and there. */
export function programOf(decisions: readonly number[], state: string): string {
  const world: World = { tape: new Tape(decisions), said: [], next: 1 };
  const body = scope(world, 0);
  const calls = Array.from({ length: 6 }, () => saying(world));
  return [
    `import { inc, get, count, total as sum } from ${JSON.stringify(state)};`,
    'let a = 0, b = 1, c = 2;',
    body,
    `export const entry = () => { const out = []; out.push(${calls.join(', ')}); `,
    'out.push(a, b, c, get()); return out; };',
  ].join('\n');
}

function saying({ tape, said }: World): string {
  const own = ['inc()', 'get()', 'count', 'sum', ...NAMES, 'a++', 'b += 2', '({ a, b }).b'];
  return said.length > 0 && tape.below(4) > 0 ? tape.of(said) : tape.of(own);
}

/** Statements of one scope; what it declares may hide what is around it. */
function scope(world: World, depth: number): string {
  const { tape } = world;
  const own = depth === 0 ? [] : NAMES.filter(() => tape.below(3) === 0);
  const lines = own.map((name) => `let ${name} = ${tape.below(3)};`);
  for (let left = 2 + tape.below(3); left > 0; left -= 1) lines.push(statement(world, depth));
  return lines.join('\n');
}

type Statement = (world: World, id: number, depth: number) => string;

function statement(world: World, depth: number): string {
  const id = world.next;
  world.next += 1;
  const kinds = depth < 2 ? [...FLAT, ...NESTED] : FLAT;
  return world.tape.of(kinds)(world, id, depth);
}

/** Something that changes a variable, and the value of the whole. */
function effect(world: World): string {
  const name = world.tape.of(NAMES);
  const kind = world.tape.below(4);
  if (kind === 0) return `(${name} += 1)`;
  if (kind === 1) return `(${name} = ${saying(world)})`;
  if (kind === 2) return `([${name}] = [${name} + 3], ${name})`;
  return `[${name}, ${saying(world)}]`;
}

const FLAT: readonly Statement[] = [
  (world, id) => {
    const text = `const f${id} = () => ${effect(world)};`;
    world.said.push(`f${id}()`);
    return text;
  },
  (world, id) => {
    const text = `function f${id}(p = 1, ...q) { const r = ${effect(world)}; return [p, r, q.length]; }`;
    world.said.push(`f${id}()`, `f${id}(5, 6)`);
    return text;
  },
  (world, id) => {
    const text = `function f${id}(n = 3) { return n < 1 ? ${effect(world)} : f${id}(n - 1); }`;
    world.said.push(`f${id}()`);
    return text;
  },
  (world, id) => {
    const text = `const o${id} = { get v() { return ${effect(world)}; }, set v(x) { ${world.tape.of(NAMES)} = x; }, m() { return this.v; } };`;
    world.said.push(`o${id}.v`, `o${id}.m()`, `(o${id}.v = 7)`);
    return text;
  },
  (world, id) => {
    const text = `function* g${id}() { yield ${effect(world)}; yield ${effect(world)}; }`;
    world.said.push(`[...g${id}()]`);
    return text;
  },
  (world, id) => {
    const parts = [effect(world), effect(world), effect(world)];
    const text = `class K${id} { #p = ${parts[0]}; static s = 4; static up() { return K${id}.s++; } bump() { this.#p = ${parts[1]}; return this.#p; } get v() { return [this.#p, ${parts[2]}]; } }
class L${id} extends K${id} { q = 1; bump() { return [super.bump(), this.q++]; } }`;
    world.said.push(`new K${id}().bump()`, `new L${id}().bump()`, `new L${id}().v`, `L${id}.up()`);
    return text;
  },
  (world, id) => {
    const name = world.tape.of(NAMES);
    const text = `const l${id} = []; for (let i = 0; i < 3; i += 1) { let ${name} = i; l${id}.push({ up: () => (${name} += i), at: () => ${name} }); }`;
    world.said.push(`l${id}[1].up()`, `l${id}[1].at()`, `l${id}[0].at()`);
    return text;
  },
  (world, id) => {
    const text = `const w${id} = ${world.tape.below(9)}; const h${id} = { at: ${world.tape.below(3)} }; const f${id} = () => { h${id}.at += w${id}; return h${id}.at; };`;
    world.said.push(`f${id}()`, `h${id}.at`);
    return text;
  },
];

const NESTED: readonly Statement[] = [
  (world, id, depth) => {
    const before = world.said.length;
    const inner = scope(world, depth + 1);
    const parts = [effect(world), effect(world)];
    world.said.splice(before);
    world.said.push(`x${id}.up()`, `x${id}.at()`, `y${id}.up()`, `y${id}.at()`);
    return `function make${id}() { ${inner}
return { up: () => ${parts[0]}, at: () => ${parts[1]} }; }
const x${id} = make${id}(), y${id} = make${id}();`;
  },
  (world, id, depth) => {
    const before = world.said.length;
    const inner = scope(world, depth + 1);
    const said = saying(world);
    world.said.splice(before);
    world.said.push(`f${id}()`);
    return `let f${id}; { ${inner}\nf${id} = () => [${said}, ${effect(world)}]; }`;
  },
];
