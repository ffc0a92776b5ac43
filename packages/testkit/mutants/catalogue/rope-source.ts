/** Places in RoPE's source that several planted bugs edit. */
export const encoding = 'rope';
export const file = 'rope.ts';
export const rotate = 'rotate: (u) => applyRotary(u, tensors, config.pairing)';
