// The names that a piece of JavaScript takes from outside, and words in it that mean something only
// where it was written: a walk over its syntax tree with the scopes of the language.

import type { Node } from 'acorn';

export type Tree = Node & { readonly [field: string]: unknown };

export interface Names {
  /** Used, and bound nowhere in the text; in order of appearance. */
  readonly free: ReadonlySet<string>;
  /** Private members that are declared or used, with their `#`. */
  readonly privates: ReadonlySet<string>;
  /** `this`, `super`, `new.target`, `import.meta` of the place where the text was written. */
  readonly placeWords: ReadonlySet<string>;
  /** `import()` of anything but a module of Node. */
  readonly imports: boolean;
  /** Those of `free` that the text gives a value. */
  readonly assigned: ReadonlySet<string>;
  /** Where the text uses what is free. */
  readonly places: readonly NamePlace[];
  /** Whether the function calls itself by its own name, or says it in another way. */
  readonly saysItself: boolean;
  /** `eval(…)`: nobody can say which names it uses. */
  readonly evaluates: boolean;
}

/** A name in a text. */
export interface NamePlace {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** `{ name }`, which stands for `{ name: name }`. */
  readonly isShort: boolean;
}

interface Scope {
  readonly names: Set<string>;
  readonly parent: Scope | null;
  /** Where `var` binds. */
  readonly body: Scope | null;
}

interface Use extends NamePlace {
  readonly scope: Scope;
}

interface Walk {
  readonly uses: Use[];
  readonly assigns: { name: string; scope: Scope }[];
  readonly shorts: Set<unknown>;
  readonly evals: Scope[];
  /** Holds the name of the function or class itself. */
  own: Scope | null;
  readonly privates: Set<string>;
  readonly placeWords: Set<string>;
  readonly skip: ReadonlySet<unknown>;
  imports: boolean;
}

/** Where the walk is: `isOutside` while `this` still is that of the place around the text. */
interface WalkPosition {
  readonly scope: Scope;
  readonly isOutside: boolean;
}

/** `skip`: parts of the tree that will be cut out. */
export function collectNames(tree: Tree, skip: ReadonlySet<unknown> = new Set()): Names {
  const walk: Walk = {
    uses: [],
    assigns: [],
    evals: [],
    privates: new Set(),
    placeWords: new Set(),
    skip,
    shorts: new Set(),
    own: null,
    imports: false,
  };
  visit(walk, tree, { scope: scopeIn(null, 'body'), isOutside: true });
  const places = walk.uses.filter(({ name, scope }) => binderOf(name, scope) === null);
  const assigned = walk.assigns.filter(({ name, scope }) => isOpen(walk, name, scope));
  const { privates, placeWords, imports } = walk;
  return {
    privates,
    placeWords,
    imports,
    places,
    free: new Set(places.map(({ name }) => name)),
    assigned: new Set(assigned.map(({ name }) => name)),
    saysItself: walk.uses.some(({ name, scope }) => isOwn(walk, binderOf(name, scope))),
    evaluates: walk.evals.some((scope) => binderOf('eval', scope) === null),
  };
}

function isOwn({ own }: Walk, scope: Scope | null): boolean {
  return own !== null && scope === own;
}

/** Whether it is not bound for certain: a function's own name may be a variable around it. */
function isOpen(walk: Walk, name: string, from: Scope): boolean {
  const scope = binderOf(name, from);
  return scope === null || isOwn(walk, scope);
}

function scopeIn(parent: Scope | null, of: 'body' | 'block' = 'block'): Scope {
  const made = { names: new Set<string>(), parent };
  return { ...made, body: of === 'body' ? null : (parent?.body ?? parent) };
}

/** The scope within the text that binds a name. */
function binderOf(name: string, from: Scope): Scope | null {
  for (let scope: Scope | null = from; scope !== null; scope = scope.parent) {
    if (scope.names.has(name)) return scope;
  }
  return null;
}

function visit(walk: Walk, tree: Tree, place: WalkPosition): void {
  if (walk.skip.has(tree)) return;
  const act = VISITORS[tree.type];
  if (act !== undefined) act(walk, tree, place);
  else visitParts(walk, tree, place);
}

function visitParts(walk: Walk, tree: Tree, place: WalkPosition): void {
  for (const field in tree) {
    const part = tree[field];
    if (Array.isArray(part)) for (const one of part) visitPart(walk, one, place);
    else visitPart(walk, part, place);
  }
}

