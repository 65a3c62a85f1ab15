// Nominal types: a value of one brand is never mistaken for another of the same shape.

declare const brand: unique symbol;

/** `T` that only its own parser or maker can produce. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
