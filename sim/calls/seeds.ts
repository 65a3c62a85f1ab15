// Seeds about calls that once broke something, each with the sentence of what it broke.

export const PINNED_CALLS: readonly { readonly seed: number; readonly broke: string }[] = [
  {
    seed: 17,
    broke: 'room in the window was told twice for a call that was given while its client came back',
  },
  {
    seed: 12,
    broke: 'a call that only its worker had told of came back, and was queued without a function',
  },
  {
    seed: 24,
    broke: 'a worker asked for arguments that the client had not named again, and was sent away',
  },
  {
    seed: 20_261_122_013,
    broke: 'a worker that was told to leave on a line that broke got no calls any more, for ever',
  },
  {
    seed: 20_261_128_036,
    broke:
      'a call of a client that was given up ran twice: those that knew of it had left before the head',
  },
];
