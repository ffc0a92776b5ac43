/** What line charts and step charts are drawn from: plain data, no library's types. */

export type ScaleKind = 'linear' | 'log2' | 'log10';

/** A tick of one's own, for example `{ value: 512, label: '4×' }`; a line break in the label starts a second line. */
export type Tick = number | { readonly value: number; readonly label: string };

/** A horizontal axis of numbers. */
export interface Axis {
  readonly label: string;
  /** Default 'linear'. */
  readonly scale?: ScaleKind;
  /** Default: round numbers. Labels that would run into each other are left out. */
  readonly ticks?: readonly Tick[];
}

/** The vertical axis: what was measured. */
export interface ValueAxis extends Axis {
  /**
   * Values shown; an end left undefined follows the data. Lines are cut at the frame, and the label of one that ends outside
   * says where: one encoding that explodes then does not flatten all others.
   */
  readonly domain?: readonly [low: number | undefined, high: number | undefined];
}

/** One measurement of a series. */
export interface Point {
  readonly x: number;
  /** undefined, null or a value that is not finite (a diverged loss) interrupts the line. */
  readonly y: number | null | undefined;
  /** Spread around y, both or neither: error bars on short series, a band on long ones. */
  readonly low?: number | null;
  readonly high?: number | null;
}

/** Points that belong together, under one name in the legend. */
export interface Series {
  readonly name: string;
  /** In the order in which the line runs. */
  readonly points: readonly Point[];
  /** A variant of another series, for example an override at evaluation. */
  readonly dashed?: boolean;
  /** Name of the series that this is a variant of: it is drawn dashed in that one's colour, if the options' `names` hold it. */
  readonly variantOf?: string;
  /** Context, not the subject: thin and grey. */
  readonly muted?: boolean;
}

/** A horizontal line, labelled. */
export interface Reference {
  readonly y: number;
  readonly label: string;
}

/** A vertical line, labelled. */
export interface VerticalReference {
  readonly x: number;
  readonly label: string;
}

/** Lines or steps over two axes, with lines of reference. */
export interface CartesianData {
  readonly title: string;
  readonly subtitle?: string;
  readonly x: Axis;
  readonly y: ValueAxis;
  readonly series: readonly Series[];
  /** Horizontal lines such as the unigram and bigram entropy. */
  readonly references?: readonly Reference[];
  /** Vertical lines such as the training length. Those outside the data's x values are left out. */
  readonly verticals?: readonly VerticalReference[];
}