function visitPart(walk: Walk, part: unknown, place: WalkPosition): void {
  if (typeof (part as Tree | null)?.type === 'string') visit(walk, part as Tree, place);
}

type Visitor = (walk: Walk, tree: Tree, place: WalkPosition) => void;

const inBlock: Visitor = (walk, tree, place) =>
  visitParts(walk, tree, { ...place, scope: scopeIn(place.scope) });

const asMember: Visitor = (walk, tree, place) => {
  const key = tree['key'] as Tree;
  if (tree['shorthand'] === true) walk.shorts.add(nameIn(tree['value'] as Tree));
  if (tree['computed'] === true) visit(walk, key, place);
  else if (key.type === 'PrivateIdentifier') visit(walk, key, place);
  const value = tree['value'] as Tree | null;
  if (value === null || value === undefined) return;
  // What a field is set to is evaluated as in a method: with a `this` of its own.
  const isField = tree.type === 'PropertyDefinition';
  visit(walk, value, isField ? withOwnThis(place) : place);
};

/** `{ a }` or `{ a = 1 }`. */
function nameIn(value: Tree): unknown {
  return value.type === 'AssignmentPattern' ? value['left'] : value;
}

const inBody: Visitor = (walk, tree, place) => visitParts(walk, tree, withOwnThis(place));

function withOwnThis(place: WalkPosition): WalkPosition {
  const scope = scopeIn(place.scope, 'body');
  scope.names.add('arguments');
  return { scope, isOutside: false };
}

const VISITORS: Readonly<Record<string, Visitor>> = {
  Identifier: (walk, tree, { scope }) => {
    const { start, end } = tree;
    const isShort = walk.shorts.has(tree);
    walk.uses.push({ name: tree['name'] as string, scope, start, end, isShort });
  },
  AssignmentExpression: (walk, tree, place) => {
    assign(walk, tree['left'] as Tree, place);
    visitParts(walk, tree, place);
  },
  UpdateExpression: (walk, tree, place) => {
    assign(walk, tree['argument'] as Tree, place);
    visitParts(walk, tree, place);
  },
  CallExpression: (walk, tree, place) => {
    const callee = tree['callee'] as Tree;
    if (callee.type === 'Identifier' && callee['name'] === 'eval') walk.evals.push(place.scope);
    visitParts(walk, tree, place);
  },
  PrivateIdentifier: (walk, tree) => void walk.privates.add(`#${tree['name']}`),
  ThisExpression: (walk, _tree, place) => placeWord(walk, 'this', place),
  Super: (walk, _tree, place) => placeWord(walk, 'super', place),
  MetaProperty: (walk, tree, place) => {
    const isImport = (tree['meta'] as Tree)['name'] === 'import';
    if (isImport) walk.placeWords.add('import.meta');
    else placeWord(walk, 'new.target', place);
  },
  ImportExpression: (walk, tree, place) => {
    const source = tree['source'] as Tree;
    const name = source.type === 'Literal' ? String(source['value']) : './';
    if (!name.startsWith('node:')) walk.imports = true;
    visitParts(walk, tree, place);
  },
  MemberExpression: (walk, tree, place) => {
    visit(walk, tree['object'] as Tree, place);
    const property = tree['property'] as Tree;
    if (tree['computed'] === true || property.type === 'PrivateIdentifier')
      visit(walk, property, place);
  },
  Property: asMember,
  MethodDefinition: asMember,
  PropertyDefinition: asMember,
  StaticBlock: inBody,
  FunctionDeclaration: (walk, tree, place) => {
    const { name } = tree['id'] as unknown as { name: string };
    place.scope.names.add(name);
    visitFunction(walk, tree, place);
  },
  FunctionExpression: visitFunction,
  ArrowFunctionExpression: visitFunction,
  ClassDeclaration: (walk, tree, place) => {
    place.scope.names.add((tree['id'] as unknown as { name: string }).name);
    visitClass(walk, tree, place);
  },
  ClassExpression: visitClass,
  VariableDeclaration: (walk, tree, place) => {
    const target = tree['kind'] === 'var' ? (place.scope.body ?? place.scope) : place.scope;
    for (const one of tree['declarations'] as Tree[]) {
      declare(walk, one['id'] as Tree, target, place);
      visitPart(walk, one['init'], place);
    }
  },
  CatchClause: (walk, tree, place) => {
    const inside = { ...place, scope: scopeIn(place.scope) };
    const param = tree['param'] as Tree | null;
    if (param !== null) declare(walk, param, inside.scope, inside);
    visit(walk, tree['body'] as Tree, inside);
  },
  BlockStatement: inBlock,
  ForStatement: inBlock,
  ForInStatement: inLoop,
  ForOfStatement: inLoop,
  SwitchStatement: inBlock,
  LabeledStatement: (walk, tree, place) => visit(walk, tree['body'] as Tree, place),
  BreakStatement: () => undefined,
  ContinueStatement: () => undefined,
};

