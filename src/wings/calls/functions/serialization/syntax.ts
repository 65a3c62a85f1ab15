// What the text of a function says: which names it takes from outside, and what in it cannot work
// in another place.

import { parse } from 'acorn';
import { collectNames, type NamePlace, type Names, type Tree } from './names.ts';
import { SUPER } from './packed-value.ts';
import { blankOf, type Lead, leadOf } from './text-place.ts';

export interface Syntax {
  /** An expression whose value is the function; a class extends `SUPER` in it. */
  readonly expression: string;
  /** From the place that V8 tells of the function to where the expression begins. */
  readonly lead: Lead;
  /** The same with other names for what is free. */
  readonly renamed: (names: ReadonlyMap<string, string>) => string;
  readonly isClass: boolean;
  /** Whether it has an `extends`. */
  readonly hasParent: boolean;
  readonly isStrict: boolean;
  /** Names that are bound outside of the text, in order of appearance. */
  readonly free: readonly string[];
  /** Those that it gives values: of `free`, or its own name. */
  readonly assigned: ReadonlySet<string>;
  /** The function's own name, when the text says it: bound by the text, or a variable around it. */
  readonly ownName: string | null;
  readonly isGenerator: boolean;
  /** Whether it can be entered without running anything of the program. */
  readonly canEnter: boolean;
  /** Private members that it declares or uses, with their `#`. */
  readonly privates: readonly string[];
  /** What cannot work in another place, in words; null when nothing is. */
  readonly obstacle: string | null;
  /** `import()` has to be resolved where the function was written. */
  readonly imports: boolean;
}

interface Read {
  readonly tree: Tree;
  readonly source: string;
  readonly isStrict: boolean;
}

/** What was read lately: a program has few texts, and many functions of each. */
const known = new Map<string, Syntax | undefined>();
const KNOWN_MAX = 5000;

/** Reads the source of a function; undefined when it is no function's source. */
export function readSyntax(text: string): Syntax | undefined {
  if (known.has(text)) return known.get(text);
  if (known.size >= KNOWN_MAX) known.clear();
  const syntax = read(text);
  known.set(text, syntax);
  return syntax;
}

function read(text: string): Syntax | undefined {
  // Of a module, then sloppy; an expression, then a method of an object or a class.
  for (const isStrict of [true, false]) {
    for (const [before, after] of [
      ['(', ')'],
      ['({', '})'],
    ] as const) {
      const source = `${before}${text}${after}`;
      const tree = expressionIn(source, isStrict);
      const syntax = tree && syntaxOf({ tree, source, isStrict });
      if (syntax !== undefined) return syntax;
    }
  }
  return undefined;
}

function expressionIn(source: string, isStrict: boolean, isExact = false): Tree | undefined {
  try {
    const program = parse(source, {
      ecmaVersion: 'latest',
      sourceType: isStrict ? 'module' : 'script',
      // What belongs to a class that is not here parses, so that the refusal can name it.
      checkPrivateFields: isExact,
      allowSuperOutsideMethod: true,
    });
    const [only, ...more] = program.body;
    if (only?.type !== 'ExpressionStatement' || more.length > 0) return undefined;
    return only.expression as unknown as Tree;
  } catch {
    return undefined; // It is not of this form. The caller says so when it is of none.
  }
}

function syntaxOf(read: Read): Syntax | undefined {
  const { tree } = read;
  if (tree.type === 'ClassExpression') return ofClass(read);
  if (tree.type === 'FunctionExpression' || tree.type === 'ArrowFunctionExpression')
    return {
      ...shared(read, tree, collectNames(tree)),
      ...written(read, tree, collectNames(tree)),
    };
  if (tree.type !== 'ObjectExpression') return undefined;
  const [member, ...more] = tree['properties'] as Tree[];
  const fn = member?.['value'] as Tree | undefined;
  if (fn?.type !== 'FunctionExpression' || more.length > 0) return undefined;
  const words = `${fn['async'] === true ? 'async ' : ''}${fn['generator'] === true ? '*' : ''}`;
  const names = namesOfMethod(fn);
  const around = { before: `({ ${words}method`, from: fn.start, to: fn.end, after: ' }).method' };
  return { ...shared(read, fn, names), ...written(read, fn, names, around) };
}

/** The name of a member that is what it was when the class was made. */
function isStandingKey(member: Tree): boolean {
  const key = member['key'] as Tree | undefined;
  if (member['computed'] !== true || key === undefined || key.type === 'Literal') return true;
  if (key.type !== 'MemberExpression') return false;
  const [object, property] = [key['object'], key['property']] as [Tree, Tree];
  return object['name'] === 'Symbol' && key['computed'] !== true && property.type === 'Identifier';
}

type Edit = { readonly from: number; readonly to: number; readonly text: string };

interface Around {
  readonly from: number;
  readonly to: number;
  readonly before: string;
  readonly after: string;
  readonly edits?: readonly Edit[];
}

type Written = Pick<Syntax, 'expression' | 'renamed' | 'lead'>;

