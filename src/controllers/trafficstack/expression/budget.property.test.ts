import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { sampleRuns } from '../../../runtime/testing/sampleSize.ts';
import { budgetOfFiles, MOST_STEPS } from './budget.ts';
import { evaluate } from './expression.ts';

const DEADLINE_MS = 300_000;
/** CPU of one expression: other work on the machine does not count. Without the budget, most of the larger ones take minutes. */
const MOST_CPU_MS = 3_000;
const LONGEST_RESULT = MOST_STEPS * 20;

const items = Array.from({ length: 3_000 }, (_, n) => ({ n, text: `text ${n}`, list: [n, n], map: { a: n } }));
const VARIABLES = {
  workload: { items, text: 'a'.repeat(20_000), map: Object.fromEntries(items.map((each, n) => [n, each])) },
};

const atoms = [
  '1',
  '"ab"',
  '[1, 2]',
  '{"a": 1}',
  'x',
  'y',
  'workload',
  'workload.items',
  'workload.text',
  'workload.map',
];
/** Forms of expressions over parts: `A`, `B` and `C`. */
const forms = [
  ...[
    'A + B',
    'A == B',
    'A in B',
    'A < B',
    'A || B',
    'A && B',
    'A ? B : C',
    '-A',
    '!A',
    '[A, B]',
    '{A: B}',
    'A[B]',
    'A[?B]',
  ],
  ...[
    'cel.bind(x, A + A, B)',
    'cel.bind(x, [A, A], B)',
    'cel.bind(y, A, B)',
    'A.map(x, B)',
    'A.map(y, B, C)',
    'A.filter(x, B)',
  ],
  ...[
    'A.all(x, B)',
    'A.exists(y, B)',
    'A.exists_one(x, B)',
    'A.join(B)',
    'A.map(x, string(x)).join(B)',
    'A.split(B)',
    'A.text',
  ],
  ...[
    'A.size()',
    'A.lowerAscii()',
    'A.lastIndexOf(B)',
    'A.contains(B)',
    'string(A)',
    'bytes(A)',
    'bytes(A).json()',
    'dyn(A)',
  ],
  ...[
    'duration(A)',
    'bytes(A).hex()',
    'A.?text.orValue(B)',
    'optional.of(A).or(optional.of(B))',
    'has(x.text)',
    'type(A) == B',
  ],
];

const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'medium', maxDepth: 14, withCrossShrink: true },
    fc.constantFrom(...atoms),
    fc
      .tuple(fc.constantFrom(...forms), tie('expression'), tie('expression'), tie('expression'))
      .map(([form, a, b, c]) => form.replaceAll(/\b[ABC]\b/g, (part) => `(${{ A: a, B: b, C: c }[part] ?? ''})`)),
  ),
}));

it(
  'ends every expression within its budget',
  () => {
    fc.assert(
      fc.property(expression, (inner) => {
        const shared = budgetOfFiles(MOST_STEPS);
        const start = process.threadCpuUsage();
        const result = evaluate(`cel.bind(x, workload.items, cel.bind(y, x + x, ${inner}))`, VARIABLES, shared);
        const { user, system } = process.threadCpuUsage(start);
        expect((user + system) / 1000).toBeLessThan(MOST_CPU_MS);
        if ('problem' in result) expect(result.problem.length).toBeLessThan(1_000);
        else expect(shared.left).toBeGreaterThanOrEqual(0);
        if ('value' in result && typeof result.value === 'string')
          expect(result.value.length).toBeLessThan(LONGEST_RESULT);
      }),
      sampleRuns({ numRuns: 300, seed: 1 }, { numRuns: 10_000, timeoutMs: DEADLINE_MS }),
    );
  },
  DEADLINE_MS,
);
