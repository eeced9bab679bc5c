/** A test of one of the projects in vitest.config.ts. */
export interface GuardTest {
  readonly project: 'unit' | 'tools' | 'integration' | 'faults' | 'chart' | 'image' | 'e2e';
  /** From the root of the checkout. */
  readonly path: string;
  /** Part of the name as vitest prints it, `suite > test`. Undefined: any test of the file. */
  readonly name?: string;
  /** The test builds on those before it in its file, so all of them run. */
  readonly wholeFile?: true;
}

/** A guard, one plausible mistake in it, and the test that fails because of the mistake. */
export interface Break {
  /** A fact that users can rely on, as one sentence. Unique. */
  readonly promise: string;
  /** The file with the guard, from the root of the checkout. */
  readonly file: string;
  /** The text of the guard. It occurs exactly once in the file. */
  readonly find: string;
  /** The text with the mistake. */
  readonly replace: string;
  readonly test: GuardTest;
  /** The test takes more than a minute, or needs root. */
  readonly slow?: true;
  /** Why the mistake breaks the promise, if the text does not show it. */
  readonly why?: string;
}

/** Which breaks to run. */
export interface Selection {
  /** Part of the promise, the file or the path of the test. */
  readonly only?: string | undefined;
  /** Paths from the root: only breaks whose file or test is one of them. */
  readonly changed?: readonly string[] | undefined;
  /** Leaves out slow breaks. */
  readonly quick?: boolean | undefined;
}

/** The breaks of a selection, in their order. @throws Error if no break at all has the text */
export function select(breaks: readonly Break[], { only = '', changed, quick }: Selection): Break[] {
  const named = breaks.filter(({ promise, file, test }) =>
    [promise, file, test.path].some((text) => text.includes(only)),
  );
  if (named.length === 0) {
    throw new Error(`no break has "${only}" in its promise, file or test (upper and lower case differ)`);
  }
  return named.filter(
    ({ file, test, slow }) =>
      (changed === undefined || changed.includes(file) || changed.includes(test.path)) &&
      !(quick === true && slow === true),
  );
}

/** A file with the mistake in it. Undefined if the guard does not occur exactly once. */
export function broken(text: string, { find, replace }: Pick<Break, 'find' | 'replace'>): string | undefined {
  const [before, after, ...more] = text.split(find);
  return before === undefined || after === undefined || more.length > 0 ? undefined : before + replace + after;
}
