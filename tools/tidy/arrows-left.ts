// Files that still name a wing which they should not know, each with the wing: what is left of the
// cut. Nothing is added here; a line goes when its import does.

export const ARROWS_LEFT: ReadonlySet<string> = new Set([]);
