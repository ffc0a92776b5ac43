/** Rotation by several positions per token: another thing under a similar name, which is refused with the reason. */

/** The sentence about a type or a key that means it. */
export const aboutMultiAxis = (name: string): string =>
  `"${name}" gives every token several positions (time, height, width), and an encoding here sees one: multi-axis rotation is not built`;

const types = ['mrope', 'm-rope', 'xdrope', '2d-rope', 'rope-2d'] as const;

/** Types of encodings and scalings that mean it, in lower case, each with that sentence. */
export const multiAxisTypes: Readonly<Record<string, string>> = Object.fromEntries(
  types.map((type) => [type, aboutMultiAxis(type)]),
);

export const isMultiAxis = (type: unknown): type is string => types.some((known) => known === type);

/** Keys of Hugging Face that mean it. */
export const multiAxisKeys = ['mrope_section', 'xdrope_section', 'mrope_interleaved'] as const;
