// The notice, an operator's message to all users: what is known of it, what can be asked about it,
// and what happens to it. There is one at most.

export interface Notice {
  readonly text: string;
  /** Users see it from then on; null: from when it was set. */
  readonly from: number | null;
  /** When the notice is cleared; null: it stays until somebody clears it. */
  readonly until: number | null;
  readonly by: string;
  readonly at: number;
}

export interface NoticeFacts {
  notice: Notice | null;
}

export type NoticeCommand =
  /** Replaces the one that is there. */
  | {
      readonly kind: 'set_notice';
      readonly text: string;
      readonly from: number | null;
      readonly until: number | null;
    }
  | { readonly kind: 'clear_notice' };

export type NoticeEvent =
  | { readonly kind: 'notice_set'; readonly notice: Notice }
  /** `by`: `system` when its time is over. */
  | { readonly kind: 'notice_cleared'; readonly by: string };
