// What a check of `weft doctor` found.

export interface Finding {
  /** `note`: works, but not as well as it could. */
  readonly state: 'ok' | 'note' | 'bad';
  readonly text: string;
  readonly remedy?: string;
}
