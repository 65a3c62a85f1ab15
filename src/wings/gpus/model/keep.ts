// A card that the owner of a machine keeps for a while.

export interface Keep {
  readonly uuid: string;
  /** Login name. */
  readonly by: string;
  /** Since when and until when, by the node's clock. */
  readonly since: number;
  readonly until: number;
}
