// Short names of cards, the same whoever writes them: `rtx4090`, `a100-80g`, `mi210`.

/** Words that makers put into names, and that tell no card from another. */
const NOISE = new Set([
  ...['nvidia', 'amd', 'ati', 'intel', 'geforce', 'tesla', 'quadro', 'radeon', 'instinct'],
  ...['data', 'center', 'gpu', 'graphics', 'generation', 'series', 'oam', 'pcie', 'mcm', 'ac'],
  ...['mba', 'arc', 'corporation', 'device', 'accelerator'],
]);
const FORM = /^(sxm\d?|hbm\d\w?|s?xm\d)$/;

/** `NVIDIA A100-SXM4-80GB` is an `a100-80g`. */
export function typeNameOf(name: string): string {
  const inner = /\[([^\]]+)\]\s*$/.exec(name)?.[1] ?? name;
  const isArc = /\barc\b/i.test(inner);
  const words = inner
    .toLowerCase()
    .replaceAll(/\((r|tm|c)\)/g, ' ')
    .split(/[^a-z0-9.]+/)
    .filter((word) => word !== '');
  const memory = words.find((word) => /^\d+gb$/.test(word));
  const kept = words.filter(
    (word) => word !== memory && !NOISE.has(word) && !FORM.test(word) && !(isArc && word === 'pro'),
  );
  // Of `RTX A6000` the letter says what `RTX` says.
  const isNamedTwice = kept[0] === 'rtx' && /^a\d{4}$/.test(kept[1] ?? '');
  const base = (isNamedTwice ? kept.slice(1) : kept).join('') || 'gpu';
  return memory === undefined ? base : `${base}-${memory.slice(0, -1)}`;
}

/** Type of a slice of a card: `a100-1g.10g`. */
export function sliceTypeOf(cardType: string, profile: string): string {
  return `${cardType.replace(/-\d+g$/, '')}-${profile.toLowerCase().replace(/gb$/, 'g')}`;
}

/** Memory of a slice by its profile, `1g.10gb`; null: the profile does not say. */
export function sliceMemoryOf(profile: string): number | null {
  const gibibytes = /\.(\d+)gb/i.exec(profile)?.[1];
  return gibibytes === undefined ? null : Number(gibibytes) * 2 ** 30;
}
