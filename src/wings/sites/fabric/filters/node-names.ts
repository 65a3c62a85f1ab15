// What the nodes of a site are called here, where its rules give them other names: no two have the
// same, and none has that of another node over there. To the site only its own names are said.

import { parseNodeName } from '../../../../kernel/model/ids.ts';
import type { SiteNode } from '../../../../kernel/model/site.ts';
import { shownName } from '../../../../kernel/model/site.ts';

export interface FormerName {
  /** What the node was called here, before the name of the site. */
  readonly shown: string;
  readonly own: string;
  readonly hasTasks: boolean;
}

export class NodeNames {
  /** The site's name of each node, by each name it had here: its tasks may be known by it. */
  readonly #own = new Map<string, string>();
  /** The same under gateways before this one: the head may still say it. */
  readonly #before = new Map<string, string>();
  #clashes: readonly string[] = [];

  /** A node's name under an earlier gateway; the name stays its own while it has tasks. */
  keep({ shown, own, hasTasks }: FormerName): void {
    this.#before.set(shown, own);
    if (hasTasks) this.#own.set(shown, own);
  }

  /** What is wrong with the names of the last listing, in words; null: nothing. */
  get problem(): string | null {
    const [first] = this.#clashes;
    if (first === undefined) return null;
    const more = this.#clashes.length > 1 ? ` (and ${this.#clashes.length - 1} more)` : '';
    return `${first}${more}; they are not shown until each has a name of its own`;
  }

  /** The site's name of what has, or has had, this name here. */
  ownOf(shown: string): string {
    return this.#own.get(shown) ?? this.#before.get(shown) ?? shown;
  }

  /**
   * A listing with the nodes hidden whose names are not theirs alone.
   * @param renaming names of the rules that rename
   */
  look(nodes: readonly SiteNode[], renaming: ReadonlySet<string>): readonly SiteNode[] {
    const wishes = wishesOf(nodes);
    const theirs = new Set(nodes.map(({ name }) => name));
    const clashes = new Set<string>();
    const seen = nodes.map((node): SiteNode => {
      if (isHidden(node)) return node;
      const shown = shownName(node);
      const rule = node.seen?.rules.findLast((one) => renaming.has(one)) ?? '';
      const clash = this.#clashOf(node.name, shown, { theirs, wishes: wishes.get(shown) ?? [] });
      if (clash === null || node.seen === undefined) {
        if (!this.#own.has(shown)) this.#own.set(shown, node.name);
        return node;
      }
      clashes.add(`rule ${rule}: ${clash}`);
      return { ...node, seen: { ...node.seen, hiddenBy: rule } };
    });
    this.#clashes = [...clashes];
    return seen;
  }

  /** Returns null when the name is the node's alone. */
  #clashOf(
    own: string,
    shown: string,
    of: { readonly theirs: ReadonlySet<string>; readonly wishes: readonly string[] },
  ): string | null {
    // Whoever is called so over there keeps the name.
    if (shown === own) return null;
    if (!parseNodeName(shown).ok) return `${own} cannot be called ${shown}, which is no node name`;
    if (of.theirs.has(shown)) return `${own} cannot be called ${shown}, as another node is`;
    if (of.wishes.length > 1) return `${of.wishes.join(', ')} would all be called ${shown}`;
    const before = this.#own.get(shown);
    if (before === undefined || before === own) return null;
    return `${own} cannot be called ${shown}, as ${before} was; start the gateway again when that has no tasks`;
  }
}

/** Nodes by the names that they would have. */
function wishesOf(nodes: readonly SiteNode[]): ReadonlyMap<string, readonly string[]> {
  const wishes = new Map<string, string[]>();
  for (const node of nodes) {
    if (isHidden(node)) continue;
    const shown = shownName(node);
    wishes.set(shown, [...(wishes.get(shown) ?? []), node.name]);
  }
  return wishes;
}

function isHidden({ seen }: SiteNode): boolean {
  return (seen?.hiddenBy ?? null) !== null;
}
