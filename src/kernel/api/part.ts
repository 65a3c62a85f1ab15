// What a wing adds to the API of the head.

import type { z } from 'zod';
import type { EventKinds } from './event-kinds.ts';
import type { RouteShape } from './route-shape.ts';

/** A group of routes in the document of the API. */
export interface Tag {
  readonly description: string;
  /** First words of their paths behind the version. */
  readonly words: readonly string[];
}

export interface ApiPart {
  /** By name; the method and path of each is in the wing's file `api/paths.ts`. */
  readonly routes: Readonly<Record<string, RouteShape>>;
  /** Fields that it adds to the view of one job. */
  readonly jobFields?: Readonly<Record<string, z.ZodType>>;
  /** Schemas that several routes share, by the names that generated clients give them. */
  readonly names?: Readonly<Record<string, z.ZodType>>;
  /** Kinds of its events that go out; those of no list do not. */
  readonly events?: EventKinds;
  readonly tags?: Readonly<Record<string, Tag>>;
}
