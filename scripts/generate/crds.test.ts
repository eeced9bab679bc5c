import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { crds } from './crds.ts';

describe('the generated CRDs', () => {
  it.each(crds())('$path is current (run make generate)', ({ path, content }) => {
    expect(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8') === content).toBe(true);
  });
});