function inLoop(walk: Walk, tree: Tree, place: WalkPosition): void {
  const left = tree['left'] as Tree;
  if (left.type !== 'VariableDeclaration') assign(walk, left, place);
  inBlock(walk, tree, place);
}

/** Notes the variables that a pattern gives values. */
function assign(walk: Walk, target: Tree, place: WalkPosition): void {
  if (target.type === 'Identifier') {
    walk.assigns.push({ name: target['name'] as string, scope: place.scope });
    return;
  }
  for (const part of PARTS_OF_PATTERN.flatMap((field) => target[field] as Tree | Tree[] | null)) {
    if (part !== null && part !== undefined) assign(walk, part, place);
  }
}

/** A member expression has none of them: it changes no variable. */
const PARTS_OF_PATTERN = ['left', 'argument', 'elements', 'properties', 'value'];

function placeWord(walk: Walk, word: string, place: WalkPosition): void {
  if (place.isOutside) walk.placeWords.add(word);
}

function visitFunction(walk: Walk, tree: Tree, place: WalkPosition): void {
  const isArrow = tree.type === 'ArrowFunctionExpression';
  const around = inOwnName(walk, tree, place);
  const inside: WalkPosition = isArrow
    ? { ...around, scope: scopeIn(around.scope, 'body') }
    : withOwnThis(around);
  const params = tree['params'] as Tree[];
  for (const param of params) declare(walk, param, inside.scope, inside);
  // What the body declares is not seen by the parameters' defaults.
  const isSimple = params.every(({ type }) => type === 'Identifier');
  const scope = isSimple ? inside.scope : scopeIn(inside.scope, 'body');
  visit(walk, tree['body'] as Tree, { ...inside, scope });
}

/** A function's own name is bound around its parameters; that of the whole text is noted. */
function inOwnName(walk: Walk, tree: Tree, place: WalkPosition): WalkPosition {
  const id = tree['id'] as Tree | null | undefined;
  if (id === null || id === undefined) return place;
  const scope = scopeIn(place.scope);
  scope.names.add(id['name'] as string);
  if (place.scope.parent === null && walk.own === null) walk.own = scope;
  return { ...place, scope };
}

function visitClass(walk: Walk, tree: Tree, place: WalkPosition): void {
  const inside = { ...place, scope: scopeIn(place.scope) };
  const id = tree['id'] as Tree | null;
  if (id !== null && id !== undefined) inside.scope.names.add(id['name'] as string);
  visitPart(walk, tree['superClass'], inside);
  visit(walk, tree['body'] as Tree, inside);
}

/** Binds the names of a pattern; its defaults and computed keys are ordinary expressions. */
function declare(walk: Walk, pattern: Tree, target: Scope, place: WalkPosition): void {
  if (pattern.type === 'Identifier') target.names.add(pattern['name'] as string);
  else if (pattern.type === 'RestElement')
    declare(walk, pattern['argument'] as Tree, target, place);
  else if (pattern.type === 'AssignmentPattern') {
    declare(walk, pattern['left'] as Tree, target, place);
    visit(walk, pattern['right'] as Tree, place);
  } else if (pattern.type === 'ArrayPattern') {
    for (const one of pattern['elements'] as (Tree | null)[]) {
      if (one !== null) declare(walk, one, target, place);
    }
  } else {
    for (const one of pattern['properties'] as Tree[]) {
      if (one.type === 'Property' && one['computed'] === true)
        visit(walk, one['key'] as Tree, place);
      declare(walk, (one.type === 'Property' ? one['value'] : one) as Tree, target, place);
    }
  }
}
