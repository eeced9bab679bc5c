import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** The file of the errors that happened outside of tests, next to a report of vitest. */
export const errorsOutsideOf = (report: string): string => report.replace(/\.json$/, '.errors.json');

/** An error outside of a test, such as an unhandled rejection or a worker that ended. */
export interface ErrorOutside {
  /** Absolute path of the test file that ran at the time, if one did. */
  readonly file?: string;
  /** Title of the test that ran at the time, which need not have caused the error. */
  readonly test?: string;
  /** The message, or the stack, which begins with the message. */
  readonly error: string;
}

/** A reporter for vitest, whose JSON report has tests alone: writes the errors outside of tests to the file in ERRORS_OUTSIDE. */
export default class ErrorsOutside implements Reporter {
  onTestRunEnd(_modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const path = process.env.ERRORS_OUTSIDE;
    if (path === undefined || errors.length === 0) return;
    writeFileSync(path, JSON.stringify(errors.map(describe)));
  }
}

function describe(error: SerializedError): ErrorOutside {
  const { VITEST_TEST_PATH: file, VITEST_TEST_NAME: test, stack = '', message } = error;
  // A stack of another realm may lack the message.
  const text = stack.includes(message) ? stack : `${message}\n${stack}`;
  return { error: text, ...(typeof file === 'string' && { file }), ...(typeof test === 'string' && { test }) };
}
