// The XML that Grid Engine prints: elements, attributes and text, without anything else of XML.

export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  /** Directly within it, entities decoded. */
  readonly text: string;
}

interface Open {
  name: string;
  attributes: Record<string, string>;
  children: Element[];
  text: string;
}

const TOKEN =
  /<\?[^>]*\?>|<(?<close>\/?)(?<name>[A-Za-z_][\w.:-]*)(?<rest>[^<>]*?)(?<empty>\/?)>|(?<text>[^<]+)/gy;
const DEPTH_MAX = 20;

/** Returns null when the text is not whole, or is no XML. */
export function parseXml(text: string): Element | null {
  const top: Open = { name: '', attributes: {}, children: [], text: '' };
  const open = [top];
  TOKEN.lastIndex = 0;
  let read = 0;
  for (let token = TOKEN.exec(text); token !== null; token = TOKEN.exec(text)) {
    read = TOKEN.lastIndex;
    if (!take(open, token.groups ?? {})) return null;
  }
  const [root, ...others] = top.children;
  const isWhole = read === text.length && open.length === 1 && others.length === 0;
  return isWhole ? (root ?? null) : null;
}

/** False: it closes what is not open, or is too deep. */
function take(open: Open[], token: Partial<Record<string, string>>): boolean {
  const inner = open.at(-1);
  if (inner === undefined) return false;
  if (token.text !== undefined) inner.text += decode(token.text);
  if (token.name === undefined) return true;
  if (token.close === '/') {
    if (open.length === 1 || inner.name !== token.name) return false;
    open.pop();
    return true;
  }
  const element = {
    name: token.name,
    attributes: attributesIn(token.rest ?? ''),
    children: [],
    text: '',
  };
  inner.children.push(element);
  if (token.empty !== '/') open.push(element);
  return open.length <= DEPTH_MAX;
}

function attributesIn(text: string): Record<string, string> {
  const found = text.matchAll(/([A-Za-z_][\w.:-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/g);
  return Object.fromEntries(
    [...found].map(([, name = '', double, single]) => [name, decode(double ?? single ?? '')]),
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
};

/** Grid Engine 8.1 writes `%lt;` for the first of them. */
function decode(text: string): string {
  return text.replace(/[&%](lt|gt|amp|quot|apos|#\d{1,7});/g, (_, name: string) => {
    return ENTITIES[name] ?? String.fromCodePoint(Math.min(Number(name.slice(1)), 0x10ffff));
  });
}

export function childText(element: Element, name: string): string | null {
  return element.children.find((child) => child.name === name)?.text.trim() ?? null;
}

/** All elements of this name below it, at any depth. */
export function* below(element: Element, name: string): Generator<Element> {
  for (const child of element.children) {
    if (child.name === name) yield child;
    yield* below(child, name);
  }
}
