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
  /** `import()` of something other than a literal name of a package or of Node. */
  readonly importsRelative: boolean;
}

interface Scope {
  readonly names: Set<string>;
  readonly parent: Scope | null;
  /** Where `var` binds. */
  readonly body: Scope | null;
}

interface Walk {
  readonly uses: { name: string; scope: Scope }[];
  readonly privates: Set<string>;
  readonly placeWords: Set<string>;
  readonly skip: ReadonlySet<unknown>;
  importsRelative: boolean;
}

/** Where the walk is: `isOutside` while `this` still is that of the place around the text. */
interface Place {
  readonly scope: Scope;
  readonly isOutside: boolean;
}

/** `skip`: parts of the tree that will be cut out. */
export function collectNames(tree: Tree, skip: ReadonlySet<unknown> = new Set()): Names {
  const walk: Walk = {
    ...{ uses: [], privates: new Set(), placeWords: new Set() },
    ...{ skip, importsRelative: false },
  };
  visit(walk, tree, { scope: scopeIn(null, true), isOutside: true });
  const free = walk.uses.filter(({ name, scope }) => !isBound(name, scope));
  return { ...walk, free: new Set(free.map(({ name }) => name)) };
}

function scopeIn(parent: Scope | null, isBody = false): Scope {
  const made = { names: new Set<string>(), parent };
  return { ...made, body: isBody ? null : (parent?.body ?? parent) };
}

function isBound(name: string, from: Scope): boolean {
  for (let scope: Scope | null = from; scope !== null; scope = scope.parent) {
    if (scope.names.has(name)) return true;
  }
  return false;
}

function visit(walk: Walk, tree: Tree, place: Place): void {
  if (walk.skip.has(tree)) return;
  const act = VISITORS[tree.type];
  if (act !== undefined) act(walk, tree, place);
  else visitParts(walk, tree, place);
}

function visitParts(walk: Walk, tree: Tree, place: Place): void {
  for (const field in tree) {
    const part = tree[field];
    if (Array.isArray(part)) for (const one of part) visitPart(walk, one, place);
    else visitPart(walk, part, place);
  }
}

function visitPart(walk: Walk, part: unknown, place: Place): void {
  if (typeof (part as Tree | null)?.type === 'string') visit(walk, part as Tree, place);
}

type Visitor = (walk: Walk, tree: Tree, place: Place) => void;

const inBlock: Visitor = (walk, tree, place) =>
  visitParts(walk, tree, { ...place, scope: scopeIn(place.scope) });

const asMember: Visitor = (walk, tree, place) => {
  const key = tree['key'] as Tree;
  if (tree['computed'] === true) visit(walk, key, place);
  else if (key.type === 'PrivateIdentifier') visit(walk, key, place);
  const value = tree['value'] as Tree | null;
  if (value === null || value === undefined) return;
  // What a field is set to is evaluated as in a method: with a `this` of its own.
  const isField = tree.type === 'PropertyDefinition';
  visit(walk, value, isField ? withOwnThis(place) : place);
};

const inBody: Visitor = (walk, tree, place) => visitParts(walk, tree, withOwnThis(place));

function withOwnThis(place: Place): Place {
  const scope = scopeIn(place.scope, true);
  scope.names.add('arguments');
  return { scope, isOutside: false };
}

const VISITORS: Readonly<Record<string, Visitor>> = {
  Identifier: (walk, tree, { scope }) => {
    walk.uses.push({ name: tree['name'] as string, scope });
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
    if (/^[./]/.test(name)) walk.importsRelative = true;
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
  ForInStatement: inBlock,
  ForOfStatement: inBlock,
  SwitchStatement: inBlock,
  LabeledStatement: (walk, tree, place) => visit(walk, tree['body'] as Tree, place),
  BreakStatement: () => undefined,
  ContinueStatement: () => undefined,
};

function placeWord(walk: Walk, word: string, place: Place): void {
  if (place.isOutside) walk.placeWords.add(word);
}

function visitFunction(walk: Walk, tree: Tree, place: Place): void {
  const isArrow = tree.type === 'ArrowFunctionExpression';
  const inside: Place = isArrow
    ? { ...place, scope: scopeIn(place.scope, true) }
    : withOwnThis(place);
  const id = tree['id'] as Tree | null;
  if (id !== null && id !== undefined) inside.scope.names.add(id['name'] as string);
  for (const param of tree['params'] as Tree[]) declare(walk, param, inside.scope, inside);
  visit(walk, tree['body'] as Tree, inside);
}

function visitClass(walk: Walk, tree: Tree, place: Place): void {
  const inside = { ...place, scope: scopeIn(place.scope) };
  const id = tree['id'] as Tree | null;
  if (id !== null && id !== undefined) inside.scope.names.add(id['name'] as string);
  visitPart(walk, tree['superClass'], inside);
  visit(walk, tree['body'] as Tree, inside);
}

/** Binds the names of a pattern; its defaults and computed keys are ordinary expressions. */
function declare(walk: Walk, pattern: Tree, target: Scope, place: Place): void {
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
