// What ran where and when, as SVG text: a panel for each run, a row for each node, a bar for each
// job.

export interface Bar {
  readonly label: string;
  readonly nodes: readonly string[];
  /** Seconds from the begin of the panel. */
  readonly fromS: number;
  readonly untilS: number;
  /** Drawn stronger: what the picture is about. */
  readonly isMain: boolean;
}

export interface GanttPanel {
  readonly title: string;
  readonly nodes: readonly string[];
  readonly bars: readonly Bar[];
}

const WIDTH = 900;
const LEFT = 48;
const RIGHT = 16;
const ROW = 26;
const TITLE = 30;
const AXIS = 30;
const TICK_S = 5;

/** The whole picture, ending with a newline. All panels have the same scale. */
export function ganttSvg(panels: readonly GanttPanel[], label: string): string {
  const lastS = Math.max(...panels.flatMap(({ bars }) => bars.map((bar) => bar.untilS)));
  const scale = (WIDTH - LEFT - RIGHT) / lastS;
  const heights = panels.map(({ nodes }) => TITLE + nodes.length * ROW + AXIS);
  const height = heights.reduce((sum, one) => sum + one, 0);
  const tops = heights.map((_, at) => heights.slice(0, at).reduce((sum, one) => sum + one, 0));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${label}">`,
    '<style>text { font: 12px system-ui, sans-serif; fill: #57606a; } .title { font-size: 14px; fill: #24292f; } .bar { fill: #24292f; }</style>',
    `<rect width="${WIDTH}" height="${height}" rx="8" fill="#ffffff"/>`,
    ...panels.flatMap((panel, at) => drawPanel(panel, tops[at] as number, scale, lastS)),
    '</svg>',
    '',
  ].join('\n');
}

function drawPanel(panel: GanttPanel, top: number, scale: number, lastS: number): string[] {
  const { title, nodes, bars } = panel;
  const bottom = top + TITLE + nodes.length * ROW;
  const x = (seconds: number): number => Math.round((LEFT + seconds * scale) * 10) / 10;
  const ticks = Array.from({ length: Math.floor(lastS / TICK_S) + 1 }, (_, at) => at * TICK_S);
  return [
    `<text class="title" x="${LEFT}" y="${top + 20}">${title}</text>`,
    ...ticks.flatMap((seconds) => [
      `<path d="M${x(seconds)} ${top + TITLE}V${bottom}" stroke="#d0d7de"/>`,
      `<text x="${x(seconds)}" y="${bottom + 16}" text-anchor="middle">${seconds} s</text>`,
    ]),
    ...nodes.flatMap((node, row) => {
      const y = top + TITLE + row * ROW;
      const mine = bars.filter((bar) => bar.nodes.includes(node));
      return [
        `<text x="${LEFT - 8}" y="${y + 17}" text-anchor="end">${node}</text>`,
        ...mine.flatMap(({ label, fromS, untilS, isMain }) => [
          `<rect x="${x(fromS)}" y="${y + 2}" width="${Math.max(1, x(untilS) - x(fromS) - 1)}" height="${ROW - 4}" rx="3" fill="${isMain ? '#2da44e' : '#bf8700'}" fill-opacity="${isMain ? 0.85 : 0.45}"/>`,
          `<text class="bar" x="${x(fromS) + 5}" y="${y + 17}">${label}</text>`,
        ]),
      ];
    }),
  ];
}
