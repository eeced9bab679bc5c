/**
 * A wrong flag or environment variable, or a wrong file that one of them names. The message is one line with the name,
 * the value and the allowed values. The program prints it and exits with code 2.
 */
export class UsageError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replaceAll(/\s*\n\s*/g, ' '), options);
    this.name = 'UsageError';
  }
}
