/**
 * A mistake of the user's, told in one message: what was wrong, where, what is allowed, what to do.
 * Programs print `message` alone; any other error is a defect of ours and deserves its stack.
 */
export class PosencError extends Error {
  override readonly name = 'PosencError';
}
