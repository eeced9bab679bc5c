import * as z from 'zod';

/** A text that matches a pattern which JavaScript and RE2 read alike, as zod checks it and as the API server does. */
export interface TextPattern {
  readonly pattern: string;
  /** What is allowed: `must be …`. */
  readonly message: string;
  /** Characters. It bounds the cost of the rule that the API server evaluates. */
  readonly longest: number;
}

/** Schema of a required field with such a text. */
export function patternSchema(description: string, { pattern, message, longest }: TextPattern) {
  return z
    .string()
    .max(longest, message)
    .refine((text) => new RegExp(pattern).test(text), message)
    .meta({ description, 'x-kubernetes-validations': [{ rule: `self.matches('${pattern}')`, message }] });
}
