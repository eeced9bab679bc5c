import * as z from 'zod';

/** A pattern of a text. zod and the API server both check it, so JavaScript and RE2 must read it alike. */
export interface TextPattern {
  readonly pattern: string;
  /** Message of a text that does not match, `must be …`. */
  readonly message: string;
  /** Most characters of the text. They bound the cost of the rule that the API server evaluates. */
  readonly longest: number;
}

/** Returns the schema of a required field with such a text. */
export function patternSchema(description: string, { pattern, message, longest }: TextPattern) {
  return z
    .string()
    .max(longest, message)
    .refine((text) => new RegExp(pattern).test(text), message)
    .meta({ description, 'x-kubernetes-validations': [{ rule: `self.matches('${pattern}')`, message }] });
}
