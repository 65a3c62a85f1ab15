// A word that may follow, with a few words about it for shells that show them.

export type Offer = readonly [word: string, text: string];
