/**
 * Something that whoever started this program has to put right: a flag, an environment variable, a file that one of
 * them names. The message is one line that names it, its value and what is allowed; the program prints it and exits
 * with code 2.
 */
export class UsageError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replaceAll(/\s*\n\s*/g, ' '), options);
    this.name = 'UsageError';
  }
}
