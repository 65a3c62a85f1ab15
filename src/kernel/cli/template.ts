// What `weft init --template` writes.

/** What was chosen on the command line, as it stands in YAML. */
export interface Chosen {
  readonly name: string;
  readonly listen: string;
  readonly names: string;
}

/** A configuration for one kind of cluster, with its reasons as comments. */
export interface Template {
  readonly name: string;
  /** For whom, in a few words. */
  readonly summary: string;
  /** Where its head listens, unless told otherwise. */
  readonly listen: string;
  text(chosen: Chosen): string;
}