/** The text of the expression, with its own names or others. */
function written(
  { source }: Read,
  tree: Tree,
  { places }: Names,
  around: Around = { from: 0, to: source.length, before: '', after: '' },
): Written {
  const { from, to, before, after, edits = [] } = around;
  const write = (more: readonly Edit[]) =>
    `${before}${edited(source, [...edits, ...more], { from, to })}${after}`;
  const renamed = (names: ReadonlyMap<string, string>): string =>
    write(places.flatMap((place) => renaming(place, names.get(place.name))));
  const offsetIn = (at: number): number =>
    `${before}${edited(source, edits, { from, to: at })}`.length;
  const expression = write([]);
  return { expression, renamed, lead: leadOf({ tree, source }, expression, offsetIn) };
}

function renaming({ name, start, end, isShort }: NamePlace, to: string | undefined): Edit[] {
  if (to === undefined) return [];
  return [{ from: start, to: end, text: isShort ? `${name}: ${to}` : to }];
}

function shared(read: Read, fn: Tree, names: Names): Omit<Syntax, keyof Written> {
  const id = fn['id'] as Tree | null | undefined;
  return {
    isClass: false,
    hasParent: false,
    isStrict: read.isStrict,
    free: [...names.free].filter((name) => name !== 'arguments'),
    assigned: names.assigned,
    ownName: names.saysItself ? ((id?.['name'] as string | undefined) ?? null) : null,
    isGenerator: fn['generator'] === true,
    canEnter: fn.type !== 'ClassExpression' && (fn['params'] as Tree[]).every(isSimple),
    privates: [...names.privates],
    obstacle: obstacleOf(names) ?? strangePrivates(read, names),
    imports: names.imports,
  };
}

/** A parameter that nothing is evaluated for. */
function isSimple(param: Tree): boolean {
  if (param.type === 'AssignmentPattern')
    return isSimple(param['left'] as Tree) && (param['right'] as Tree).type === 'Literal';
  return (
    param.type === 'Identifier' ||
    (param.type === 'RestElement' && isSimple(param['argument'] as Tree))
  );
}

/** `super` of a method means the object that it stood in. */
function namesOfMethod(fn: Tree): Names {
  const names = collectNames(fn);
  const usesSuper = collectNames(fn['body'] as Tree).placeWords.has('super');
  return usesSuper ? { ...names, placeWords: new Set(['super']) } : names;
}

/** Static fields and blocks are cut out: they ran once already, and their values travel. */
function ofClass(read: Read): Syntax {
  const { tree, source } = read;
  const parent = tree['superClass'] as Tree | null;
  const members = (tree['body'] as unknown as { body: Tree[] }).body;
  const cut = members.filter(
    (member) =>
      member.type === 'StaticBlock' ||
      (member.type === 'PropertyDefinition' && member['static'] === true),
  );
  const privateStatic = members.find(
    (member) => member['static'] === true && (member['key'] as Tree).type === 'PrivateIdentifier',
  );
  const isMoving = members.some((member) => !isStandingKey(member));
  const names = collectNames(tree, new Set([...cut, parent]));
  const edits = cut.map(({ start: from, end: to }) => {
    return { from, to, text: blankOf(source.slice(from, to)) };
  });
  if (parent !== null) edits.push({ from: parent.start, to: parent.end, text: SUPER });
  const name = privateStatic && (privateStatic['key'] as Tree)['name'];
  const around = { from: 0, to: source.length, before: '', after: '', edits };
  return {
    ...shared(read, tree, names),
    ...written(read, tree, names, around),
    isClass: true,
    hasParent: parent !== null,
    obstacle: isMoving
      ? 'it is a class with a computed name of a member, which would be computed again; write the name'
      : name === undefined
        ? obstacleOf(names)
        : `it is a class with a private static member (#${name}), whose value nobody can read`,
  };
}

function edited(
  source: string,
  edits: readonly Edit[],
  { from: first, to: last }: Pick<Edit, 'from' | 'to'>,
): string {
  let text = '';
  let at = first;
  for (const edit of edits.toSorted((one, other) => one.from - other.from)) {
    if (edit.from >= last) break;
    text += source.slice(at, edit.from) + edit.text;
    at = edit.to;
  }
  return text + source.slice(at, last);
}

const REMEDIES: Readonly<Record<string, string>> = {
  this: 'uses `this` of the place where it was written; copy what it needs into a variable',
  super: 'uses `super`; call the other function by its name',
  'new.target': 'uses `new.target` of the place where it was written',
  'import.meta': 'uses `import.meta`; pass the path or URL as an argument, or give module and name',
};

function obstacleOf(names: Names): string | null {
  const [word] = names.placeWords;
  if (word !== undefined) return `it ${REMEDIES[word]}`;
  if (names.evaluates)
    return 'it calls `eval`, which may use any variable; use `new Function` and arguments';
  return names.free.has('arguments') ? 'it uses `arguments` of the function around it' : null;
}

/** Private members are known inside of their class only. */
function strangePrivates(read: Read, names: Names): string | null {
  const [name] = names.privates;
  if (name === undefined || expressionIn(read.source, read.isStrict, true) !== undefined)
    return null;
  return `it uses the private member ${name} of its class; send the whole class, or a plain function`;
}
