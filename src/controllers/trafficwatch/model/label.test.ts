import { describe, expect, it } from 'vitest';
import { labelValueOf, sideOfLabel } from './label.ts';

describe('labelValueOf', () => {
  it('is true for a node above the threshold, and sideOfLabel reverses it', () => {
    expect([labelValueOf('above'), labelValueOf('notAbove')]).toEqual(['true', 'false']);
    expect(sideOfLabel(labelValueOf('above'))).toBe('above');
    expect(sideOfLabel(labelValueOf('notAbove'))).toBe('notAbove');
  });
});

describe('sideOfLabel', () => {
  it('treats any other value as no label', () => {
    const read = ['true', 'false', 'yes', 'True', '', undefined].map(sideOfLabel);
    expect(read).toEqual(['above', 'notAbove', undefined, undefined, undefined, undefined]);
  });
});
