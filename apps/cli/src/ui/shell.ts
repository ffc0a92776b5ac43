/** A word of a command line as a shell wants it. */
export const quoted = (word: string): string =>
  /^[\w./@=:^-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
