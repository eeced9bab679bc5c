import { describe, expect, it } from 'vitest';
import { labelSelectorSchema } from './labelSelector.ts';

describe('labelSelectorSchema', () => {
  const LONG = {
    matchLabels: { 'no key': 'no value!' },
    matchExpressions: Array.from({ length: 60 }, (_, n) => ({ key: `k${n}`, operator: 'In', values: ['a'] })),
  };

  it('passes the selector of any workload if unchecked, and has no rules or limits for the API server', () => {
    const schema = labelSelectorSchema('pods', 'Unchecked');
    expect(schema.parse(LONG)).toEqual(LONG);
    const published = JSON.stringify(schema.toJSONSchema());
    expect(published).not.toMatch(/x-kubernetes-validations|maxItems|maxProperties|maxLength/);
  });

  it('rejects another shape also if unchecked', () => {
    const schema = labelSelectorSchema('pods', 'Unchecked');
    expect(schema.safeParse({ matchExpressions: [{ key: 'a', operator: 'Gt' }] }).success).toBe(false);
    expect(schema.safeParse({ matchLabels: { a: 1 } }).success).toBe(false);
  });

  it('rejects the same selector if checked', () => {
    expect(labelSelectorSchema('pods', 'Checked').safeParse(LONG).success).toBe(false);
  });
});
