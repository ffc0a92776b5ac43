/** One picture of an encoding: the file it goes to, and how to read it. */
import type { Inspection } from '../inspection.ts';
import { awakenedStd } from '../measure.ts';

export interface Figure {
  /** File name without extension, unique in its set. */
  readonly name: string;
  readonly title: string;
  /** How to read it, in a few sentences. */
  readonly caption: string;
  /** Drawn when it is asked for. */
  readonly draw: () => string;
}

/** Every picture is of one part or one group of layers; drawn when what it shows is there. */
export type Drawer = (inspection: Inspection) => Figure[];

type Maybe = string | false | undefined;

/** A caption, of those sentences that apply. */
export const sentences = (...parts: readonly Maybe[]): string => parts.filter(Boolean).join(' ');

/** The line below a title, of those facts that apply. */
export const facts = (...parts: readonly Maybe[]): string => parts.filter(Boolean).join(' · ');

/** Said of everything drawn from parameters: in the line below the title, and in the caption. */
export interface Start {
  readonly fact: Maybe;
  readonly sentence: Maybe;
}

export const atInitialisation = ({ measured: { parameters } }: Inspection): Start => ({
  fact:
    parameters !== 'none' && (parameters === 'initial' ? 'at initialisation (seed 0)' : 'random parameters (seed 0)'),
  sentence:
    parameters !== 'none' &&
    (parameters === 'initial'
      ? 'This is how it starts, drawn with seed 0; training changes it.'
      : `It starts at zero and so does nothing yet: here those parameters are drawn from N(0, ${awakenedStd}²), seed 0, to show what they can do.`),
});

/** For grids of as many rows as columns: their cells come out square. */
export const square = { plotHeight: 580 } as const;

export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
